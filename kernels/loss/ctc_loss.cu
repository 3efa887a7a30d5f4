// The kernels behind ctc_loss.h. The path through a sample's labels has a blank before, between and after them: 2 * L +
// 1 states. A block takes one or more samples (y) and their states (x), and all its threads go through time together.
#include <cmath>

#include "kernels/arithmetic/joined.h"
#include "kernels/indexing/element.h"
#include "kernels/loss/ctc_loss.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

constexpr std::int64_t kMaxGridY = 65535;

using vcuda::argument;

// The label of a state; every second one is blank.
__device__ inline std::int64_t label_at(const CtcLoss& args, std::int64_t offset, std::int64_t state) {
  if (state % 2 == 0) return argument(args.blank);
  return argument(args.labels)[offset + argument(args.label_stride) * (state / 2)];
}

template <typename T>
__device__ inline T log_add(T a, T b) {
  const T most = a < b ? b : a;
  if (most == -INFINITY) return most;
  return most + std::log(std::exp(a - most) + std::exp(b - most));
}

template <typename T>
__device__ inline const T& log_probability(const CtcLoss& args, std::int64_t step, std::int64_t sample,
                                           std::int64_t label) {
  return static_cast<const T*>(
      argument(args.log_probabilities))[step * argument(args.step_stride) + sample * argument(args.batch_stride) +
                                        label * argument(args.class_stride)];
}

// A sample as a recurrence walks it: alpha's forwards from the first two states, beta's backwards from the last two.
template <bool kForward>
struct Path {
  std::int64_t sample, steps, states, offset;

  __device__ Path(const CtcLoss& args, std::int64_t number) : sample(number), steps(0), states(0), offset(0) {
    if (sample >= args.batch) return;
    steps = args.steps_of[sample];
    states = 2 * args.labels_of[sample] + 1;
    offset = args.label_offsets[sample];
  }
  __device__ std::int64_t step_at(std::int64_t turn) const { return kForward ? turn : steps - 1 - turn; }
  __device__ std::int64_t from_end(std::int64_t state) const { return kForward ? state : states - 1 - state; }
};

// A label is first looked up behind a barrier, where a thread that runs for others cannot say for which one it fails:
// so it looks at all of them before.
template <typename T, bool kForward>
__device__ void check_lookups(const CtcLoss& args, const Path<kForward>& path, const Joined& joined) {
  for_each_joined(joined, static_cast<int>(blockDim.x), path.states, [&](std::int64_t s, int) {
    const std::int64_t label = label_at(args, path.offset, s);
    for (std::int64_t turn = path.from_end(s) < 2 ? 0 : 1; turn < path.steps; ++turn) {
      vcuda::readable(&log_probability<T>(args, path.step_at(turn), path.sample, label), 1);
    }
  });
}

template <typename T, bool kForward>
__device__ T next_value(const CtcLoss& args, const T* rows, const Path<kForward>& path, std::int64_t turn,
                        std::int64_t s) {
  constexpr std::int64_t kBack = kForward ? -1 : 1;
  const std::int64_t label = label_at(args, path.offset, s), from_end = path.from_end(s), step = path.step_at(turn);
  if (turn == 0) {
    return from_end < 2 ? log_probability<T>(args, step, path.sample, label) : static_cast<T>(-INFINITY);
  }
  const T* const before = rows + (step + kBack) * (2 * argument(args.most_labels) + 1);
  T value = before[s];
  if (from_end >= 1) value = log_add(value, before[s + kBack]);
  // A state may be skipped only between two different labels; blanks are always alike.
  if (from_end >= 2 && label_at(args, path.offset, s + 2 * kBack) != label) {
    value = log_add(value, before[s + 2 * kBack]);
  }
  return value + log_probability<T>(args, step, path.sample, label);
}

template <typename T, bool kForward>
__device__ void run_recurrence(const CtcLoss& args, T* table, std::int64_t sample, const Joined& joined) {
  const std::int64_t all_states = 2 * args.most_labels + 1, turns = args.steps;
  const Path<kForward> path(args, sample);
  if (joined.threads > 1) check_lookups<T>(args, path, joined);
  T* const rows = table + (sample < args.batch ? sample * turns * all_states : 0);
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    const std::int64_t count = turn < path.steps ? all_states : 0;
    for_each_joined(joined, static_cast<int>(blockDim.x), count, [&](std::int64_t s, int) {
      rows[path.step_at(turn) * all_states + s] =
          s < path.states ? next_value(args, rows, path, turn, s) : static_cast<T>(-INFINITY);
    });
    __syncthreads();
  }
}

template <typename T>
__global__ void ctc_loss_log_alpha_gpu_kernel(KERNEL_STRUCT(CtcLoss) args, T* losses, T* log_alpha) {
  const std::int64_t all_states = 2 * args.most_labels + 1;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.y) * blockDim.y;
  const Joined joined = join(static_cast<int>(blockDim.x));
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * blockDim.y; first < args.batch; first += stride) {
    const std::int64_t sample = first + threadIdx.y;
    run_recurrence<T, true>(args, log_alpha, sample, joined);
    if (joined.first != 0 || sample >= args.batch) continue;
    const std::int64_t steps = args.steps_of[sample], labels = args.labels_of[sample];
    if (steps == 0) {
      losses[sample] = static_cast<T>(labels == 0 ? 0 : INFINITY);
      continue;
    }
    const T* const last = log_alpha + (sample * args.steps + steps - 1) * all_states;
    losses[sample] = -(labels == 0 ? last[0] : log_add(last[2 * labels], last[2 * labels - 1]));
  }
}

