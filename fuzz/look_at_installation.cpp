#include "fuzz/look_at_installation.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "fuzz/child_process.h"
#include "fuzz/look_at_system.h"
#include "repro/device_code.h"
#include "repro/read_file.h"
#include "repro/scan.h"
#include "repro/tsv_table.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

// nvidia-smi can take many seconds while a driver loads.
constexpr std::chrono::seconds kToolLimit{30};
constexpr std::size_t kOutputLimit = std::size_t{1} << 20;
constexpr std::size_t kLibraryLimit = std::size_t{2} << 30;

// Asks for no more than paths and versions; PyTorch is not imported.
constexpr const char* kAskPython =
    "import platform, sys, sysconfig\n"
    "print('python', platform.python_version())\n"
    "print('glibc', platform.libc_ver()[1])\n"
    "print('machine', platform.machine())\n"
    "import importlib.util\n"
    "found = importlib.util.find_spec('torch')\n"
    "import os\n"
    "print('packages', os.path.dirname(os.path.dirname(found.origin)) if found and found.origin "
    "else sysconfig.get_path('purelib'))\n";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_cuda_library(std::string_view name) {
  constexpr std::array<std::string_view, 9> kWords{"libcuda.so.1", "libnvidia-ml.so.1", "libcudart.so",
                                                   "libcudnn",     "libnccl.so",        "libnvJitLink.so",
                                                   "libnvrtc.so",  "libcublas",         "libcusparse.so"};
  return contains(name, ".so") && std::ranges::any_of(kWords, [&](std::string_view w) { return name.starts_with(w); });
}

std::string library_line(const std::string& origin, const fs::path& path) {
  std::error_code error;
  std::string line = origin + " " + path.string();
  if (fs::is_symlink(path, error)) line += " -> " + fs::canonical(path, error).string();
  return line + "\n";
}

std::string libraries_in(const std::string& origin, const fs::path& folder) {
  std::string text;
  for (const fs::path& path : sorted_entries(folder)) {
    if (is_cuda_library(path.filename().string())) text += library_line(origin, path);
  }
  return text;
}

// "	libcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1"
std::string known_to_ldconfig() {
  ChildResult result = run_child({"/sbin/ldconfig", "-p"}, {}, kToolLimit, kOutputLimit);
  std::string text;
  for (const std::string& line : split(result.output, '\n')) {
    std::string_view rest = trimmed(line);
    const auto name = take_until(rest, " (");
    if (!contains(rest.substr(0, rest.find(')')), "64")) continue;  // of a 32-bit system
    if (name && is_cuda_library(*name) && take_until(rest, " => "))
      text += library_line("ldconfig", std::string(trimmed(rest)));
  }
  return text;
}

std::string wheel_names(const std::string& packages) {
  constexpr std::string_view kEnd = ".dist-info";
  std::string text;
  for (const fs::path& path : sorted_entries(packages)) {
    const std::string name = path.filename().string();
    const bool wanted = name.starts_with("nvidia_") || name.starts_with("torch-") || name.starts_with("triton-");
    if (wanted && name.ends_with(kEnd)) text += name.substr(0, name.size() - kEnd.size()) + "\n";
  }
  // PREFIX/lib/python3.12/site-packages of an environment of conda's, which keeps PREFIX/conda-meta/NAME-VERSION-BUILD.
  for (const fs::path& path :
       sorted_entries(fs::path(packages).parent_path().parent_path().parent_path() / "conda-meta")) {
    const std::string name = path.filename().string();
    if (name.starts_with("pytorch-") && name.ends_with(".json")) text += "conda " + path.stem().string() + "\n";
  }
  return text;
}

std::string host_compiler() {
  for (const char* name : {"NVCC_CCBIN", "CUDAHOSTCXX"}) {
    const std::string compiler = variable(name);
    if (!compiler.empty() && !fs::is_directory(compiler)) return compiler;
  }
  return "g++";
}

// As repro/read_system.h reads them.
std::string words_for(DeviceAsserts asserts) {
  switch (asserts) {
    case DeviceAsserts::no_device_code: return "no device code";
    case DeviceAsserts::present: return "asserts";
    case DeviceAsserts::missing: return "no asserts";
    case DeviceAsserts::compressed: return "compressed";
  }
  return {};
}

}  // namespace

