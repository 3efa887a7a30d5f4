#include "repro/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace dsafuzz {

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return input_problem(std::string("cannot be read: ") + std::strerror(errno), path);
  struct stat info {};
  std::string out;
  Result<void> ok;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ok = input_problem("is not a file", path);
  } else {
    char buffer[1 << 16];
    for (ssize_t n; ok && (n = ::read(fd, buffer, sizeof buffer)) != 0;) {
      if (n < 0) {
        ok = input_problem(std::string("cannot be read: ") + std::strerror(errno), path);
      } else {
        out.append(buffer, static_cast<std::size_t>(n));
        if (out.size() > limit) ok = input_problem("is larger than " + std::to_string(limit) + " bytes", path);
      }
    }
  }
  close(fd);
  if (!ok) return std::unexpected(ok.error());
  return out;
}

}  // namespace dsafuzz
