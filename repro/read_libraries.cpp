#include "repro/read_libraries.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "repro/log_text.h"
#include "repro/scan.h"
#include "repro/tsv_table.h"
#include "repro/version_number.h"

namespace dsafuzz {
namespace {

struct Library {
  std::string origin, folder, name;
  std::string version;  // in the name of the file itself: "9.1.0" of libcudnn.so.9.1.0
  std::string path, target;

  bool is_ahead_of_wheels() const { return origin == "LD_PRELOAD" || origin == "LD_LIBRARY_PATH"; }
  bool is_outside_wheels() const { return is_ahead_of_wheels() || origin == "ldconfig"; }
};

std::string version_in(std::string_view file) {
  return take_until(file, ".so.") ? version_prefix(file) : std::string();
}

std::optional<Library> library_in(std::string_view line) {
  Library library;
  const auto origin = take_until(line, " ");
  if (!origin) return std::nullopt;
  library.origin = *origin;
  const std::size_t arrow = line.find(" -> ");
  library.path = trimmed(line.substr(0, arrow));
  if (arrow != std::string_view::npos) library.target = trimmed(line.substr(arrow + 4));
  const std::size_t slash = library.path.rfind('/');
  if (slash == std::string::npos) return std::nullopt;
  library.folder = library.path.substr(0, slash);
  library.name = library.path.substr(slash + 1);
  const std::string& file = library.target.empty() ? library.name : library.target;
  library.version = version_in(std::string_view(file).substr(file.rfind('/') + 1));
  return library;
}

using Libraries = std::vector<Library>;

template <class Wanted>
const Library* first(const Libraries& libraries, const Wanted& wanted) {
  const auto at = std::ranges::find_if(libraries, wanted);
  return at == libraries.end() ? nullptr : &*at;
}

bool is_driver_version(std::string_view version) {
  return version_parts(version) > 1 && compare_versions(version, "100") > 0;
}

// The driver's own library, as the loader finds it.
void add_driver(const Libraries& libraries, MachineFacts& facts) {
  const auto* cuda =
      first(libraries, [](const Library& l) { return l.is_outside_wheels() && l.name == "libcuda.so.1"; });
  if (cuda) {
    facts.set("driver.libcuda", cuda->target.starts_with('/') ? cuda->target : cuda->path);
    // "1" is the name's own number, and so is Jetson's "1.1"; a driver's version is not.
    if (is_driver_version(cuda->version)) facts.set("driver.libcuda_version", cuda->version);
    if (cuda->target.empty()) facts.set("driver.libcuda_plain", "yes");
  }
  const auto* nvml =
      first(libraries, [](const Library& l) { return l.is_outside_wheels() && l.name == "libnvidia-ml.so.1"; });
  if (nvml && is_driver_version(nvml->version)) facts.set("driver.nvml", nvml->version);
}

void add_cudnn(const Libraries& libraries, MachineFacts& facts) {
  const auto is_dispatcher = [](const Library& l) { return l.name.starts_with("libcudnn.so"); };
  const auto* path = first(libraries, [&](const Library& l) { return l.is_ahead_of_wheels() && is_dispatcher(l); });
  if (path) {
    if (version_parts(path->version) > 1) facts.set("cudnn.path", path->version);
    facts.set("cudnn.path_folder", path->folder);
  }
  const auto* any = first(libraries, [&](const Library& l) { return l.is_outside_wheels() && is_dispatcher(l); });
  if (any && version_parts(any->version) > 1) facts.set("cudnn.loader", any->version);
  const auto* own = first(libraries, [&](const Library& l) { return l.origin == "torch" && is_dispatcher(l); });
  if (own) facts.set("cudnn.bundled", version_parts(own->version) > 1 ? own->version : "yes");
  std::map<std::string, std::set<std::string>> versions, names;  // by folder
  for (const Library& library : libraries) {
    if (!library.name.starts_with("libcudnn")) continue;
    names[library.folder].insert(library.name);
    // Two major versions may well share a folder; their files have other names.
    if (version_parts(library.version) > 1)
      versions[library.folder + " " + version_head(library.version, 1)].insert(library.version);
    if (library.is_outside_wheels() && library.name.starts_with("libcudnn_engines_tensor_ir"))
      facts.set("cudnn.tensor_ir", library.path);
  }
  for (const auto& [folder, found] : versions) {
    if (found.size() > 1)
      facts.set("cudnn.mixed",
                *found.begin() + " and " + *found.rbegin() + " in " + folder.substr(0, folder.rfind(' ')));
  }
  for (const auto& [folder, found] : names) {
    const auto starts = [&](std::string_view word) {
      return std::ranges::any_of(found, [&](const std::string& name) { return name.starts_with(word); });
    };
    const bool in_parts = starts("libcudnn.so.8") || starts("libcudnn.so.9");  // older ones are one file
    if (in_parts && !starts("libcudnn_ops")) facts.set("cudnn.incomplete", folder);
  }
}

// Folders in which a library has exactly the version of its wheel: the toolkit that PyTorch was built with, which
// shadows nothing.
std::set<std::string> folders_like_wheels(const Libraries& libraries, const MachineFacts& facts) {
  constexpr std::array kWheels{std::pair{"libcudart.so", "wheel.cudart"}, std::pair{"libcublas", "wheel.cublas"},
                               std::pair{"libnvJitLink.so", "wheel.nvjitlink"},
                               std::pair{"libnvrtc.so", "wheel.nvrtc"}};
  std::set<std::string> like, unlike;
  for (const Library& library : libraries) {
    if (!library.is_ahead_of_wheels()) continue;
    for (const auto& [name, wheel] : kWheels) {
      if (!library.name.starts_with(name) || facts.value(wheel).empty() || version_parts(library.version) < 2) continue;
      (library.version == facts.value(wheel) ? like : unlike).insert(library.folder);
    }
  }
  for (const std::string& folder : unlike) like.erase(folder);
  return like;
}

void add_path(const Libraries& libraries, MachineFacts& facts) {
  const std::set<std::string> like_wheels = folders_like_wheels(libraries, facts);
  for (const Library& library : libraries) {
    if (!library.is_ahead_of_wheels()) continue;
    const auto is = [&](std::string_view word) { return library.name.starts_with(word); };
    const bool cpp = is("libnvJitLink") || is("libnvrtc") || is("libcublasLt");
    if (is("libnccl.so") && !facts.find("nccl.loader") && version_parts(library.version) > 1)
      facts.set("nccl.loader", library.version);
    if (is("libnvJitLink") && !facts.find("nvjitlink.path") && version_parts(library.version) > 1)
      facts.set("nvjitlink.path", library.version);
    if (like_wheels.contains(library.folder)) continue;
    if (cpp && !facts.find("path.cpp")) facts.set("path.cpp", library.folder);
    if ((cpp || is("libcudart") || is("libcublas") || is("libcudnn") || is("libcusparse")) && !facts.find("path.cuda"))
      facts.set("path.cuda", library.folder);
  }
  if (const std::string* path = facts.find("env.LD_LIBRARY_PATH")) {
    for (const std::string& folder : split(*path, ':')) {
      if (contains(folder, "/stubs")) facts.set("path.stubs", folder);
    }
  }
}

}  // namespace

void read_libraries(std::string_view text, MachineFacts& facts) {
  Libraries libraries;
  for (const std::string& line : read_log_text(text).lines) {
    if (auto library = library_in(line)) libraries.push_back(std::move(*library));
  }
  facts.set("libraries.listed", "yes");
  add_driver(libraries, facts);
  add_cudnn(libraries, facts);
  add_path(libraries, facts);
}

}  // namespace dsafuzz
