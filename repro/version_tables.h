// Which versions of driver, CUDA, PyTorch, compilers and GPUs go together: the tables of corpus/versions as they were
// when dsafuzz was built. corpus/versions/README.md explains their columns.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "repro/tsv_table.h"

namespace dsafuzz {

// The tables' texts, built into the program.
extern const std::string_view kCudaDriverText, kTorchBuildsText, kGpuArchText, kHostCompilersText, kKnownConflictsText,
    kDoctorRulesText, kNotCheckableText;

class VersionTables {
 public:
  // The built-in tables. A broken table is a fault of the build; the tests read them all.
  static Result<VersionTables> built_in();

  // Oldest driver (for Linux or Windows) that runs programs of this CUDA version ("12.8") at all, and the driver that
  // its last update was released with; empty if the table does not know.
  std::string driver_floor(std::string_view cuda, bool windows = false) const;
  std::string driver_of_release(std::string_view cuda, bool windows) const;

  struct TorchBuild {
    std::string cudnn, nccl;                            // empty: not known
    std::string python_min, python_max;                 // experimental ones included
    std::string driver_named;                           // empty: none but the floor
    std::string sass_x86_64, ptx_x86_64, sass_aarch64;  // capabilities, with ; between them
  };
  // The build of this PyTorch ("2.0.1") for this CUDA ("11.7"); nullopt if the table does not know it.
  std::optional<TorchBuild> torch_build(std::string_view torch, std::string_view cuda) const;
  std::string newest_python() const;

  // Capability of a GPU by its product name ("NVIDIA GeForce RTX 4090"): that of the longest name in the table with
  // which it begins. Empty: unknown.
  std::string capability(std::string_view product) const;
  // Newest PyTorch that has code for a product, "2.14 (cu126)"; "none"; empty: not known.
  std::string last_torch(std::string_view product) const;
  // Branch of the last driver for a capability, "470"; empty: it has not come yet, or is not known.
  std::string last_driver(std::string_view capability) const;
  // Whether this nvcc ("13.0") can compile for a capability. True for one that the table does not know.
  bool nvcc_builds_for(std::string_view capability, std::string_view nvcc) const;
  // Oldest driver that can split this GPU into MIG devices; empty: it cannot be split, or that is not known.
  std::string mig_driver_floor(std::string_view product) const;

  struct HostCompilers {
    std::string gcc_max, clang_max;  // newest that nvcc takes; empty: not known
    std::string torch_gcc_below;     // PyTorch 2.11 refuses from this GCC on; empty: no bound
  };
  std::optional<HostCompilers> host_compilers(std::string_view nvcc) const;

 private:
  std::string of_product(std::string_view product, std::string_view column) const;

  TsvTable drivers_, builds_, gpus_, compilers_, conflicts_;
};

}  // namespace dsafuzz
