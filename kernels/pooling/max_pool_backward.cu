// The kernels behind max_pool_backward.h. max_pool2d takes a thread for each input pixel, which collects what the
// windows over it send; the others take a thread for each output pixel, which sends.
#include <type_traits>

#include "kernels/arithmetic/divide.h"
#include "kernels/pooling/max_pool_backward.h"
#include "kernels/vcuda/floating.h"

namespace kernels {
namespace {

using vcuda::argument;
using vcuda::from_float;
using vcuda::to_float;

constexpr int kThreads = 256;
constexpr int kBlockX = 32, kBlockY = 8;
constexpr int kTurns = 8;  // a power of two
constexpr std::int64_t kMostBlocks = 65535;

// A window along one dimension, as its kernel reads it.
struct Window {
  explicit Window(const PoolWindow& given)
      : stride(given.stride), padding(given.padding), reach((given.kernel - 1) * given.dilation + 1) {}
  vcuda::Divisor stride;
  int padding, reach;
};

// The first and one past the last window over position `at`.
__device__ inline int first_window(int at, const Window& window) {
  const int past = at + argument(window.padding) - argument(window.reach);
  return past < 0 ? 0 : static_cast<int>(quotient(past, window.stride)) + 1;
}
__device__ inline int end_window(int at, const Window& window, int count) {
  const int end = static_cast<int>(quotient(at + argument(window.padding), window.stride)) + 1;
  return end < count ? end : count;
}

// What threads that run as one collect: `count` pixels side by side from number `first` and column `x` on, from windows
// [first_row, row_end) x [first_column, column_end), which are those over them.
template <typename T>
UNCHECKED void collect(T* out, int first, int x, int count, const T* top_diff, const std::int64_t* top_mask,
                       int first_row, int row_end, int first_column, int column_end, int pooled_width,
                       const Window& columns) {
  // Narrow types add up as floats, aside.
  constexpr bool kInPlace = std::is_same_v<T, Sum<T>>;
  Sum<T> aside[kInPlace ? 1 : vcuda::most_joined(kThreads)];
  Sum<T>* const sums = kInPlace ? reinterpret_cast<Sum<T>*>(out) : aside;
  for (int i = 0; i < count; ++i) sums[i] = 0;
  // What goes to other pixels is added where nobody reads it, at turns: one sum of it would be waited for each time.
  Sum<T> others[kTurns] = {};
  for (int row = first_row; row < row_end; ++row) {
    for (int column = first_column; column < column_end; ++column) {
      const std::int64_t at = static_cast<std::int64_t>(row) * pooled_width + column;
      const std::int64_t pixel = top_mask[at] - first;
      const std::int64_t in_window = pixel - (column * columns.stride.number - columns.padding - x);
      const bool is_over = static_cast<std::uint64_t>(in_window) < static_cast<std::uint64_t>(columns.reach);
      const bool is_here = static_cast<std::uint64_t>(pixel) < static_cast<std::uint64_t>(count);
      // Which of them it is nobody can guess: no branch.
      *((is_here & is_over) ? &sums[pixel] : &others[column & (kTurns - 1)]) += to_float(top_diff[at]);
    }
  }
  if constexpr (!kInPlace) {
    for (int i = 0; i < count; ++i) out[i] = from_float<T>(sums[i]);
  }
}

template <typename T>
__global__ void max_pool_backward_nchw(const T* top_diff, const std::int64_t* top_mask, int num, int channels,
                                       int height, KERNEL_STRUCT(vcuda::Divisor) width, int pooled_height,
                                       int pooled_width, KERNEL_STRUCT(Window) rows, KERNEL_STRUCT(Window) columns,
                                       T* bottom_diff) {
  const int row_length = static_cast<int>(argument(width.number)), pixels = height * row_length;
  const int first = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (first >= pixels) RETURN_ROW;
  const int end = first + vcuda::join_row(pixels - first);
  for (int n = static_cast<int>(blockIdx.y); n < num; n += static_cast<int>(gridDim.y)) {
    for (int c = static_cast<int>(blockIdx.z); c < channels; c += static_cast<int>(gridDim.z)) {
      const std::int64_t plane = static_cast<std::int64_t>(n) * channels + c;
      const std::int64_t windows = plane * pooled_height * pooled_width;
      int y = static_cast<int>(quotient(first, width)), x = first - y * row_length;
      for (int pixel = first; pixel < end; ++y, x = 0) {
        const int count = end - pixel < row_length - x ? end - pixel : row_length - x;
        const int first_row = first_window(y, rows), row_end = end_window(y, rows, pooled_height);
        const int first_column = first_window(x, columns);
        const int column_end = end_window(x + count - 1, columns, pooled_width);
        T* const out = vcuda::writable(&bottom_diff[plane * pixels + pixel], count);
        if (count == 1) {
          Sum<T> gradient = 0;
          for (int row = first_row; row < row_end; ++row) {
            for (int column = first_column; column < column_end; ++column) {
              const std::int64_t at = windows + static_cast<std::int64_t>(row) * pooled_width + column;
              if (top_mask[at] == pixel) gradient += to_float(top_diff[at]);
            }
          }
          vcuda::set(*out, from_float<T>(gradient));
        } else {
          const int over = column_end > first_column ? column_end - first_column : 0;
          for (int row = first_row; row < row_end; ++row) {
            const std::int64_t at = windows + static_cast<std::int64_t>(row) * pooled_width + first_column;
            vcuda::readable(&top_mask[at], over);
            vcuda::readable(&top_diff[at], over);
          }
          collect(out, pixel, x, count, &top_diff[windows], &top_mask[windows], first_row, row_end, first_column,
                  column_end, pooled_width, columns);
        }
        pixel += count;
      }
    }
  }
}

template <typename T>
__global__ void max_pool3d_with_indices_backward_single_out_frame(T* gradInputData, const T* gradOutput,
                                                                  const std::int64_t* indices, std::int64_t in_size,
                                                                  int out_time, int out_height, int out_width,
                                                                  std::int64_t offsetZ) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (row >= out_height || column >= out_width) return;
  const std::int64_t frame = blockIdx.z + offsetZ;
  const std::int64_t at = (frame * out_height + row) * out_width + column;
  const int maxIndex = static_cast<int>(indices[at]);
  if (maxIndex != -1) atomicAdd(&gradInputData[frame / out_time * in_size + maxIndex], gradOutput[at]);
}

// One kernel for both adaptive pools: blockIdx.x counts output planes (2d) or frames (3d).
template <typename T, typename Index>
__global__ void atomicadaptivemaxgradinput(T* gradInput, const T* gradOutput, const std::int64_t* indices,
                                           std::int64_t in_size, int out_time, int out_height, int out_width,
                                           std::int64_t offsetZ) {
  const std::int64_t frame = blockIdx.x + offsetZ;
  T* const into = gradInput + frame / out_time * in_size;
  for (int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y); row < out_height;
       row += static_cast<int>(blockDim.y * gridDim.y)) {
    for (int column = static_cast<int>(threadIdx.x); column < out_width; column += static_cast<int>(blockDim.x)) {
      const std::int64_t at = (frame * out_height + row) * out_width + column;
      const Index argmax = static_cast<Index>(indices[at]);
      atomicAdd(&into[argmax], gradOutput[at]);
    }
  }
}

