// segment_reduce and repeat_interleave, on the virtual device.
#include <ATen/ATen.h>
#include <ATen/native/SegmentReduce.h>
#include <ATen/ops/_segment_reduce_backward_native.h>
#include <ATen/ops/segment_reduce_native.h>
#include <torch/library.h>

#include <limits>

#include "kernels/aten/registration.h"
#include "kernels/indexing/repeat_interleave.h"
#include "kernels/reduction/segment_reduce.h"

namespace vcuda::aten {
namespace {

using at::Tensor;
using at::native::ReductionType;
using OptionalTensor = std::optional<Tensor>;
using OptionalScalar = std::optional<at::Scalar>;

Tensor defined_or_not(const OptionalTensor& tensor) { return tensor.value_or(Tensor()); }

bool is_wide(const Tensor& indices) { return indices.scalar_type() == at::kLong; }

void expect_index_type(const Tensor& indices, const char* kernel) {
  if (!is_wide(indices) && indices.scalar_type() != at::kInt) throw_no_kernel(kernel, indices.scalar_type());
}

kernels::SegmentReduction reduction_of(ReductionType reduction) {
  switch (reduction) {
    case ReductionType::MAX: return kernels::SegmentReduction::maximum;
    case ReductionType::MEAN: return kernels::SegmentReduction::mean;
    case ReductionType::MIN: return kernels::SegmentReduction::minimum;
    case ReductionType::SUM: return kernels::SegmentReduction::sum;
    case ReductionType::PROD: return kernels::SegmentReduction::product;
  }
  TORCH_INTERNAL_ASSERT(false);
}

// In the data's own type, as ATen passes it: too large a number throws.
double initial_of(const OptionalScalar& initial, DType dtype, ReductionType reduction) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (initial.has_value()) {
    if (dtype == DType::f16) return initial->to<at::Half>();
    if (dtype == DType::bf16) return initial->to<at::BFloat16>();
    return dtype == DType::f32 ? initial->to<float>() : initial->to<double>();
  }
  switch (reduction) {
    case ReductionType::MAX: return -kInfinity;
    case ReductionType::MIN: return kInfinity;
    case ReductionType::PROD: return 1;
    case ReductionType::MEAN:
    case ReductionType::SUM: return 0;
  }
  TORCH_INTERNAL_ASSERT(false);
}

// The lengths and the bounds of the segments, from either of them. LibTorch has checked the shapes and made all
// contiguous.
struct Segments {
  Tensor lengths, bounds;
  kernels::SegmentReduce args;

