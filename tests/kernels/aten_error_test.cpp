// What goes wrong outside the kernels: what operators refuse on the host, tensors on two devices, the text and life
// of a sticky error, out of memory, faults of the dsafuzz operators, and the types that autocast chooses.
#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>

#include <functional>

#include "tests/kernels/aten_fixture.h"

namespace {

using at::Tensor;
using testing::HasSubstr;

at::TensorOptions on(int device = 0, at::ScalarType type = at::kFloat) {
  return at::TensorOptions(vcuda_device(device)).dtype(type);
}
Tensor labels(std::vector<std::int64_t> values, int device = 0) {
  return longs(std::move(values)).to(vcuda_device(device));
}

// The message of the exception that `call` throws, without a stack; empty if it throws none.
std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

struct Refused {
  const char* name;
  std::function<void()> call;
  const char* message;
};

void expect_refusals(const std::vector<Refused>& rows) {
  for (const Refused& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_THAT(refusal(row.call), HasSubstr(row.message));
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::none);
  }
}

class AtenErrorTest : public AtenTest {};

// CUDA's operators make these checks before they launch; the context stays sound.
TEST_F(AtenErrorTest, HostRejects) {
  expect_refusals({
      {"labels too many",
       [] {
         at::nll_loss(at::zeros({2, 3}, on()), labels({0, 1, 2}));
       },
       "size mismatch (got input: [2, 3], target: [3])"},
      {"labels of floating type",
       [] {
         at::nll_loss(at::zeros({2, 3}, on()), at::zeros({2}, on()));
       },
       "\"nll_loss_forward_reduce_cuda_kernel_2d_index\" not implemented for 'Float'"},
      {"labels of floating type, none",
       [] {
         at::nll_loss(at::zeros({2, 3}, on()), at::zeros({2}, on()), {}, at::Reduction::None);
       },
       "\"nll_loss_forward_no_reduce_cuda_kernel_index\" not implemented for 'Float'"},
      {"int32 labels",
       [] {
         at::nll_loss(at::zeros({2, 3}, on()), at::zeros({2}, on(0, at::kInt)));
       },
       "\"nll_loss_forward_reduce_cuda_kernel_2d_index\" not implemented for 'Int'"},
      {"integral input",
       [] {
         at::nll_loss(at::zeros({2, 3}, on(0, at::kLong)), labels({0, 1}));
       },
       "\"nll_loss_forward_reduce_cuda_kernel_2d\" not implemented for 'Long'"},
      {"weights too few",
       [] {
         at::nll_loss(at::zeros({2, 3}, on()), labels({0, 1}), at::ones({2}, on()));
       },
       "weight tensor should be defined either for all 3 classes or no classes but got weight tensor of shape: [2]"},
      {"weights of another type",
       [] {
         at::nll_loss(at::zeros({2, 3}, on()), labels({0, 1}), at::ones({3}, on(0, at::kDouble)));
       },
       "expected scalar type Float but found Double"},
      {"pixels of another size",
       [] {
         at::nll_loss2d(at::zeros({1, 3, 2, 2}, on()), labels({0, 1}).reshape({1, 1, 2}));
       },
       "input and target batch or spatial sizes don't match: target [1, 1, 2], input [1, 3, 2, 2]"},
      {"index_select by a matrix",
       [] {
         at::zeros({4}, on()).index_select(0, labels({0}).reshape({1, 1}));
       },
       "Index is supposed to be an empty tensor or a vector"},
      {"index_select by floats", [] { at::zeros({4}, on()).index_select(0, at::zeros({1}, on())); },
       "\"index_select_out_cuda_impl\" not implemented for 'Float'"},
      {"gather by floats", [] { at::zeros({4}, on()).gather(0, at::zeros({1}, on())); },
       "gather(): Expected dtype int32/int64 for index"},
      {"gather by another rank",
       [] {
         at::zeros({4}, on()).gather(0, labels({0}).reshape({1, 1}));
       },
       "Index tensor must have the same number of dimensions as input tensor"},
      {"scatter of another type",
       [] { at::zeros({4}, on()).scatter(0, labels({0}), at::zeros({1}, on(0, at::kLong))); },
       "scatter(): Expected self.dtype to be equal to src.dtype"},
      {"index by floats", [] { at::zeros({4}, on()).index({at::zeros({1}, on())}); },
       "tensors used as indices must be long, int, byte or bool tensors"},
      {"too many indices",
       [] {
         at::zeros({4}, on()).index({labels({0}), labels({0})});
       },
       "too many indices for tensor of dimension 1"},
      {"index_put of another type", [] { at::zeros({4}, on()).index_put_({labels({0})}, labels({1})); },
       "Index put requires the source and destination dtypes match, got Float for the destination and Long"},
      {"index_put of another shape", [] { at::zeros({4}, on()).index_put_({labels({0})}, at::zeros({2}, on())); },
       "shape mismatch: value tensor of shape [2] cannot be broadcast to indexing result of shape [1]"},
  });
}

