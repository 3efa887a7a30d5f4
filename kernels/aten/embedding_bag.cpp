// embedding_bag and its gradients, on the virtual device.
#include "kernels/indexing/embedding_bag.h"

#include <ATen/ATen.h>
#include <ATen/TensorUtils.h>
#include <ATen/native/EmbeddingBag.h>
#include <ATen/ops/_embedding_bag_backward_native.h>
#include <torch/library.h>

#include <tuple>

#include "kernels/aten/registration.h"

namespace vcuda::aten {
namespace {

using at::Tensor;
using at::native::EmbeddingBagMode;
using OptionalTensor = std::optional<Tensor>;

Tensor defined_or_not(const OptionalTensor& tensor) { return tensor.value_or(Tensor()); }

bool is_wide(const Tensor& indices) { return indices.scalar_type() == at::kLong; }

void expect_index_type(const Tensor& indices, const char* kernel) {
  if (!is_wide(indices) && indices.scalar_type() != at::kInt) throw_no_kernel(kernel, indices.scalar_type());
}

// Both in the wider of their types.
std::pair<Tensor, Tensor> promoted(const Tensor& indices, const Tensor& offsets) {
  const at::ScalarType common = at::promoteTypes(offsets.scalar_type(), indices.scalar_type());
  return {indices.to(common), offsets.to(common)};
}

using Bags = std::tuple<Tensor, Tensor, Tensor, Tensor>;

Bags embedding_bag_on(const char* wrapper, const Tensor& weight, const Tensor& given_indices,
                      const Tensor& given_offsets, int64_t mode, const OptionalTensor& weights_of_samples,
                      bool include_last_offset, int64_t padding_index) {
  const Tensor sample_weights = defined_or_not(weights_of_samples);
  expect_one_device(wrapper, {{weight, "weight"},
                              {given_indices, "indices"},
                              {given_offsets, "offsets"},
                              {sample_weights, "per_sample_weights"}});
  const c10::DeviceGuard guard(weight.device());
  TORCH_CHECK(given_indices.dim() == 1 || given_indices.dim() == 2,
              "input has to be a 1D or 2D Tensor, but got Tensor of dimension ", given_indices.dim());
  TORCH_CHECK(given_indices.dim() != 1 || given_offsets.dim() == 1,
              "offsets has to be a 1D Tensor, but got Tensor of dimension ", given_offsets.dim());
  TORCH_CHECK(weight.dim() == 2, "weight has to be a 2D Tensor, but got Tensor of dimension ", weight.dim());
  const auto [indices, offsets] = promoted(given_indices, given_offsets);
  at::checkScalarTypes("embedding_bag_cuda", at::TensorArg(indices, "indices", 1), {at::kLong, at::kInt});
  at::checkScalarTypes("embedding_bag_cuda", at::TensorArg(offsets, "offsets", 1), {at::kLong, at::kInt});
  check_pending();

  kernels::EmbeddingBag args;
  args.count = indices.size(0);
  args.bags = offsets.size(0);
  if (include_last_offset) {
    TORCH_CHECK(args.bags >= 1, "include_last_offset: numBags should be at least 1");
    --args.bags;
  }
  args.features = weight.size(1);
  const bool maximum = mode == EmbeddingBagMode::MAX;
  const Tensor bag_size = at::empty(offsets.sizes(), indices.options());
  const Tensor offset2bag = at::empty({args.count}, indices.options());
  const Tensor output = at::empty({args.bags, args.features}, weight.options());
  const Tensor max_indices =
      maximum ? at::empty({args.bags, args.features}, indices.options()) : at::empty({0}, indices.options());
  args.dtype = floating_dtype(weight.scalar_type(), "embedding_bag_cuda");
  expect_type(sample_weights, weight.scalar_type());
  if (output.numel() == 0) return {output, offset2bag, bag_size, max_indices};

  const Tensor words = indices.contiguous();
  const Tensor starts = offsets.contiguous();
  args.wide = is_wide(indices);
  args.indices = words.const_data_ptr();
  args.offsets = starts.const_data_ptr();
  args.weight = weight.const_data_ptr();
  args.rows = weight.size(0);
  args.row_stride = weight.stride(0);
  args.feature_stride = weight.stride(1);
  args.padding_index = padding_index;
  args.output = output.mutable_data_ptr();
  args.offset2bag = offset2bag.mutable_data_ptr();
  args.bag_size = bag_size.mutable_data_ptr();
  if (maximum) {
    kernels::embedding_bag_max(args, max_indices.mutable_data_ptr(), stream_for(weight));
  } else {
    args.mean = mode == EmbeddingBagMode::MEAN;
    if (sample_weights.defined()) {
      args.sample_weights = sample_weights.const_data_ptr();
      args.sample_stride = sample_weights.stride(0);
    }
    kernels::embedding_bag_sum_mean(args, stream_for(weight));
  }
  check_after_launch();
  return {output, offset2bag, bag_size, max_indices};
}

Bags embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool, int64_t mode, bool,
                   const OptionalTensor& sample_weights, bool include_last_offset, int64_t padding_index) {
  return embedding_bag_on("wrapper_CUDA___embedding_bag", weight, indices, offsets, mode, sample_weights,
                          include_last_offset, padding_index);
}

Bags embedding_bag_forward_only(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool, int64_t mode,
                                bool, const OptionalTensor& sample_weights, bool include_last_offset,
                                int64_t padding_index) {
  return embedding_bag_on("wrapper_CUDA___embedding_bag_forward_only", weight, indices, offsets, mode, sample_weights,
                          include_last_offset, padding_index);
}

Tensor embedding_bag_dense_backward(const Tensor& grad_output, const Tensor& indices, const Tensor& offset2bag,
                                    const Tensor& bag_size, const Tensor& max_indices, int64_t rows, bool by_frequency,
                                    int64_t mode, const OptionalTensor& weights_of_samples, int64_t padding_index) {
  const Tensor sample_weights = defined_or_not(weights_of_samples);
  expect_one_device("wrapper_CUDA___embedding_bag_dense_backward", {{grad_output, "grad"},
                                                                    {indices, "indices"},
                                                                    {offset2bag, "offset2bag"},
                                                                    {bag_size, "bag_size"},
                                                                    {max_indices, "maximum_indices"},
                                                                    {sample_weights, "per_sample_weights"}});
  const c10::DeviceGuard guard(grad_output.device());
  TORCH_CHECK(mode >= 0 && mode <= 2, "Unknown mode for embedding_bag_backward_cuda ", mode);
  const bool maximum = mode == EmbeddingBagMode::MAX;
  TORCH_INTERNAL_ASSERT(mode == EmbeddingBagMode::SUM || !sample_weights.defined());
  check_pending();

  const Tensor grad = grad_output.contiguous();
  const char* kernel = maximum ? "embedding_bag_backward_cuda_max" : "embedding_bag_backward_cuda_compute_grad_weight";
  kernels::EmbeddingBagBackward args;
  args.dtype = floating_dtype(grad.scalar_type(), kernel);
  args.features = grad.size(1);
  args.padding_index = padding_index;
  const Tensor sums =
      at::zeros({rows, args.features}, grad.options().dtype(args.dtype == DType::f64 ? at::kDouble : at::kFloat));
  const Tensor words = (maximum ? max_indices : indices).contiguous();
  if (grad.numel() == 0 || words.numel() == 0) return sums.to(grad.scalar_type());
  expect_index_type(words, kernel);
  args.grad = grad.const_data_ptr();
  args.wide = is_wide(words);
  args.indices = words.const_data_ptr();
  if (maximum) {
    args.count = grad.size(0);
    kernels::embedding_bag_max_backward(args, sums.mutable_data_ptr(), stream_for(grad));
    check_after_launch();
    return sums.to(grad.scalar_type());
  }
  const Tensor bags = offset2bag.contiguous();
  const Tensor sizes = bag_size.contiguous();
  expect_type(bags, words.scalar_type());
  args.count = words.numel();
  args.offset2bag = bags.const_data_ptr();
  if (mode == EmbeddingBagMode::MEAN) {
    expect_type(sizes, words.scalar_type());
    args.bag_size = sizes.const_data_ptr();
  }
  if (sample_weights.defined()) {
    expect_type(sample_weights, grad.scalar_type());
    args.sample_weights = sample_weights.const_data_ptr();
    args.sample_stride = sample_weights.stride(0);
  }
  Tensor frequency;
  if (by_frequency) {
    frequency = at::zeros({rows}, grad.options().dtype(at::kLong));
    args.frequency = static_cast<const int64_t*>(frequency.const_data_ptr());
    kernels::count_indices(args, static_cast<int64_t*>(frequency.mutable_data_ptr()), stream_for(grad));
  }
  kernels::embedding_bag_backward(args, sums.mutable_data_ptr(), stream_for(grad));
  check_after_launch();
  return sums.to(grad.scalar_type());
}

Tensor embedding_bag_per_sample_weights_backward(const Tensor& grad_output, const Tensor& weight,
                                                 const Tensor& given_indices, const Tensor& given_offsets,
                                                 const Tensor& offset2bag, int64_t mode, int64_t padding_index) {
  expect_one_device("wrapper_CUDA___embedding_bag_per_sample_weights_backward", {{grad_output, "grad"},
                                                                                 {weight, "weight"},
                                                                                 {given_indices, "indices"},
                                                                                 {given_offsets, "offsets"},
                                                                                 {offset2bag, "offset2bag"}});
  const c10::DeviceGuard guard(grad_output.device());
  TORCH_CHECK(mode == EmbeddingBagMode::SUM,
              "embedding_bag_backward: per_sample_weights only supported for mode='sum'");
  TORCH_INTERNAL_ASSERT(grad_output.dim() == 2);
  const Tensor indices = promoted(given_indices, given_offsets).first.contiguous();
  TORCH_INTERNAL_ASSERT(indices.dim() == 1);
  TORCH_INTERNAL_ASSERT(weight.dim() == 2 && weight.size(1) == grad_output.size(1));
  check_pending();
  const Tensor output = at::empty({indices.size(0)}, grad_output.options());
  if (output.numel() == 0) return output;
  const char* kernel = "_embedding_bag_per_sample_weights_backward_cuda";
  const Tensor grad = grad_output.contiguous();
  const Tensor bags = offset2bag.contiguous();
  expect_index_type(indices, kernel);
  expect_type(bags, indices.scalar_type());
  expect_type(weight, grad.scalar_type());
  kernels::EmbeddingBagBackward args;
  args.dtype = floating_dtype(grad.scalar_type(), kernel);
  args.wide = is_wide(indices);
  args.grad = grad.const_data_ptr();
  args.indices = indices.const_data_ptr();
  args.offset2bag = bags.const_data_ptr();
  args.count = indices.size(0);
  args.features = grad.size(1);
  args.padding_index = padding_index;
  kernels::embedding_bag_sample_weights_backward(args, weight.const_data_ptr(), weight.stride(0), weight.stride(1),
                                                 output.mutable_data_ptr(), stream_for(grad));
  check_after_launch();
  return output;
}

}  // namespace

DSAFUZZ_OPERATORS(dense, m) {
  m.impl("_embedding_bag", &embedding_bag);
  m.impl("_embedding_bag_forward_only", &embedding_bag_forward_only);
  m.impl("_embedding_bag_backward", TORCH_FN(at::native::_embedding_bag_backward_symint));
  m.impl("_embedding_bag_dense_backward", &embedding_bag_dense_backward);
  m.impl("_embedding_bag_per_sample_weights_backward", &embedding_bag_per_sample_weights_backward);
}

}  // namespace vcuda::aten