void record_output(const std::string& name, const std::vector<std::string>& argv, MachineRecord& record) {
  ChildResult result = run_child(argv, {"LC_ALL=C"}, kToolLimit, kOutputLimit);
  if (!result.started) return;
  if (result.timed_out) result.output += "\n" + argv[0] + " did not end within its time\n";
  record[name] = std::move(result.output);
}

void look_at_python(const std::string& python, MachineRecord& record) {
  record_output("python.txt", {python, "-c", kAskPython}, record);
  const std::string packages = packages_of(record);
  if (packages.empty()) return;
  if (std::string text = head_of(packages + "/torch/version.py"); !text.empty())
    record["torch-version.txt"] = std::move(text);
  record["wheels.txt"] = wheel_names(packages);
  for (const fs::path& path : sorted_entries(packages)) {
    const std::string name = path.filename().string();
    if (!name.starts_with("torch-") || !name.ends_with(".dist-info")) continue;
    record["torch-metadata.txt"] = lines_with(
        head_of(path / "METADATA"),
        {"Version: ", "Requires-Python: ", "Requires-Dist: nvidia-", "Requires-Dist: triton", "Requires-Dist: cuda-"});
  }
  const std::string ptxas = packages + "/triton/backends/nvidia/bin/ptxas";
  if (access(ptxas.c_str(), X_OK) == 0) record_output("ptxas.txt", {ptxas, "--version"}, record);
}

void look_at_toolkit(MachineRecord& record) {
  const std::string home = variable("CUDA_HOME").empty() ? variable("CUDA_PATH") : variable("CUDA_HOME");
  const std::string inside = home + "/bin/nvcc";
  const bool at_home = !home.empty() && access(inside.c_str(), X_OK) == 0;
  record_output("nvcc.txt", {at_home ? inside : "nvcc", "--version"}, record);
  record_output("compiler.txt", {host_compiler(), "--version"}, record);
  const bool compiler =
      run_child({"cc", "--version"}, {}, kToolLimit).started || run_child({"gcc", "--version"}, {}, kToolLimit).started;
  record["limits.txt"] += std::string("compiler.cc ") + (compiler ? "yes" : "no") + "\n";
  for (const std::string& folder :
       {home.empty() ? std::string("/usr/local/cuda") : home, std::string("/usr"), std::string("/usr/local")}) {
    const std::string text = lines_with(head_of(folder + "/include/cudnn_version.h"),
                                        {"#define CUDNN_MAJOR", "#define CUDNN_MINOR", "#define CUDNN_PATCHLEVEL"});
    if (text.empty()) continue;
    record["cudnn-header.txt"] = text;
    return;
  }
}

void look_at_libraries(const std::string& packages, MachineRecord& record) {
  std::string text;
  for (const std::string& path : split(variable("LD_PRELOAD"), ':')) {
    if (is_cuda_library(fs::path(path).filename().string())) text += library_line("LD_PRELOAD", path);
  }
  for (const std::string& folder : split(variable("LD_LIBRARY_PATH"), ':')) {
    if (!folder.empty()) text += libraries_in("LD_LIBRARY_PATH", folder);
  }
  text += known_to_ldconfig();
  if (!packages.empty()) {
    text += libraries_in("torch", packages + "/torch/lib");
    for (const fs::path& part : sorted_entries(packages + "/nvidia")) text += libraries_in("wheel", part / "lib");
  }
  record["libraries.txt"] = std::move(text);
}

Result<void> look_at_device_code(const std::vector<std::string>& libraries, MachineRecord& record) {
  std::string text;
  for (const std::string& path : libraries) {
    const std::string bytes = DSAFUZZ_TRY(read_file(path, kLibraryLimit));
    text += fs::path(path).filename().string() + " " + words_for(device_asserts_in(bytes)) + "\n";
  }
  if (!text.empty()) record["device-code.txt"] = std::move(text);
  return {};
}

std::string packages_of(const MachineRecord& record) {
  const auto at = record.find("python.txt");
  if (at == record.end()) return {};
  for (const std::string& line : split(at->second, '\n')) {
    std::string_view rest = line;
    if (take(rest, "packages ")) return std::string(trimmed(rest));
  }
  return {};
}

}  // namespace dsafuzz