TEST_F(AtenErrorTest, TwoDevices) {
  const auto a = [](int device) { return at::zeros({3, 3}, on(device)); };
  expect_refusals({
      {"element-wise", [&] { at::add(a(0), a(1)); },
       "Expected all tensors to be on the same device, but found at least two devices, vcuda:0 and vcuda:1!"},
      {"element-wise, order", [&] { at::mul(a(1), a(0)); }, "but found at least two devices, vcuda:1 and vcuda:0!"},
      {"with the CPU",
       [&] {
         at::add(a(0), at::zeros({3, 3}));
       },
       "found at least two devices, vcuda:0 and cpu!"},
      {"matrices", [&] { at::mm(a(0), a(1)); },
       "Expected all tensors to be on the same device, but got mat2 is on vcuda:1, different from other tensors on "
       "vcuda:0 (when checking argument in method wrapper_CUDA_mm)"},
      {"labels",
       [&] {
         at::nll_loss(a(0), labels({0, 1, 2}, 1));
       },
       "but got target is on vcuda:1, different from other tensors on vcuda:0 (when checking argument in method "
       "wrapper_CUDA_nll_loss_forward)"},
      {"labels on the CPU",
       [&] {
         at::nll_loss(a(0), longs({0, 1, 2}));
       },
       "but got target is on cpu, different from other tensors on vcuda:0"},
      {"embedding", [&] { at::embedding(a(0), labels({0}, 1)); },
       "but got index is on vcuda:1, different from other tensors on vcuda:0 (when checking argument in method "
       "wrapper_CUDA__index_select)"},
      {"gather",
       [&] {
         a(0).gather(0, longs({0}).reshape({1, 1}));
       },
       "but got index is on cpu"},
      {"indices", [&] { a(0).index({labels({0}, 1)}); },
       "indices should be either on cpu or on the same device as the indexed tensor (vcuda:0)"},
      {"no such device", [] { at::zeros({1}, on(7)); }, "CUDA error: invalid device ordinal"},
  });
  // A number from the CPU is welcome, and copies between devices are what they are for.
  EXPECT_EQ(at::add(a(1), at::scalar_tensor(2.f)).sum().item().toDouble(), 18);
  EXPECT_EQ(at::ones({3}, on(0)).to(vcuda_device(1)).device(), vcuda_device(1));
}

constexpr const char* kAssertText =
    "CUDA error: device-side assert triggered\n"
    "Search for `cudaErrorAssert' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more "
    "information.\n"
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be "
    "incorrect.\n"
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n";

TEST_F(AtenErrorTest, StickyErrorReachesEveryLaterCall) {
  const Tensor healthy = at::ones({2}, on());
  Tensor loss;
  EXPECT_NE(printed_by([&] { loss = at::nll_loss(at::zeros({2, 3}, on()), labels({3, 0})); }), "");
  // The launch itself said nothing.
  EXPECT_TRUE(loss.defined());
  const std::vector<std::function<void()>> later = {[&] { loss.item(); }, [&] { healthy.cpu(); },
                                                    [&] { at::add(healthy, healthy); }, [&] { healthy.clone(); },
                                                    [&] { healthy.index_select(0, labels({0})); }};
  for (const auto& call : later) EXPECT_EQ(refusal(call), kAssertText);
  vcuda::reset_contexts();
  EXPECT_EQ(at::ones({2}, on()).sum().item().toDouble(), 2);
}

TEST_F(AtenErrorTest, BlockingLaunchThrowsAtOnceAndSaysNothingOfAsynchrony) {
  vcuda::options().blocking = true;
  std::string message;
  printed_by([&] { message = refusal([] { at::nll_loss(at::zeros({2, 3}, on()), labels({3, 0})); }); });
  EXPECT_THAT(message, testing::StartsWith("CUDA error: device-side assert triggered\nSearch for `cudaErrorAssert'"));
  EXPECT_THAT(message, testing::Not(HasSubstr("asynchronously")));
  EXPECT_THAT(message, testing::EndsWith("Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"));
}

