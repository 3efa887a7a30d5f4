// Random draws, late checks, and the operators around them that a CUDA device checks late or not at all: which assert a
// device prints for each row of the catalogue, what passes in silence, and what legal inputs give.
#include <ATen/ATen.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/kernels/assert_rows.h"
#include "tests/kernels/aten_parity.h"

namespace {

using testing::HasSubstr;
using Options = at::TensorOptions;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor floats(std::vector<double> values, at::ScalarType type = at::kFloat) {
  return at::tensor(values, Options(at::kDouble)).to(type).to(vcuda_device());
}
Tensor device_longs(std::vector<std::int64_t> values, at::ScalarType type = at::kLong) {
  return longs(std::move(values), type).to(vcuda_device());
}
Tensor complex_zero(at::ScalarType type) { return at::zeros({}, Options(type)).to(vcuda_device()); }

struct Assert {
  const char* row;
  std::function<void()> call;
  const char* where;
  const char* function;
  std::string condition;
  const char* thread = "block: [0,0,0], thread: [0,0,0]";
};

void expect_asserts(const std::vector<Assert>& rows) {
  for (const Assert& row : rows) {
    SCOPED_TRACE(row.row);
    expect_assert(row.call, row.where, row.function, row.condition, row.thread);
  }
}

#define DISTRIBUTION "aten/src/ATen/native/cuda/DistributionTemplates.h:"
constexpr const char* kPoisson = "aten/src/ATen/native/cuda/Distributions.cu:50";
constexpr const char* kRate = "lambda >= 0 && \"invalid Poisson rate, expected rate to be non-negative\"";
constexpr const char* kCompare = "aten/src/ATen/native/cuda/TensorCompare.cu:109";
constexpr const char* kAsync = "_assert_async_cuda_kernel";
constexpr const char* kBadWeight = "probability tensor contains either `inf`, `nan` or element < 0";
constexpr const char* kNoWeight = "invalid multinomial distribution (sum of probabilities <= 0)";
constexpr const char* kRenorm = "aten/src/ATen/native/cuda/MultinomialKernel.cu:60";
constexpr const char* kSearch = "aten/src/ATen/native/cuda/MultinomialKernel.cu:112";
constexpr const char* kSum = "cumdist[size - 1] > static_cast<scalar_t>(0)";

std::vector<Assert> draws() {
  const auto four = [](int bad, double value) {
    std::vector<double> p(4, 0.5);
    p[static_cast<std::size_t>(bad)] = value;
    return floats(p);
  };
  return {
      {"U43 first lane", [=] { at::bernoulli(floats({1.5})); }, DISTRIBUTION "639", "operator()", "0 <= p1 && p1 <= 1"},
      {"U43 second lane", [=] { at::bernoulli(four(1, -0.5)); }, DISTRIBUTION "634", "operator()",
       "0 <= p2 && p2 <= 1"},
      {"U43 third lane", [=] { at::bernoulli(four(2, kNan)); }, DISTRIBUTION "629", "operator()", "0 <= p3 && p3 <= 1"},
      {"U43 fourth lane", [=] { at::bernoulli(four(3, 2)); }, DISTRIBUTION "624", "operator()", "0 <= p4 && p4 <= 1"},
      {"U43 second thread", [=] { at::bernoulli(floats({0, 0, 0, 0, 1.5})); }, DISTRIBUTION "639", "operator()",
       "0 <= p1 && p1 <= 1", "block: [0,0,0], thread: [1,0,0]"},
      {"U43 second block", [=] { at::bernoulli((at::arange(2049) == 2048).to(at::kFloat).mul(2).to(vcuda_device())); },
       DISTRIBUTION "639", "operator()", "0 <= p1 && p1 <= 1", "block: [1,0,0], thread: [0,0,0]"},
      {"U43 integers", [=] { device_longs({0}, at::kInt).bernoulli_(floats({1.5})); }, DISTRIBUTION "639", "operator()",
       "0 <= p1 && p1 <= 1"},
      {"U43 double", [=] { at::bernoulli(floats({1 + 1e-12}, at::kDouble)); }, DISTRIBUTION "639", "operator()",
       "0 <= p1 && p1 <= 1"},
      {"U44", [] { at::poisson(floats({-1})); }, kPoisson, "operator()", kRate},
      {"U44 not a number", [] { at::poisson(floats({1, kNan})); }, kPoisson, "operator()", kRate,
       "block: [0,0,0], thread: [1,0,0]"},
      {"U44 half", [] { at::poisson(floats({-1}, at::kHalf)); }, kPoisson, "operator()", kRate},
      {"U45 negative", [] { at::multinomial(floats({-1, 1}), 1); }, kCompare, kAsync, kBadWeight},
      {"U45 not a number", [] { at::multinomial(floats({kNan, 1}), 1); }, kCompare, kAsync, kBadWeight},
      {"U45 infinite", [] { at::multinomial(floats({kInf, 1}), 1, /*replacement=*/true); }, kCompare, kAsync,
       kBadWeight},
      {"U46", [] { at::multinomial(floats({0, 0}), 1); }, kCompare, kAsync, kNoWeight},
      {"U46 one row", [] { at::multinomial(floats({0, 0, 1, 1}).reshape({2, 2}), 2); }, kCompare, kAsync, kNoWeight},
      {"U47", [] { at::multinomial(floats({-1, 1}), 3, true); }, kRenorm, "renormRowsL1", "!(val < zero)"},
      {"U47 second row", [] { at::multinomial(floats({1, 1, 2, -kInf}).reshape({2, 2}), 3, true); }, kRenorm,
       "renormRowsL1", "!(val < zero)", "block: [1,0,0], thread: [1,0,0]"},
      {"U48", [] { at::multinomial(floats({0, 0}), 3, true); }, kSearch, "binarySearchForMultinomial", kSum},
      {"U48 not a number", [] { at::multinomial(floats({kNan, 1}), 3, true); }, kSearch, "binarySearchForMultinomial",
       kSum},
      {"U48 infinite", [] { at::multinomial(floats({kInf, 1}), 3, true); }, kSearch, "binarySearchForMultinomial",
       kSum},
      {"U48 second row, half", [] { at::multinomial(floats({1, 1, 0, 0}, at::kHalf).reshape({2, 2}), 3, true); },
       kSearch, "binarySearchForMultinomial", kSum, "block: [0,1,0], thread: [0,0,0]"},
  };
}

std::vector<Assert> late_checks() {
  std::vector<Assert> rows = {
      {"U49 without a message", [] { at::_assert_async(device_longs({0})); }, kCompare, kAsync, ""},
      {"U49", [] { at::_assert_async(device_longs({0}, at::kBool), "my msg"); }, kCompare, kAsync, "my msg"},
      {"U49 back quotes", [] { at::_assert_async(floats({0}), "`a` failed.\\n`%s"); }, kCompare, kAsync,
       "`a` failed.\\n`%s"},
      {"U49 longest", [] { at::_assert_async(floats({-0.0}), std::string(254, 'x')); }, kCompare, kAsync,
       std::string(254, 'x')},
      {"U49 functional", [] { at::_functional_assert_async(device_longs({0}), "m", device_longs({0})); }, kCompare,
       kAsync, "m"},
      {"U50", [] { at::_assert_async(complex_zero(at::kComplexFloat), "c"); },
       "aten/src/ATen/native/cuda/TensorCompare.cu:113", kAsync, "c"},
      {"U50 double", [] { at::_assert_async(complex_zero(at::kComplexDouble)); },
       "aten/src/ATen/native/cuda/TensorCompare.cu:116", kAsync, ""},
  };
  for (const at::ScalarType type :
       {at::kByte, at::kChar, at::kShort, at::kInt, at::kHalf, at::kBFloat16, at::kDouble}) {
    rows.push_back({at::toString(type), [type] { at::_assert_async(device_longs({0}, type)); }, kCompare, kAsync, ""});
  }
  return rows;
}

#define GROUP "aten/src/ATen/native/cuda/GroupMMCommon.cuh:"
constexpr const char* kFalling = "delta >=0 && \"expected gemm dimension to be greater or equal 0\\n\"";
constexpr const char* kLess = "\"expected offset to be less than tensor size\\n\"";
constexpr const char* kAligned =
    "delta % align == 0 && \"expected input tensor dynamic dimension byte size to be non-negative multiple of 16\\n\"";
constexpr const char* kAlignedOutput =
    "delta % align == 0 && \"expected output tensor dynamic dimension byte size to be non-negative multiple of 16\\n\"";

void grouped(at::IntArrayRef a, const Tensor& b, std::vector<std::int64_t> ends) {
  const Options on = Options(vcuda_device()).dtype(at::kBFloat16);
  at::_grouped_mm(at::ones(a, on), b.to(on), device_longs(std::move(ends), at::kInt));
}

std::vector<Assert> grouped_products() {
  const char* kernel = "prepare_grouped_gemm_data";
  const char* second = "block: [0,0,0], thread: [1,0,0]";
  const Tensor cube = at::ones({2, 16, 16}), flat = at::ones({16, 32}), tall = at::ones({32, 16});
  return {
      {"U62", [=] { grouped({32, 16}, cube, {24, 16}); }, GROUP "54", kernel, kFalling, second},
      {"U62 negative", [=] { grouped({32, 16}, cube, {-8, 32}); }, GROUP "54", kernel, kFalling},
      {"U63", [=] { grouped({32, 16}, cube, {16, 64}); }, GROUP "89", kernel,
       std::string("offset <= tensor_ShapeA[0] && ") + kLess, second},
      {"U64", [=] { grouped({2, 16, 16}, flat, {16, 48}); }, GROUP "102", kernel,
       std::string("offset <= tensor_ShapeB[1] && ") + kLess, second},
      {"U65", [=] { grouped({16, 32}, tall, {16, 48}); }, GROUP "115", kernel,
       std::string("offset <= tensor_ShapeA[1] && offset <= tensor_ShapeB[0] && ") + kLess, second},
      {"U66", [=] { grouped({16, 32}, tall, {5, 32}); }, GROUP "64", kernel, kAligned},
      {"U67", [=] { grouped({2, 16, 16}, flat, {5, 32}); }, GROUP "71", kernel, kAligned},
      {"U68",
       [=] {
         const Options on = Options(vcuda_device()).dtype(at::kBFloat16);
         at::_grouped_mm(at::ones({2, 16, 16}, on), at::ones({32, 16}, on).t(), device_longs({5, 32}, at::kInt));
       },
       GROUP "80", kernel, kAlignedOutput},
  };
}

std::vector<Assert> casts() {
  const auto two = [](at::ScalarType type) { return at::empty({2}, Options(vcuda_device()).dtype(type)); };
  const char* store = "c10/core/DynamicCast.h:105";
  return {
      {"U69 bits8",
       [=] {
         Tensor out = two(at::kBits8);
         at::add_out(out, floats({1, 1}), floats({1, 1}));
       },
       store, "cast_and_store", "false"},
      {"U69 uint4",
       [=] {
         Tensor out = two(at::kUInt4);
         at::add_out(out, floats({1, 1}), floats({1, 1}));
       },
       store, "cast_and_store", "false", "block: [0,0,0], thread: [1,0,0]"},
      {"U69 sin",
       [=] {
         Tensor out = two(at::kBits8);
         at::sin_out(out, floats({1, 1}));
       },
       store, "cast_and_store", "false"},
      {"U70", [=] { at::add(floats({1, 1}), two(at::kUInt4)); }, "c10/core/DynamicCast.h:79", "fetch_and_cast",
       "false"},
  };
}

class AtenSamplingTest : public AtenParityTest {};

TEST_F(AtenSamplingTest, Draws) { expect_asserts(draws()); }
TEST_F(AtenSamplingTest, LateChecks) { expect_asserts(late_checks()); }
TEST_F(AtenSamplingTest, GroupedProducts) { expect_asserts(grouped_products()); }
TEST_F(AtenSamplingTest, Casts) { expect_asserts(casts()); }

// One line a thread: the last bad lane is met first, and ends it.
TEST_F(AtenSamplingTest, AThreadPrintsOneLane) {
  const std::string printed = printed_by([] {
    at::bernoulli(floats({2, 2, 2, 2}));
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::assert_triggered);
  });
  EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 1);
  EXPECT_THAT(printed, HasSubstr("p4"));
}

