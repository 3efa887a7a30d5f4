// segment_reduce: one value for each run of elements along an axis; runs are given by their lengths and by their
// bounds. The kernels of ATen's SegmentReduce.cu. A negative length fails an assert in the forward kernel of data with
// two or more dimensions, and in the mean of one-dimensional data; elsewhere nothing looks at it. All tensors are
// contiguous.
//
// Asynchronous: failures surface as runtime.h says. Requires: outer, segments and inner are not zero.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

enum class SegmentReduction : std::uint8_t { maximum, mean, minimum, sum, product };

struct SegmentReduce {
  vcuda::DType dtype;                // f16, bf16, f32 or f64
  bool wide = true;                  // lengths and bounds are int64, else int32
  const void* data = nullptr;        // [outer, size, inner]
  const void* lengths = nullptr;     // [outer, segments]
  const void* bounds = nullptr;      // [outer, segments + 1]
  std::int64_t outer = 1, size = 0;  // along the axis
  std::int64_t segments = 0, inner = 1;
  SegmentReduction reduction = SegmentReduction::sum;
  bool initial_is_given = false;  // else an empty mean is NaN
  double initial = 0;             // what a reduction starts from
};

// output: [outer, segments, inner].
void segment_reduce(const SegmentReduce& args, void* output, vcuda::Stream stream);
// The same for one-dimensional data: outer and inner are 1.
void segment_reduce_1d(const SegmentReduce& args, void* output, vcuda::Stream stream);

// output, grad_output: [outer, segments, inner]. grad_input: as the data, zeroed by the caller. `initial` counts for
// products only.
void segment_reduce_backward(const SegmentReduce& args, const void* output, const void* grad_output, void* grad_input,
                             vcuda::Stream stream);

}  // namespace kernels