TEST_F(AtenErrorTest, OutOfMemory) {
  vcuda::options().memory_bytes = 1 << 20;
  vcuda::reset_contexts();
  try {
    at::empty({1 << 20}, on(1));
    FAIL() << "4 MiB fitted into 1 MiB";
  } catch (const c10::OutOfMemoryError& error) {
    EXPECT_THAT(
        error.what_without_backtrace(),
        HasSubstr("CUDA out of memory. Tried to allocate 4.00 MiB. GPU 1 has a total capacity of 1024.00 KiB of "
                  "which 1024.00 KiB is free."));
  }
  // It is not sticky.
  EXPECT_EQ(at::ones({2}, on(1)).sum().item().toDouble(), 2);
}

TEST_F(AtenErrorTest, MissingBoundsCheckIsSeenUnlessBlocksAreFull) {
  for (const std::int64_t n : {0, 256, 512}) {
    SCOPED_TRACE(n);
    call_operator("dsafuzz::scale_without_bounds_check", at::ones({n}, on()), 2);
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::none);
  }
  for (const std::int64_t n : {1, 255, 257}) {
    SCOPED_TRACE(n);
    vcuda::reset_contexts();
    call_operator("dsafuzz::scale", at::ones({n}, on()), 2);
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::none);
    const std::string printed =
        printed_by([&] { call_operator("dsafuzz::scale_without_bounds_check", at::ones({n}, on()), 2); });
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::illegal_address);
    EXPECT_THAT(printed, HasSubstr("Invalid __global__ read of size 4 bytes"));
    EXPECT_THAT(printed, HasSubstr("scale_without_bounds_check_kernel"));
  }
}

TEST_F(AtenErrorTest, UseAfterFree) {
  const Tensor x = at::ones({5}, on());
  EXPECT_EQ(call_operator("dsafuzz::sum_alive", x).item().toDouble(), 5);
  const std::string printed = printed_by([&] { call_operator("dsafuzz::sum_after_free", x); });
  EXPECT_EQ(vcuda::synchronize(), vcuda::Error::illegal_address);
  EXPECT_THAT(printed, HasSubstr("Invalid __global__ read of size 4 bytes"));
  EXPECT_THAT(printed, HasSubstr("sum_buffer_kernel"));
  EXPECT_THAT(refusal([&] { x.cpu(); }), testing::StartsWith("CUDA error: an illegal memory access was encountered\n"));
}

struct Cast {
  const char* name;
  std::function<Tensor()> call;
  at::ScalarType type;
};

TEST_F(AtenErrorTest, Autocast) {
  const Tensor x = at::ones({3, 3}, on());
  const Tensor half = x.to(at::kHalf);
  const Tensor grad = x.to(at::kDouble);
  at::autocast::set_autocast_enabled(at::kPrivateUse1, true);
  at::autocast::set_autocast_dtype(at::kPrivateUse1, at::kHalf);
  // As PyTorch's documentation lists CUDA's operators: matrices narrow, exponentials and losses wide, the rest as is.
  const std::vector<Cast> rows = {
      {"linear", [&] { return at::linear(x, x); }, at::kHalf},
      {"matmul", [&] { return at::matmul(x, x); }, at::kHalf},
      {"softmax", [&] { return at::softmax(half, 1); }, at::kFloat},
      {"log_softmax", [&] { return at::log_softmax(half, 1); }, at::kFloat},
      {"nll_loss",
       [&] {
         return at::nll_loss(half, labels({0, 1, 2}));
       },
       at::kFloat},
      {"sum", [&] { return at::sum(half); }, at::kFloat},
      {"sum of a type", [&] { return at::sum(half, at::kHalf); }, at::kHalf},
      {"norm", [&] { return at::norm(half, 2); }, at::kFloat},
      {"addcmul", [&] { return at::addcmul(half, x, x); }, at::kFloat},
      {"add", [&] { return at::add(half, half); }, at::kHalf},
      {"relu", [&] { return at::relu(half); }, at::kHalf},
      {"double stays", [&] { return at::linear(grad, grad); }, at::kDouble},
  };
  for (const Cast& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(row.call().scalar_type(), row.type);
  }
  EXPECT_THAT(refusal([&] { at::binary_cross_entropy(at::sigmoid(half), half); }), HasSubstr("are unsafe to autocast"));
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kPrivateUse1, false);
  EXPECT_EQ(at::linear(x, x).scalar_type(), at::kFloat);
}

TEST(AtenDeviceTest, NameParsesAndSeveralDevicesExist) {
  EXPECT_EQ(at::Device("vcuda:1"), vcuda_device(1));
  EXPECT_EQ(vcuda_device(0).str(), "vcuda:0");
  EXPECT_EQ(at::Device("vcuda").type(), at::kPrivateUse1);
}

}  // namespace