struct Rejected {
  const char* row;
  std::function<void(Device on)> call;
  const char* message;
};

// The host refuses these before any kernel, in the same words on either device.
TEST_F(AtenSamplingTest, HostChecks) {
  const auto normal = [](Device on, double deviation) { at::normal(at::zeros(1).to(on), floats({deviation}).to(on)); };
  const std::vector<Rejected> rows = {
      {"H02", [=](Device on) { normal(on, -1); }, "normal expects all elements of std >= 0.0"},
      {"H02 not a number", [=](Device on) { normal(on, kNan); }, "normal expects all elements of std >= 0.0"},
      {"H02 scalar mean", [](Device on) { at::normal(0.0, floats({-1}).to(on)); },
       "normal expects all elements of std >= 0.0"},
      {"H11 bernoulli", [](Device on) { at::zeros(1).to(on).bernoulli_(1.5); },
       "bernoulli_ expects p to be in [0, 1], but got p=1.5"},
      {"H11 exponential", [](Device on) { at::zeros(1).to(on).exponential_(-1); },
       "exponential_ expects lambda > 0.0, but found lambda=-1"},
      {"H11 geometric", [](Device on) { at::zeros(1).to(on).geometric_(2); },
       "geometric_ expects p to be in (0, 1), but got p=2"},
      {"no dimension", [](Device on) { at::multinomial(at::ones({}).to(on), 1); }, "prob_dist must be 1 or 2 dim"},
      {"too many samples", [](Device on) { at::multinomial(at::ones(2).to(on), 3); },
       "cannot sample n_sample > prob_dist.size(-1) samples without replacement"},
      {"no samples", [](Device on) { at::multinomial(at::ones(2).to(on), 0, true); },
       "cannot sample n_sample <= 0 samples"},
      {"two values", [](Device on) { at::_assert_async(at::ones(2).to(on)); },
       "Boolean value of Tensor with more than one value is ambiguous"},
      {"no value", [](Device on) { at::_assert_async(at::ones(0).to(on)); },
       "Boolean value of Tensor with no values is ambiguous"},
      {"blank", [](Device on) { at::_ctc_loss(at::zeros({2, 1, 3}).to(on), longs({1}).to(on), {2}, {1}, 3); },
       "blank must be in label range"},
      {"steps", [](Device on) { at::_ctc_loss(at::zeros({2, 1, 3}).to(on), longs({1}).to(on), {3}, {1}); },
       "Expected input_lengths to have value at most 2, but got value 3"},
  };
  for (const Rejected& row : rows) {
    SCOPED_TRACE(row.row);
    for (const Device on : {Device(at::kCPU), vcuda_device()}) {
      try {
        row.call(on);
        ADD_FAILURE() << "accepted on " << on;
      } catch (const c10::AcceleratorError& error) {
        ADD_FAILURE() << error.what();
      } catch (const c10::Error& error) {
        EXPECT_THAT(error.what_without_backtrace(), HasSubstr(row.message)) << on;
      }
    }
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::none);
  }
  // The CPU takes messages of any length.
  EXPECT_THROW(at::_assert_async(floats({1}), std::string(255, 'x')), c10::Error);
}

