// The kernel behind grouped_mm.h: one thread a group. The elements are bfloat16, the only type that comes here.
#include "kernels/matmul/grouped_mm.h"
#include "kernels/vcuda/device_language.h"

#define ASSERT_GROUP(LINE, TEXT, OK) \
  DEVICE_ASSERT("aten/src/ATen/native/cuda/GroupMMCommon.cuh", LINE, "prepare_grouped_gemm_data", TEXT, OK)
// The line break in the message is printed as it stands in the source, with a backslash.
#define ASSERT_ALIGNED(LINE, WHICH)                                                          \
  ASSERT_GROUP(LINE,                                                                         \
               "delta % align == 0 && \"expected " WHICH                                     \
               " tensor dynamic dimension byte size to be non-negative multiple of 16\\n\"", \
               delta % kAlign == 0)
#define ASSERT_INSIDE(LINE, TEXT, OK) \
  ASSERT_GROUP(LINE, TEXT " && \"expected offset to be less than tensor size\\n\"", OK)

namespace kernels {
namespace {

constexpr std::int32_t kAlign = 8;  // elements in 16 bytes

__global__ void prepare_grouped_gemm_data(KERNEL_STRUCT(GroupedMm) args) {
  const std::int32_t tid = static_cast<std::int32_t>(threadIdx.x);
  std::int32_t delta = 0;
  std::int32_t offset = 0;
  const bool rows_vary = args.m < 0, columns_vary = args.n < 0, depth_varies = args.k < 0;
  if (args.ends != nullptr) {
    // Unsigned: far ends wrap here instead of being undefined.
    const std::uint32_t start = tid == 0 ? 0 : static_cast<std::uint32_t>(args.ends[tid - 1]);
    offset = args.ends[tid];
    delta = static_cast<std::int32_t>(static_cast<std::uint32_t>(offset) - start);
    ASSERT_GROUP(54, "delta >=0 && \"expected gemm dimension to be greater or equal 0\\n\"", delta >= 0);
    // Nothing begins where the last group ends.
    if (tid < static_cast<std::int32_t>(blockDim.x) - 1) {
      if ((depth_varies && args.a_row_major) || (rows_vary && !args.a_row_major)) ASSERT_ALIGNED(64, "input");
      if ((depth_varies && !args.b_row_major) || (columns_vary && args.b_row_major)) ASSERT_ALIGNED(71, "input");
      if (columns_vary) ASSERT_ALIGNED(80, "output");
    }
  }
  std::int32_t* const sizes = args.sizes_out + 3 * tid;
  sizes[0] = args.m;
  sizes[1] = args.n;
  sizes[2] = args.k;
  if (rows_vary) {
    ASSERT_INSIDE(89, "offset <= tensor_ShapeA[0]", offset <= args.a_sizes[0]);
    sizes[0] = delta;
  } else if (columns_vary) {
    ASSERT_INSIDE(102, "offset <= tensor_ShapeB[1]", offset <= args.b_sizes[1]);
    sizes[1] = delta;
  } else if (depth_varies) {
    ASSERT_INSIDE(115, "offset <= tensor_ShapeA[1] && offset <= tensor_ShapeB[0]",
                  offset <= args.a_sizes[1] && offset <= args.b_sizes[0]);
    sizes[2] = delta;
  }
}

}  // namespace

void prepare_grouped_gemm(const GroupedMm& arguments, vcuda::Stream stream) {
  const GroupedMm args = arguments;
  const unsigned block = static_cast<unsigned>(args.groups);
  LAUNCH(prepare_grouped_gemm_data, 1, block, stream, args);
}

}  // namespace kernels
