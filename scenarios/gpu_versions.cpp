#include "scenarios/gpu_versions.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>

#include <array>
#include <fstream>

#include "repro/version_number.h"

namespace dsafuzz {
namespace {

// Two numbers of a version that is written as one.
std::string two_parts(long version, long major, long minor) {
  return std::to_string(version / major) + "." + std::to_string(version % major / minor);
}

// The driver's own interface, which the runtime has loaded: its C functions are the same in all versions.
std::string name_of_gpu(int device) {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return {};
  const auto get = reinterpret_cast<int (*)(int*, int)>(dlsym(library, "cuDeviceGet"));
  const auto name_of = reinterpret_cast<int (*)(char*, int, int)>(dlsym(library, "cuDeviceGetName"));
  std::array<char, 256> name{};
  int handle = 0;
  const bool known = get && name_of && get(&handle, device) == 0 && name_of(name.data(), name.size() - 1, handle) == 0;
  dlclose(library);
  return known ? name.data() : "";
}

}  // namespace

std::map<std::string, std::string> gpu_versions(int device) {
  std::map<std::string, std::string> out;
  const auto set = [&](const char* name, std::string value) {
    if (!value.empty()) out[name] = std::move(value);
  };
  set("gpu", name_of_gpu(device));
  std::string line;
  std::getline(std::ifstream("/proc/driver/nvidia/version"), line);
  set("driver", std::string(dotted_word(line)));
  try {
    set("cuda_runtime", two_parts(at::detail::getCUDAHooks().versionCUDART(), 1000, 10));
    const long cudnn = at::detail::getCUDAHooks().versionRuntimeCuDNN();  // 91900
    set("cudnn", two_parts(cudnn, 10'000, 100) + "." + std::to_string(cudnn % 100));
  } catch (...) {  // built without it
  }
  return out;
}

}  // namespace dsafuzz
