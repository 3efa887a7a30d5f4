// Random draws and late checks on the virtual device: bernoulli with a tensor, poisson, multinomial, _assert_async.
// One number from the generator seeds each launch, so the same generator state gives the same draws.
#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/ops/bernoulli_native.h>
#include <ATen/ops/multinomial_native.h>
#include <torch/library.h>

#include <algorithm>

#include "kernels/aten/registration.h"
#include "kernels/sampling/assert_async.h"
#include "kernels/sampling/bernoulli.h"
#include "kernels/sampling/multinomial.h"
#include "kernels/sampling/poisson.h"

namespace vcuda::aten {
namespace {

using at::Tensor;
using Generator = std::optional<at::Generator>;

DType element_dtype(at::ScalarType type, const char* kernel) {
  switch (type) {
    case at::kHalf: return DType::f16;
    case at::kBFloat16: return DType::bf16;
    case at::kFloat: return DType::f32;
    case at::kDouble: return DType::f64;
    case at::kByte: return DType::u8;
    case at::kChar: return DType::i8;
    case at::kShort: return DType::i16;
    case at::kInt: return DType::i32;
    case at::kLong: return DType::i64;
    case at::kBool: return DType::boolean;
    default: throw_no_kernel(kernel, type);
  }
}

// An output and an input of one shape, dimensions joined where they can be.
Walk<2> walk_over(const at::TensorBase& to, const at::TensorBase& from) {
  const at::TensorIterator iterator = at::TensorIteratorConfig()
                                          .set_check_mem_overlap(false)
                                          .check_all_same_dtype(false)
                                          .resize_outputs(false)
                                          .add_borrowed_output(to)
                                          .add_borrowed_const_input(from)
                                          .build();
  expect_dims(static_cast<std::size_t>(iterator.ndim()));
  Walk<2> walk;
  walk.dims = iterator.ndim();
  for (int dim = 0; dim < walk.dims; ++dim) {
    walk.sizes[dim] = iterator.shape()[dim];
    for (int operand = 0; operand < 2; ++operand) walk.strides[operand][dim] = iterator.strides(operand)[dim];
  }
  return walk;
}

void bernoulli_with_tensor(const at::TensorBase& self_base, const at::TensorBase& p_base, Generator generator) {
  const at::OptionalTensorRef self(self_base);
  const at::OptionalTensorRef p(p_base);
  const c10::DeviceGuard guard(self->device());
  check_pending();
  const std::uint64_t seed = draw_seed(generator, self->device());
  TORCH_CHECK(at::isFloatingType(p->scalar_type()), "expected probabilities tensor to have floating type, got ",
              p->scalar_type());
  // Single probabilities suffice for every type but double.
  const auto wanted = self->scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const Tensor cast = p->to(self->device(), wanted);
  const c10::MaybeOwned<Tensor> probabilities = at::expand_inplace(*self, cast);
  kernels::Bernoulli args;
  args.dtype = element_dtype(self->scalar_type(), "bernoulli_tensor_cuda_self_");
  args.out = self->mutable_data_ptr();
  args.probabilities = probabilities->const_data_ptr();
  args.count = self->numel();
  args.walk = walk_over(*self, *probabilities);
  args.seed = seed;
  kernels::bernoulli(args, stream_for(*self));
  check_after_launch();
}

Tensor poisson(const Tensor& lambda, Generator generator) {
  const c10::DeviceGuard guard(lambda.device());
  check_pending();
  Tensor out = at::empty(lambda.sizes(), lambda.options());
  kernels::Poisson args;
  args.seed = draw_seed(generator, lambda.device());
  args.dtype = floating_dtype(lambda.scalar_type(), "poisson_cuda");
  if (out.numel() == 0) return out;
  args.out = out.mutable_data_ptr();
  args.rates = lambda.const_data_ptr();
  args.count = out.numel();
  args.walk = walk_over(out, lambda);
  kernels::poisson(args, stream_for(lambda));
  check_after_launch();
  return out;
}

// What is left of multinomial after its checks: `num_samples` > 1 of each row of `self`, with replacement.
void multinomial_with_replacement(Tensor& result, const Tensor& self, int64_t num_samples, Generator generator) {
  const c10::DeviceGuard guard(self.device());
  check_pending();
  const Tensor weights = at::empty(self.dim() == 1 ? at::IntArrayRef({1, self.size(0)}) : self.sizes(), self.options());
  weights.copy_(self.dim() == 1 ? self.unsqueeze(0) : self);
  kernels::Multinomial args;
  args.dtype = floating_dtype(self.scalar_type(), "multinomial_kernel_cuda");
  args.rows = weights.size(0);
  args.categories = weights.size(1);
  const std::uint64_t seed = draw_seed(generator, self.device());
  kernels::renorm_rows(args, weights.mutable_data_ptr(), stream_for(self));
  check_after_launch();
  const Tensor sums = at::cumsum(weights, 1);
  const Tensor drawn = result.is_contiguous() ? result : at::empty(result.sizes(), result.options());
  kernels::sample_with_replacement(args, weights.const_data_ptr(), sums.const_data_ptr(), num_samples, seed,
                                   drawn.mutable_data_ptr<int64_t>(), stream_for(self));
  check_after_launch();
  if (!drawn.is_same(result)) result.copy_(drawn);
}

void assert_async_message(const Tensor& self, std::string_view text) {
  const c10::DeviceGuard guard(self.device());
  TORCH_CHECK(self.numel() != 0, "Boolean value of Tensor with no values is ambiguous");
  TORCH_CHECK(self.numel() < 2, "Boolean value of Tensor with more than one value is ambiguous");
  constexpr int kLimit = kernels::AssertMessage::kCapacity - 1;
  TORCH_CHECK(text.size() < kLimit, "Message length must be smaller than ", kLimit);
  check_pending();
  kernels::AssertMessage message;
  std::copy(text.begin(), text.end(), message.text);
  const bool complex = self.scalar_type() == at::kComplexFloat || self.scalar_type() == at::kComplexDouble;
  const auto part = complex ? c10::toRealValueType(self.scalar_type()) : self.scalar_type();
  const DType dtype = element_dtype(part, "_assert_async_cuda");
  kernels::assert_async(dtype, complex, self.const_data_ptr(), message, stream_for(self));
  check_after_launch();
}

void assert_async(const Tensor& self) { assert_async_message(self, ""); }

// The token orders the check in a graph; a new one comes back.
Tensor functional_assert_async(const Tensor& self, std::string_view text, const Tensor& token) {
  assert_async_message(self, text);
  return token.clone();
}

}  // namespace

DSAFUZZ_OPERATORS(dense, m) {
  m.impl("bernoulli_.Tensor",
         TORCH_FN(static_cast<Tensor& (*)(Tensor&, const Tensor&, Generator)>(&at::native::bernoulli_)));
  m.impl("bernoulli.out", TORCH_FN(at::native::bernoulli_out));
  m.impl("poisson", &poisson);
  m.impl("multinomial", TORCH_FN(at::native::multinomial));
  m.impl("multinomial.out", TORCH_FN(at::native::multinomial_out));
  m.impl("_assert_async", &assert_async);
  m.impl("_assert_async.msg", &assert_async_message);
  m.impl("_functional_assert_async.msg", &functional_assert_async);
}

}  // namespace vcuda::aten

// LibTorch's own bernoulli_ and multinomial make the checks and call these where a device differs.
namespace at::native {
DSAFUZZ_STUB(bernoulli_tensor_stub, &::vcuda::aten::bernoulli_with_tensor)
DSAFUZZ_STUB(multinomial_with_replacement_stub, &::vcuda::aten::multinomial_with_replacement)
}  // namespace at::native
