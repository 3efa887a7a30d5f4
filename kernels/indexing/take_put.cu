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

// `kMost`: threads that may run as one, which an atomic operation forbids.
template <typename T>
struct Take {
  static constexpr int kMost = kThreads;
  __device__ static void move(char* indexed, char* iterated, int) {
    *reinterpret_cast<T*>(iterated) = *reinterpret_cast<const T*>(indexed);
  }
};
template <typename T>
struct Put {
  static constexpr int kMost = kThreads;
  __device__ static void move(char* indexed, char* iterated, int) {
    *reinterpret_cast<T*>(indexed) = *reinterpret_cast<const T*>(iterated);
  }
};
template <typename T>
struct PutAccumulate {
  static constexpr int kMost = 1;
  __device__ static void move(char* indexed, char* iterated, int components) {
    for (int i = 0; i < components; ++i) {
      const T value = reinterpret_cast<const T*>(iterated)[i];
      vcuda::update_atomically(reinterpret_cast<T*>(indexed) + i,
                               [=](T old) { return combined<T>(old, value, Reduction::add); });
    }
  }
};

template <typename Move>
__global__ void index_elementwise_kernel(KERNEL_STRUCT(TakePut) args, int components) {
  for_each_element<kThreads, kPerThread>(args.walk, args.count, Move::kMost, [&](const Offsets<2>& at) {
    const std::int64_t numel = argument(args.numel);
    std::int64_t idx =
        *reinterpret_cast<const std::int64_t*>(static_cast<const char*>(argument(args.index)) + at.bytes[1]);
    DEVICE_ASSERT("aten/src/ATen/native/cuda/IndexKernel.cu", 339, "operator()",
                  "idx < numel && idx >= -numel && \"cuda_take_put_kernel() index out of bounds\"",
                  idx < numel && idx >= -numel);
    if (idx < 0) idx += numel;
    const Offsets<1> there = offsets_of(args.indexed_walk, idx);
    Move::move(static_cast<char*>(argument(args.indexed)) + there.bytes[0],
               static_cast<char*>(argument(args.iterated)) + at.bytes[0], components);
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