  Segments(const Tensor& data, const Tensor& given, bool are_bounds, ReductionType reduction,
           const OptionalScalar& initial, const char* kernel, const char* index_kernel) {
    const int64_t axis = given.dim() - 1;
    args.dtype = floating_dtype(data.scalar_type(), kernel);
    expect_index_type(given, index_kernel);
    if (are_bounds) {
      bounds = given;
      lengths = given.diff().contiguous();
    } else {
      lengths = given;
      bounds = at::constant_pad_nd(given.cumsum(axis, given.scalar_type()), {1, 0}).contiguous();
    }
    args.wide = is_wide(given);
    args.data = data.const_data_ptr();
    args.lengths = lengths.const_data_ptr();
    args.bounds = bounds.const_data_ptr();
    args.size = data.size(axis);
    args.segments = lengths.size(axis);
    for (int64_t dim = 0; dim < axis; ++dim) args.outer *= data.size(dim);
    for (int64_t dim = axis + 1; dim < data.dim(); ++dim) args.inner *= data.size(dim);
    args.reduction = reduction_of(reduction);
    args.initial_is_given = initial.has_value();
    args.initial = initial_of(initial, args.dtype, reduction);
  }
};

template <bool kBounds>
Tensor launch_segment_reduce(ReductionType reduction, const Tensor& data, const Tensor& given, int64_t,
                             const OptionalScalar& initial) {
  const Segments segments(data, given, kBounds, reduction, initial, "segment_reduce_cuda",
                          "_segment_reduce_cuda_kernel1");
  std::vector<int64_t> sizes = data.sizes().vec();
  sizes[static_cast<std::size_t>(given.dim() - 1)] = segments.args.segments;
  const Tensor output = at::empty(sizes, data.options());
  if (output.numel() == 0) return output;
  const auto launch = data.dim() > 1 ? &kernels::segment_reduce : &kernels::segment_reduce_1d;
  launch(segments.args, output.mutable_data_ptr(), stream_for(data));
  check_after_launch();
  return output;
}

template <bool kBounds>
Tensor launch_segment_reduce_backward(const Tensor& grad, const Tensor& output, const Tensor& data,
                                      ReductionType reduction, const Tensor& given, int64_t,
                                      const OptionalScalar& initial) {
  const Segments segments(data, given, kBounds, ReductionType::PROD, initial, "_segment_reduce_cpu",
                          "_segment_reduce_cuda_lengths_offsets_backward_kernel1");
  kernels::SegmentReduce args = segments.args;
  args.reduction = reduction_of(reduction);
  expect_type(grad, data.scalar_type());
  expect_type(output, data.scalar_type());
  Tensor grad_input = at::zeros(data.sizes(), grad.options());
  if (output.numel() == 0) return grad_input;
  kernels::segment_reduce_backward(args, output.const_data_ptr(), grad.const_data_ptr(), grad_input.mutable_data_ptr(),
                                   stream_for(data));
  check_after_launch();
  return grad_input;
}

Tensor segment_reduce(const Tensor& data, std::string_view reduce, const OptionalTensor& lengths,
                      const OptionalTensor& indices, const OptionalTensor& offsets, int64_t axis, bool unsafe,
                      const OptionalScalar& initial) {
  expect_one_device("wrapper_CUDA__segment_reduce", {{data, "data"},
                                                     {defined_or_not(lengths), "lengths"},
                                                     {defined_or_not(indices), "indices"},
                                                     {defined_or_not(offsets), "offsets"}});
  const c10::DeviceGuard guard(data.device());
  check_pending();
  return at::native::segment_reduce_kernel(data, reduce, lengths, indices, offsets, axis, unsafe, initial);
}

Tensor segment_reduce_backward(const Tensor& grad, const Tensor& output, const Tensor& data, std::string_view reduce,
                               const OptionalTensor& lengths, const OptionalTensor& offsets, int64_t axis,
                               const OptionalScalar& initial) {
  expect_one_device("wrapper_CUDA___segment_reduce_backward", {{grad, "grad"},
                                                               {output, "output"},
                                                               {data, "data"},
                                                               {defined_or_not(lengths), "lengths"},
                                                               {defined_or_not(offsets), "offsets"}});
  const c10::DeviceGuard guard(grad.device());
  check_pending();
  return at::native::_segment_reduce_backward_kernel(grad, output, data, reduce, lengths, offsets, axis, initial);
}

// The checks are those of ATen/native/Repeat.h, which GPUs take too.
Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size) {
  const c10::DeviceGuard guard(repeats.device());
  expect_index_type(repeats, "repeat_interleave_cuda");
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  check_pending();
  if (repeats.size(0) == 0) return at::empty_like(repeats, at::MemoryFormat::Contiguous);
  const Tensor counts = repeats.contiguous();
  const Tensor sums = counts.cumsum(0);
  if (!output_size.has_value()) {
    TORCH_CHECK((counts >= 0).all().item<bool>(), "repeats can not be negative");
    output_size = sums[-1].item<int64_t>();
  }
  const Tensor result = at::empty({*output_size}, repeats.options());
  kernels::RepeatInterleave args;
  args.wide = is_wide(repeats);
  args.repeats = counts.const_data_ptr();
  args.sums = static_cast<const int64_t*>(sums.const_data_ptr());
  args.result = result.mutable_data_ptr();
  args.count = counts.size(0);
  args.result_size = *output_size;
  kernels::repeat_interleave(args, stream_for(repeats));
  check_after_launch();
  return result;
}

}  // namespace

DSAFUZZ_OPERATORS(dense, m) {
  m.impl("segment_reduce", &segment_reduce);
  m.impl("_segment_reduce_backward", &segment_reduce_backward);
  m.impl("repeat_interleave.Tensor", &repeat_interleave);
}

}  // namespace vcuda::aten

// LibTorch's own functions check the arguments of segment_reduce and then call these.
namespace at::native {
DSAFUZZ_STUB(_segment_reduce_lengths_stub, &vcuda::aten::launch_segment_reduce<false>)
DSAFUZZ_STUB(_segment_reduce_offsets_stub, &vcuda::aten::launch_segment_reduce<true>)
DSAFUZZ_STUB(_segment_reduce_lengths_backward_stub, &vcuda::aten::launch_segment_reduce_backward<false>)
DSAFUZZ_STUB(_segment_reduce_offsets_backward_stub, &vcuda::aten::launch_segment_reduce_backward<true>)
}  // namespace at::native
