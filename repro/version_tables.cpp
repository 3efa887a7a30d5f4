#include "repro/version_tables.h"

#include <algorithm>

#include "repro/scan.h"
#include "repro/version_number.h"

namespace dsafuzz {
namespace {

// "?" and words ("none listed") are what the tables write for not known.
std::string known(std::string_view cell) { return version_prefix(cell); }

bool is_newer(const std::string& a, const std::string& b) { return compare_versions(a, b) > 0; }

// Every version in the cell that follows `mark`: ">=3.9,<=3.12 (3.13 experimental)" and "<=" gives 3.12.
std::string after(std::string_view cell, std::string_view mark) {
  return take_until(cell, mark) ? version_prefix(cell) : std::string();
}

// The newest Python in ">=3.9,<=3.12 (3.13 experimental)": 3.13.
std::string newest_in(std::string_view cell) {
  std::string newest = after(cell, "<=");
  if (take_until(cell, "(") && is_newer(version_prefix(cell), newest)) newest = version_prefix(cell);
  return newest;
}

// Products are written with and without the maker's and the old line's name.
std::string_view without_maker(std::string_view product) {
  take(product, "NVIDIA ");
  take(product, "Tesla ");
  return product;
}

}  // namespace

Result<VersionTables> VersionTables::built_in() {
  VersionTables tables;
  tables.drivers_ = DSAFUZZ_TRY(TsvTable::parse(kCudaDriverText, "cuda_driver.tsv"));
  tables.builds_ = DSAFUZZ_TRY(TsvTable::parse(kTorchBuildsText, "torch_builds.tsv"));
  tables.gpus_ = DSAFUZZ_TRY(TsvTable::parse(kGpuArchText, "gpu_arch.tsv"));
  tables.conflicts_ = DSAFUZZ_TRY(TsvTable::parse(kKnownConflictsText, "known_conflicts.tsv"));
  tables.compilers_ = DSAFUZZ_TRY(TsvTable::parse(kHostCompilersText, "host_compilers.tsv"));
  return tables;
}

std::string VersionTables::driver_floor(std::string_view cuda, bool windows) const {
  const std::string_view column = windows ? "windows_minor_compat_min" : "linux_minor_compat_min";
  for (std::size_t row = 0; row < drivers_.size(); ++row) {
    if (drivers_.cell(row, "toolkit") == cuda) return known(drivers_.cell(row, column));
  }
  return {};
}

std::string VersionTables::driver_of_release(std::string_view cuda, bool windows) const {
  const std::string_view column = windows ? "windows_toolkit_driver_min" : "linux_toolkit_driver_min";
  std::string newest;
  for (std::size_t row = 0; row < drivers_.size(); ++row) {
    if (drivers_.cell(row, "toolkit") != cuda) continue;
    const std::string driver = known(drivers_.cell(row, column));
    if (is_newer(driver, newest)) newest = driver;
  }
  return newest;
}

std::optional<VersionTables::TorchBuild> VersionTables::torch_build(std::string_view torch,
                                                                    std::string_view cuda) const {
  for (std::size_t row = 0; row < builds_.size(); ++row) {
    if (builds_.cell(row, "torch") != torch || builds_.cell(row, "cuda_build") != cuda) continue;
    const std::string_view python = builds_.cell(row, "python");
    return TorchBuild{.cudnn = known(builds_.cell(row, "cudnn")),
                      .nccl = known(builds_.cell(row, "nccl")),
                      .python_min = after(python, ">="),
                      .python_max = newest_in(python),
                      .driver_named = known(builds_.cell(row, "driver_named")),
                      .sass_x86_64 = std::string(builds_.cell(row, "sass_x86_64")),
                      .ptx_x86_64 = std::string(builds_.cell(row, "ptx_x86_64")),
                      .sass_aarch64 = std::string(builds_.cell(row, "sass_aarch64"))};
  }
  return std::nullopt;
}

std::string VersionTables::newest_python() const {
  std::string newest;
  for (std::size_t row = 0; row < builds_.size(); ++row) {
    const std::string python = newest_in(builds_.cell(row, "python"));
    if (is_newer(python, newest)) newest = python;
  }
  return newest;
}

std::string VersionTables::capability(std::string_view product) const {
  return of_product(product, "compute_capability");
}

std::string VersionTables::last_torch(std::string_view product) const {
  return of_product(product, "last_torch_any_channel");
}

std::string VersionTables::last_driver(std::string_view capability) const {
  for (std::size_t row = 0; row < gpus_.size(); ++row) {
    if (gpus_.cell(row, "compute_capability") == capability) return known(gpus_.cell(row, "last_driver_branch"));
  }
  return {};
}

std::string VersionTables::of_product(std::string_view product, std::string_view column) const {
  const std::string_view wanted = without_maker(product);
  std::string_view best, found;
  for (std::size_t row = 0; row < gpus_.size(); ++row) {
    const std::string_view name = without_maker(gpus_.cell(row, "product"));
    if (!wanted.starts_with(name) || name.size() <= best.size()) continue;
    if (wanted.size() > name.size() && is_word(wanted[name.size()])) continue;
    best = name;
    found = gpus_.cell(row, column);
  }
  return std::string(found);
}

bool VersionTables::nvcc_builds_for(std::string_view capability, std::string_view nvcc) const {
  for (std::size_t row = 0; row < gpus_.size(); ++row) {
    if (gpus_.cell(row, "compute_capability") != capability) continue;
    const std::string first = known(gpus_.cell(row, "first_toolkit"));
    const std::string_view last = gpus_.cell(row, "last_toolkit");
    const bool dropped = !last.ends_with("+") && is_newer(std::string(nvcc), known(last));
    return !dropped && !is_newer(first, std::string(nvcc));
  }
  return true;
}

// The conflict mig_driver_floor lists them in words: "A100 450.80.02, A30 460.73.01, ..., B200 and GB200 570.133.20".
std::string VersionTables::mig_driver_floor(std::string_view product) const {
  const std::string_view wanted = without_maker(product);
  for (std::size_t row = 0; row < conflicts_.size(); ++row) {
    if (conflicts_.cell(row, "id") != "mig_driver_floor") continue;
    for (const std::string& entry : split(conflicts_.cell(row, "detect"), ',')) {
      std::string_view names = trimmed(entry);
      const std::size_t blank = names.rfind(' ');
      if (blank == std::string_view::npos) continue;
      const std::string_view floor = names.substr(blank + 1);
      names = names.substr(0, blank);
      const std::string_view first = take_until(names, " and ").value_or(names);
      for (const std::string_view name : {first, names}) {
        const bool begins = wanted.starts_with(name) && (wanted.size() == name.size() || !is_word(wanted[name.size()]));
        if (begins) return std::string(floor);
      }
    }
  }
  return {};
}

std::optional<VersionTables::HostCompilers> VersionTables::host_compilers(std::string_view nvcc) const {
  for (std::size_t row = 0; row < compilers_.size(); ++row) {
    if (compilers_.cell(row, "toolkit") != nvcc) continue;
    std::string_view bounds = compilers_.cell(row, "torch_2_11_ext_gcc");
    return HostCompilers{.gcc_max = known(compilers_.cell(row, "gcc_max")),
                         .clang_max = known(compilers_.cell(row, "clang_max")),
                         .torch_gcc_below = take_until(bounds, "<") ? version_prefix(bounds) : std::string()};
  }
  return std::nullopt;
}

}  // namespace dsafuzz