// No kernel looks at these, on any device.
TEST_F(AtenSamplingTest, Silent) {
  EXPECT_TRUE(at::equal(at::binomial(floats({5}), floats({1.5})).cpu(), at::full(1, 5.0)));  // S19
  EXPECT_TRUE(at::equal(at::binomial(floats({-1}), floats({0.5})).cpu(), at::zeros(1)));     // S19
  EXPECT_GE(at::_standard_gamma(floats({-1})).item<float>(), 0);                             // S19
  EXPECT_EQ(at::_sample_dirichlet(floats({-1, 1})).numel(), 2);                              // S19
  EXPECT_EQ(at::poisson(floats({kInf}, at::kDouble)).item<double>(), 4294967295.0);          // S19
  const Tensor taken = at::take_along_dim(at::arange(4, Options(vcuda_device())), device_longs({5, -6, 100, 4}), 0);
  EXPECT_TRUE(at::equal(taken.cpu(), at::tensor({1, 2, 0, 0}).to(at::kLong)));  // S12
  at::_assert_async(floats({kNan}));
  at::_assert_async(at::full({}, c10::complex<float>(0, 1), Options(at::kComplexFloat)).to(vcuda_device()));
  // Fewer weights than samples: the CPU draws them too.
  EXPECT_EQ(at::multinomial(floats({0, 0, 1}), 2)[0].item<std::int64_t>(), 2);
  EXPECT_EQ(vcuda::synchronize(), vcuda::Error::none);
}