template <typename T>
__global__ void ctc_loss_backward_log_beta_gpu_kernel(KERNEL_STRUCT(CtcLoss) args, T* log_beta) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.y) * blockDim.y;
  const Joined joined = join(static_cast<int>(blockDim.x));
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * blockDim.y; first < args.batch; first += stride) {
    run_recurrence<T, false>(args, log_beta, first + threadIdx.y, joined);
  }
}

// One thread a step and sample: the probability of being at each label, then the gradient from it.
template <typename T>
__global__ void ctc_loss_backward_collect_gpu_kernel(KERNEL_STRUCT(CtcLoss) args, const T* losses, const T* log_alpha,
                                                     const T* log_beta, const T* grad, T* grad_input,
                                                     bool zero_infinity) {
  const std::int64_t step = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t sample = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  if (step >= args.steps || sample >= args.batch) return;
  T* const out = grad_input + (step * args.batch + sample) * args.classes;
  const T loss = losses[sample];
  if (step >= args.steps_of[sample] || (zero_infinity && loss == static_cast<T>(INFINITY))) {
    for (std::int64_t c = 0; c < args.classes; ++c) out[c] = 0;
    return;
  }
  const std::int64_t all_states = 2 * args.most_labels + 1;
  const std::int64_t row = (sample * args.steps + step) * all_states;
  for (std::int64_t s = 0; s < 2 * args.labels_of[sample] + 1; ++s) {
    T& entry = out[label_at(args, args.label_offsets[sample], s)];
    entry = log_add(entry, log_alpha[row + s] + log_beta[row + s]);
  }
  for (std::int64_t c = 0; c < args.classes; ++c) {
    const T log_probability_here = log_probability<T>(args, step, sample, c);
    out[c] = (std::exp(log_probability_here) - std::exp(out[c] + loss - log_probability_here)) * grad[sample];
  }
}

struct Shape {
  dim3 grid, block;
};

// Threads for a sample's states, halved while all of them still fit; what is left takes further samples.
Shape shape_for(std::int64_t across, std::int64_t batch, std::int64_t most_threads) {
  std::int64_t x = most_threads;
  while (x / 2 >= across) x /= 2;
  const std::int64_t y = most_threads / x < batch ? most_threads / x : batch;
  const std::int64_t rows = (batch + y - 1) / y;
  return {dim3(static_cast<unsigned>((across + x - 1) / x), static_cast<unsigned>(rows < kMaxGridY ? rows : kMaxGridY)),
          dim3(static_cast<unsigned>(x), static_cast<unsigned>(y))};
}

template <typename Launch>
void with_type(vcuda::DType dtype, const Launch& launch) {
  if (dtype == vcuda::DType::f32) {
    launch(Element<float>{}, 1024);
  } else {
    launch(Element<double>{}, 768);
  }
}

}  // namespace

void ctc_loss_forward(const CtcLoss& arguments, void* losses, void* log_alpha, vcuda::Stream stream) {
  with_type(arguments.dtype, [&](auto element, std::int64_t threads) {
    using T = typename decltype(element)::type;
    const CtcLoss args = arguments;
    Shape shape = shape_for(2 * args.most_labels + 1, args.batch, threads);
    shape.grid.x = 1;  // the block's threads walk over the states that it has no thread for
    auto* loss = static_cast<T*>(losses);
    auto* alpha = static_cast<T*>(log_alpha);
    LAUNCH_WITH_BARRIERS((ctc_loss_log_alpha_gpu_kernel<T>), shape.grid, shape.block, stream, args, loss, alpha);
  });
}

void ctc_loss_backward(const CtcLoss& arguments, const void* losses, const void* log_alpha, const void* grad,
                       void* log_beta, void* grad_input, bool zero_infinity, vcuda::Stream stream) {
  with_type(arguments.dtype, [&](auto element, std::int64_t threads) {
    using T = typename decltype(element)::type;
    const CtcLoss args = arguments;
    Shape shape = shape_for(2 * args.most_labels + 1, args.batch, threads);
    shape.grid.x = 1;
    auto* beta = static_cast<T*>(log_beta);
    LAUNCH_WITH_BARRIERS((ctc_loss_backward_log_beta_gpu_kernel<T>), shape.grid, shape.block, stream, args, beta);
    const Shape collect = shape_for(args.steps, args.batch, threads);
    const auto* loss = static_cast<const T*>(losses);
    const auto* alpha = static_cast<const T*>(log_alpha);
    const auto* grad_output = static_cast<const T*>(grad);
    auto* out = static_cast<T*>(grad_input);
    const bool zero = zero_infinity;
    LAUNCH((ctc_loss_backward_collect_gpu_kernel<T>), collect.grid, collect.block, stream, args, loss, alpha, beta,
           grad_output, out, zero);
  });
}

}  // namespace kernels
