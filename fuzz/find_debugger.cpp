#include "fuzz/find_debugger.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::vector<fs::path> folders_of_path() {
  std::vector<fs::path> out;
  const std::string path = variable("PATH");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    if (end > begin) out.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    out.push_back(at->path());
  }
  std::ranges::sort(out);
  return out;
}

// ENVIRONMENT/lib/python3.N/site-packages/nvidia/{cu13,cuda_sanitizer_api}/{bin,compute-sanitizer}
void add_wheels(const std::string& python, std::vector<fs::path>& out) {
  const fs::path environment = fs::path(python).parent_path().parent_path();
  if (environment.empty()) return;
  for (const fs::path& version : entries(environment / "lib")) {
    for (const fs::path& package : entries(version / "site-packages" / "nvidia")) {
      out.push_back(package / "bin");
      out.push_back(package / "compute-sanitizer");
    }
  }
}

std::string remedy_of(const std::string& name, const std::string& python) {
  if (name == "compute-sanitizer") {
    return "install it: " + python + " -m pip install nvidia-cuda-sanitizer-api; or use --device vcuda";
  }
  if (name == "gdb") return "install it: apt-get install gdb";
  return "it comes with the CUDA toolkit: apt-get install cuda-gdb-13-0 from NVIDIA's repository; or use --device "
         "vcuda";
}

}  // namespace

Result<std::string> find_debugger(const std::string& name, const std::string& python) {
  std::vector<fs::path> folders = folders_of_path();
  std::vector<fs::path> toolkits{"/usr/local/cuda", "/opt/cuda"};
  for (const char* each : {"CUDA_PATH", "CUDA_HOME"}) {
    if (!variable(each).empty()) toolkits.insert(toolkits.begin(), variable(each));
  }
  for (const fs::path& toolkit : toolkits) {
    folders.push_back(toolkit / "bin");
    folders.push_back(toolkit / "compute-sanitizer");
  }
  add_wheels(python, folders);
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    const fs::path file = folder / name;
    if (fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0) return file.string();
  }
  return environment_problem(name + " is not installed", "debug", remedy_of(name, python));
}

}  // namespace dsafuzz