// S08: the first sample's label lies in the second one's row, so nothing is out of bounds and nothing is said.
TEST_F(AtenSamplingTest, LabelsOfCtcLossAreNotChecked) {
  const Tensor input = at::log_softmax(ramp({5, 2, 3}), 2).to(vcuda_device()).requires_grad_();
  const Tensor loss = at::ctc_loss(input, device_longs({3, 1}).reshape({2, 1}), at::IntArrayRef({5, 5}), {1, 1});
  EXPECT_TRUE(std::isfinite(loss.item<float>()));
  EXPECT_EQ(vcuda::synchronize(), vcuda::Error::none);
  // Past the tensor's end it is an illegal read.
  const std::string printed = printed_by([] {
    at::_ctc_loss(at::zeros({5, 1, 3}).to(vcuda_device()), device_longs({1, 7}).reshape({1, 2}), {5}, {2});
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::illegal_address);
  });
  EXPECT_THAT(printed, HasSubstr("Invalid __global__ read of size 4 bytes"));
  EXPECT_THAT(printed, HasSubstr("ctc_loss_log_alpha_gpu_kernel"));
}

// S17: heap damage on the CPU, an illegal write on a device.
TEST_F(AtenSamplingTest, ConvertedIndicesAreNotChecked) {
  const std::string printed = printed_by([] {
    at::_convert_indices_from_coo_to_csr(device_longs({0, 1000000}), 4);
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::illegal_address);
    vcuda::reset_contexts();
    at::_convert_indices_from_csr_to_coo(device_longs({0, 900, 2}), device_longs({0, 1}));
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::illegal_address);
  });
  EXPECT_THAT(printed, HasSubstr("convert_indices_from_coo_to_csr_cuda_kernel"));
  EXPECT_THAT(printed, HasSubstr("convert_indices_from_csr_to_coo_cuda_kernel"));
}

// The neighbours of U69 and U70 that the host refuses, as the CPU does.
TEST_F(AtenSamplingTest, OneUnknownTypeHasNoKernel) {
  const Tensor nibbles = at::empty({2}, Options(vcuda_device()).dtype(at::kUInt4));
  EXPECT_THROW(at::add(nibbles, nibbles), c10::NotImplementedError);
  Tensor none = at::empty({0}, Options(vcuda_device()).dtype(at::kBits8));
  EXPECT_THROW(at::add_out(none, floats({1, 1}), floats({1, 1, 1})), c10::Error);
  Tensor bits = at::empty({2}, Options(vcuda_device()).dtype(at::kBits8));
  const Tensor complex = at::empty({2}, Options(vcuda_device()).dtype(at::kComplexFloat));
  EXPECT_THROW(at::add_out(bits, complex, complex), c10::Error);     // no complex number becomes another
  EXPECT_THROW(at::add(nibbles, device_longs({1, 1})), c10::Error);  // such integers have no common type
  EXPECT_EQ(vcuda::synchronize(), vcuda::Error::none);
}

}  // namespace
