// The kernels behind take_put.h: 128 threads a block, 4 elements a thread, as ATen launches them.
#include "kernels/indexing/combine.h"
#include "kernels/indexing/element.h"
#include "kernels/indexing/offsets.h"
#include "kernels/indexing/take_put.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

using vcuda::argument;

constexpr int kThreads = 128;
constexpr int kPerThread = 4;

// Elements that lie side by side, as do their positions, in few instructions: copies up to the first position that is
// out of range, and says how many that were.
template <typename T>
UNCHECKED int take_run(T* to, const std::int64_t* indices, const char* indexed, std::int64_t stride, std::int64_t numel,
                       int count) {
  int i = 0;
  for (; i < count; ++i) {
    const std::int64_t at = indices[i] < 0 ? indices[i] + numel : indices[i];
    if (static_cast<std::uint64_t>(at) >= static_cast<std::uint64_t>(numel)) break;
    to[i] = *vcuda::readable(reinterpret_cast<const T*>(indexed + at * stride), 1);
  }
  return i;
}

// `kMost`: threads that may run as one, which an atomic operation forbids.
template <typename T>
struct Take {
  using Type = T;
  static constexpr bool kIsTake = true;
  static constexpr int kMost = kThreads;
  __device__ static void move(char* indexed, char* iterated, int) {
    *reinterpret_cast<T*>(iterated) = *reinterpret_cast<const T*>(indexed);
  }
};
template <typename T>
struct Put {
  static constexpr bool kIsTake = false;
  static constexpr int kMost = kThreads;
  __device__ static void move(char* indexed, char* iterated, int) {
    *reinterpret_cast<T*>(indexed) = *reinterpret_cast<const T*>(iterated);
  }
};
template <typename T>
struct PutAccumulate {
  static constexpr bool kIsTake = false;
  static constexpr int kMost = 1;
  __device__ static void move(char* indexed, char* iterated, int components) {
    for (int i = 0; i < components; ++i) {
      const T value = reinterpret_cast<const T*>(iterated)[i];
      vcuda::update_atomically(reinterpret_cast<T*>(indexed) + i,
                               [=](T old) { return combined<T>(old, value, Reduction::add); });
    }
  }
};

__device__ inline std::int64_t checked_position(std::int64_t idx, std::int64_t numel) {
  DEVICE_ASSERT("aten/src/ATen/native/cuda/IndexKernel.cu", 339, "operator()",
                "idx < numel && idx >= -numel && \"cuda_take_put_kernel() index out of bounds\"",
                idx < numel && idx >= -numel);
  return idx < 0 ? idx + numel : idx;
}

template <typename Move>
__global__ void index_elementwise_kernel(KERNEL_STRUCT(TakePut) args, int components) {
  const std::int64_t numel = args.numel, step = argument(args.walk.strides[0][0]);
  const std::int64_t index_step = argument(args.walk.strides[1][0]);
  auto* const indexed = static_cast<char*>(args.indexed);
  const Elements elements = elements_of_thread<kThreads, kPerThread>(Move::kMost);
  for_each_run<kThreads, kPerThread>(args.walk, args.count, elements, [&](const Offsets<2>& at, int together) {
    char* const iterated = static_cast<char*>(argument(args.iterated)) + at.bytes[0];
    const Run<std::int64_t> indices(static_cast<const char*>(argument(args.index)) + at.bytes[1], index_step, together);
    int done = 0;
    if constexpr (Move::kIsTake) {
      const Run<typename Move::Type> to(iterated, step, together);
      if (indices.is_checked() && to.is_checked() && argument(args.indexed_walk.dims) == 1) {
        const std::int64_t stride = argument(args.indexed_walk.strides[0][0]);
        done = take_run(to.first(), indices.first(), indexed, stride, numel, together);
        if (done != 0) checked_position(indices.get(0), numel);  // reached, and passed by all of them
      }
    }
    for (int i = done; i < together; ++i) {
      const Offsets<1> there = offsets_of(args.indexed_walk, checked_position(indices.get(i), numel));
      Move::move(indexed + there.bytes[0], iterated + i * step, components);
    }
  });
}

template <typename Move>
void launch_moves(const TakePut& arguments, int numbers, vcuda::Stream stream) {
  constexpr std::int64_t kPerBlock = kThreads * kPerThread;
  const unsigned grid = static_cast<unsigned>((arguments.count + kPerBlock - 1) / kPerBlock);
  const TakePut args = arguments;
  const int components = numbers;
  LAUNCH((index_elementwise_kernel<Move>), grid, kThreads, stream, args, components);
}

}  // namespace

void take(const TakePut& args, vcuda::Stream stream) {
  with_element_of(args.element_bytes,
                  [&](auto element) { launch_moves<Take<typename decltype(element)::type>>(args, 1, stream); });
}

void put(const TakePut& args, vcuda::Stream stream) {
  with_element_of(args.element_bytes,
                  [&](auto element) { launch_moves<Put<typename decltype(element)::type>>(args, 1, stream); });
}

void put_accumulate(const TakePut& args, vcuda::DType dtype, int components, vcuda::Stream stream) {
  with_arithmetic(dtype, [&](auto element) {
    launch_moves<PutAccumulate<typename decltype(element)::type>>(args, components, stream);
  });
}

}  // namespace kernels
