// The kernel behind bernoulli.h: 512 threads a block, four elements a thread, the last of the four checked first.
#include "kernels/indexing/element.h"
#include "kernels/indexing/offsets.h"
#include "kernels/sampling/bernoulli.h"
#include "kernels/sampling/random.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

constexpr std::int64_t kThreads = 512;
constexpr std::int64_t kStep = 4;
constexpr std::int64_t kMaxBlocks = 2147483647;

#define ASSERT_PROBABILITY(LINE, NAME)                                                   \
  DEVICE_ASSERT("aten/src/ATen/native/cuda/DistributionTemplates.h", LINE, "operator()", \
                "0 <= " #NAME " && " #NAME " <= 1", 0 <= probability[lane] && probability[lane] <= 1)

template <typename T, typename Probability>
__global__ void kernelPointwiseApply2(KERNEL_STRUCT(Bernoulli) args) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x * kStep;
  std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kStep;
  for (; first < args.count; first += stride) {
    const int lanes = static_cast<int>(args.count - first < kStep ? args.count - first : kStep);
    T* out[kStep];
    Probability probability[kStep];
    for (int lane = 0; lane < lanes; ++lane) {
      const Offsets<2> at = offsets_of(args.walk, first + lane);
      out[lane] = reinterpret_cast<T*>(static_cast<char*>(args.out) + at.bytes[0]);
      probability[lane] =
          *reinterpret_cast<const Probability*>(static_cast<const char*>(args.probabilities) + at.bytes[1]);
    }
    const RandomWords random = random_words(args.seed, static_cast<std::uint64_t>(first / kStep), 0);
    for (int lane = lanes - 1; lane >= 0; --lane) {
      if (lane == 3) ASSERT_PROBABILITY(624, p4);
      if (lane == 2) ASSERT_PROBABILITY(629, p3);
      if (lane == 1) ASSERT_PROBABILITY(634, p2);
      if (lane == 0) ASSERT_PROBABILITY(639, p1);
      *out[lane] =
          vcuda::from_float<T>(uniform_of(random.word[lane]) <= static_cast<double>(probability[lane]) ? 1 : 0);
    }
  }
}

template <typename T, typename Probability>
void launch_bernoulli(const Bernoulli& arguments, vcuda::Stream stream) {
  const std::int64_t wanted = (arguments.count + kThreads * kStep - 1) / (kThreads * kStep);
  const unsigned grid = static_cast<unsigned>(wanted < kMaxBlocks ? wanted : kMaxBlocks);
  const Bernoulli args = arguments;
  LAUNCH((kernelPointwiseApply2<T, Probability>), grid, kThreads, stream, args);
}

}  // namespace

void bernoulli(const Bernoulli& args, vcuda::Stream stream) {
  switch (args.dtype) {
    case vcuda::DType::f16: return launch_bernoulli<vcuda::Half, float>(args, stream);
    case vcuda::DType::bf16: return launch_bernoulli<vcuda::BFloat16, float>(args, stream);
    case vcuda::DType::f32: return launch_bernoulli<float, float>(args, stream);
    case vcuda::DType::f64: return launch_bernoulli<double, double>(args, stream);
    case vcuda::DType::i8: return launch_bernoulli<std::int8_t, float>(args, stream);
    case vcuda::DType::i16: return launch_bernoulli<std::int16_t, float>(args, stream);
    case vcuda::DType::i32: return launch_bernoulli<std::int32_t, float>(args, stream);
    case vcuda::DType::i64: return launch_bernoulli<std::int64_t, float>(args, stream);
    case vcuda::DType::u8:
    case vcuda::DType::boolean: return launch_bernoulli<std::uint8_t, float>(args, stream);
  }
}

}  // namespace kernels
