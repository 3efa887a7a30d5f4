// The kernel behind dynamic_cast.h, in the shape of an unrolled element-wise kernel: 128 threads a block, 4 elements a
// thread. A thread ends at its first element.
#include "kernels/elementwise/dynamic_cast.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

constexpr std::int64_t kThreads = 128;
constexpr std::int64_t kPerBlock = kThreads * 4;

__global__ void unrolled_elementwise_kernel(bool store, std::int64_t count) {
  const std::int64_t first = kPerBlock * blockIdx.x + threadIdx.x;
  if (first >= count) return;
  DEVICE_ASSERT("c10/core/DynamicCast.h", 79, "fetch_and_cast", "false", store);
  DEVICE_ASSERT("c10/core/DynamicCast.h", 105, "cast_and_store", "false", !store);
}

}  // namespace

void fail_to_cast(UnknownCast where, std::int64_t count, vcuda::Stream stream) {
  const unsigned grid = static_cast<unsigned>((count + kPerBlock - 1) / kPerBlock);
  const bool store = where == UnknownCast::store;
  const std::int64_t elements = count;
  LAUNCH(unrolled_elementwise_kernel, grid, kThreads, stream, store, elements);
}

}  // namespace kernels
