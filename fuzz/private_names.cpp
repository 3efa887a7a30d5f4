#include "fuzz/private_names.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

namespace dsafuzz {

PrivateNames private_names(const std::vector<std::string>& folders) {
  PrivateNames names;
  names.folders = folders;
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) names.host = host.data();
  if (const passwd* user = getpwuid(getuid())) {
    names.user = user->pw_name;
    names.home = user->pw_dir;
  }
  std::error_code error;
  if (const auto here = std::filesystem::current_path(error); !error) names.folders.push_back(here.string());
  // Where dsafuzz lies, its Python, and what else the user has told us of.
  for (const char* variable : {"HOME", "DSAFUZZ_ROOT", "VIRTUAL_ENV"}) {
    if (const char* folder = std::getenv(variable)) names.folders.emplace_back(folder);
  }
  return names;
}

}  // namespace dsafuzz
