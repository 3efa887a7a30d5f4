#include "fuzz/own_kernels.h"

#include <array>
#include <filesystem>
#include <string>

#include "fuzz/worker_pool.h"

namespace dsafuzz {
namespace {

constexpr std::array kStillAtens{
    StillAtens{"element-wise operators on types without a conversion (fetch_and_cast, cast_and_store)",
               "on vcuda the kernel stands in what runs any operator on the CPU; a GPU has no such place"},
    StillAtens{"integer division and remainder of other types",
               "dsafuzz has kernels for integers, as only these can divide by zero in silence"},
    StillAtens{"the sum in index_put with accumulate", "dsafuzz has kernels for its asserts, not for the sum"},
    StillAtens{"to_dense of compressed sparse tensors", "no kernel of its own: vcuda makes it of others"},
    StillAtens{"every operator that the catalogue does not name", "it has no assert that an input can trigger"},
};

}  // namespace

bool have_own_kernels() {
  const auto programs = std::filesystem::path(worker_path()).parent_path();
  std::error_code ignored;
  return std::filesystem::exists(programs.parent_path() / "lib" / "libdsafuzz_kernels_on_cuda.so", ignored);
}

Result<void> check_kernels_are_atens(const Device& device) {
  if (!device.own_kernels) return {};
  return input_problem(
      "'" + device.text() + "' runs dsafuzz's kernels in the place of PyTorch's, which are not to be searched",
      "--device", "cuda:" + std::to_string(device.index) + "; replay, regress and fidelity take " + device.text());
}

std::span<const StillAtens> still_atens() { return kStillAtens; }

}  // namespace dsafuzz