unsigned blocks_of(int count, int threads) { return static_cast<unsigned>((count + threads - 1) / threads); }

#define POOL_LOCALS(ARGS)                                                                          \
  const auto* grad_output = static_cast<const T*>(ARGS.grad_output);                               \
  auto* grad_input = static_cast<T*>(ARGS.grad_input);                                             \
  const std::int64_t* indices = ARGS.indices;                                                      \
  const std::int64_t in_size = static_cast<std::int64_t>(ARGS.time) * ARGS.height * ARGS.width;    \
  const std::int64_t frames = static_cast<std::int64_t>(ARGS.batch) * ARGS.planes * ARGS.out_time; \
  const int out_time = ARGS.out_time, out_height = ARGS.out_height, out_width = ARGS.out_width;    \
  (void)in_size, (void)frames, (void)out_time

// ATen narrows the index unless the output sizes do not divide the input's in three dimensions.
template <typename Index>
void adaptive_backward(const MaxPoolBackward& args, int blocks_per_plane, vcuda::Stream stream) {
  with_floating(args.dtype, [&](auto element) {
    using T = typename decltype(element)::type;
    POOL_LOCALS(args);
    for (std::int64_t first = 0; first < frames; first += kMostBlocks) {
      const std::int64_t some = frames - first < kMostBlocks ? frames - first : kMostBlocks;
      const dim3 grid(static_cast<unsigned>(some), static_cast<unsigned>(blocks_per_plane > 1 ? blocks_per_plane : 1));
      LAUNCH((atomicadaptivemaxgradinput<T, Index>), grid, dim3(kBlockX, kBlockY), stream, grad_input, grad_output,
             indices, in_size, out_time, out_height, out_width, first);
    }
  });
}

}  // namespace

void max_pool2d_backward(const MaxPoolBackward& args, PoolWindow rows, PoolWindow columns, vcuda::Stream stream) {
  with_floating(args.dtype, [&](auto element) {
    using T = typename decltype(element)::type;
    POOL_LOCALS(args);
    const int num = args.batch, channels = args.planes, height = args.height, width = args.width;
    const int most = static_cast<int>(kMostBlocks);
    const dim3 grid(blocks_of(height * width, kThreads), static_cast<unsigned>(num < most ? num : most),
                    static_cast<unsigned>(channels < most ? channels : most));
    const vcuda::Divisor row_length = width;
    const Window over_rows(rows), over_columns(columns);
    LAUNCH((max_pool_backward_nchw<T>), grid, kThreads, stream, grad_output, indices, num, channels, height, row_length,
           out_height, out_width, over_rows, over_columns, grad_input);
  });
}

void max_pool3d_backward(const MaxPoolBackward& args, vcuda::Stream stream) {
  with_floating(args.dtype, [&](auto element) {
    using T = typename decltype(element)::type;
    POOL_LOCALS(args);
    for (std::int64_t first = 0; first < frames; first += kMostBlocks) {
      const std::int64_t some = frames - first < kMostBlocks ? frames - first : kMostBlocks;
      const dim3 grid(blocks_of(out_width, kBlockX), blocks_of(out_height, kBlockY), static_cast<unsigned>(some));
      LAUNCH((max_pool3d_with_indices_backward_single_out_frame<T>), grid, dim3(kBlockX, kBlockY), stream, grad_input,
             grad_output, indices, in_size, out_time, out_height, out_width, first);
    }
  });
}

void adaptive_max_pool2d_backward(const MaxPoolBackward& args, vcuda::Stream stream) {
  adaptive_backward<int>(args, 16 / args.planes, stream);
}

void adaptive_max_pool3d_backward(const MaxPoolBackward& args, vcuda::Stream stream) {
  const std::int64_t frames = static_cast<std::int64_t>(args.batch) * args.planes * args.out_time;
  const int blocks_per_plane = static_cast<int>(16 / frames);
  const bool even =
      args.time % args.out_time == 0 && args.height % args.out_height == 0 && args.width % args.out_width == 0;
  if (even) {
    adaptive_backward<int>(args, blocks_per_plane, stream);
  } else {
    adaptive_backward<std::int64_t>(args, blocks_per_plane, stream);
  }
}

}  // namespace kernels
