// Moving elements along one dimension by an index tensor, as gather, scatter and their reducing forms do: 128 threads a
// block, 8 elements a thread, as ATen launches them. For the `.cu` files behind gather_scatter.h.
#pragma once

#include "kernels/indexing/element.h"
#include "kernels/indexing/gather_scatter.h"
#include "kernels/indexing/offsets.h"
#include "kernels/vcuda/device_language.h"

#define SCATTER_GATHER_CU "aten/src/ATen/native/cuda/ScatterGatherKernel.cu"

namespace kernels {
namespace {

using vcuda::Walk;

constexpr int kThreads = 128;
constexpr int kPerThread = 8;

// ATen names its functor _scatter_gather_elementwise_kernel's argument; the assert stands in the functor's operator().
__device__ inline void check_index(std::int64_t idx_dim, std::int64_t index_size) {
  DEVICE_ASSERT(SCATTER_GATHER_CU, 163, "operator()",
                "idx_dim >= 0 && idx_dim < index_size && \"scatter gather kernel index out of bounds\"",
                idx_dim >= 0 && idx_dim < index_size);
}
__device__ inline void check_fill_index(std::int64_t idx_dim, std::int64_t index_size) {
  DEVICE_ASSERT(SCATTER_GATHER_CU, 409, "operator()", "idx_dim >= 0 && idx_dim < index_size && \"index out of bounds\"",
                idx_dim >= 0 && idx_dim < index_size);
}

// A run of elements of all operands.
template <typename Index>
struct Moves {
  char* self;
  const char* source;
  const char* index;
  std::int64_t self_step, source_step, index_step, size, stride;
  int count;

  __device__ std::uint64_t bound() const { return static_cast<std::uint64_t>(size); }

  // Calls `body(i, the index of element i in bytes)` from element `first` on.
  template <typename Check, typename Body>
  __device__ void for_each(const Check& check, const Body& body, int first = 0) const {
    const Run<Index> indices(index, index_step, count);
    for (int i = first; i < count; ++i) {
      const std::int64_t idx_dim = indices.get(i);
      check(idx_dim, size);
      body(i, idx_dim * stride);
    }
  }

  // Whether the indices of all of these elements choose from one line of them at `first`, which lies side by side and
  // has been checked: for a short one that is quicker than to check what each index chooses.
  template <typename T>
  __device__ bool is_checked_line(const char* first, std::int64_t step) const {
    return step == 0 && stride == static_cast<std::int64_t>(sizeof(T)) && size > 0 &&
           size <= vcuda::kWorthALook * count && vcuda::are_accessible(reinterpret_cast<const T*>(first), size);
  }

  // How many elements `body(the first of them, the indices)` has moved, where both lie side by side and are checked.
  template <typename Check, typename T, typename Body>
  __device__ int quickly(const Check& check, const Run<T>& elements, const Body& body) const {
    const Run<Index> indices(index, index_step, count);
    if (!elements.is_checked() || !indices.is_checked()) return 0;
    const int done = body(elements.first(), indices.first());
    if (done != 0) check(indices.get(0), size);  // reached, and passed by all of them
    return done;
  }
};

template <typename Index, typename Move>
__device__ void for_each_move(char* self, const char* source, const char* index, const Walk<3>& walk,
                              std::int64_t count, std::int64_t size, std::int64_t stride, const Elements& elements,
                              const Move& move) {
  const std::int64_t self_step = vcuda::argument(walk.strides[0][0]), source_step = vcuda::argument(walk.strides[1][0]);
  const std::int64_t index_step = vcuda::argument(walk.strides[2][0]);
  for_each_run<kThreads, kPerThread>(walk, count, elements, [&](const Offsets<3>& at, int together) {
    move(Moves<Index>{self + at.bytes[0], source + at.bytes[1], index + at.bytes[2], self_step, source_step, index_step,
                      size, stride, together});
  });
}

template <typename Move, typename Index>
__global__ void _scatter_gather_elementwise_kernel(char* self, const char* source, const char* index,
                                                   KERNEL_STRUCT(Walk<3>) walk, std::int64_t count, std::int64_t size,
                                                   std::int64_t stride) {
  const Elements elements = elements_of_thread<kThreads, kPerThread>(kThreads);
  if constexpr (Move::kAtomic) {
    // Threads that run as one add after the last check of any.
    if (elements.joined > 1) {
      for_each_move<Index>(self, source, index, walk, count, size, stride, elements, typename Move::Check());
      for_each_move<Index>(self, source, index, walk, count, size, stride, elements, typename Move::Checked());
      return;
    }
  }
  for_each_move<Index>(self, source, index, walk, count, size, stride, elements, Move());
}

template <typename T, typename Index, bool kWrite>
__global__ void _scatter_fill_elementwise_kernel(char* self, const char* index, KERNEL_STRUCT(Walk<3>) walk,
                                                 std::int64_t count, std::int64_t size, std::int64_t stride,
                                                 const Value value) {
  const Elements elements = elements_of_thread<kThreads, kPerThread>(kThreads);
  for_each_move<Index>(self, nullptr, index, walk, count, size, stride, elements, [&](const Moves<Index>& moves) {
    moves.for_each(check_fill_index, [&](int i, std::int64_t offset) {
      if constexpr (kWrite) {
        *reinterpret_cast<T*>(moves.self + i * moves.self_step + offset) = *reinterpret_cast<const T*>(value.bytes);
      }
    });
  });
}

inline unsigned blocks_of(std::int64_t count) {
  return static_cast<unsigned>((count + kThreads * kPerThread - 1) / (kThreads * kPerThread));
}

// The launch itself needs plain locals: it copies what it uses.
#define GATHER_SCATTER_LOCALS(ARGS)                                              \
  auto* self = static_cast<char*>(ARGS.self);                                    \
  const auto* source = static_cast<const char*>(ARGS.source);                    \
  const auto* index = static_cast<const char*>(ARGS.index);                      \
  const Walk<3> walk = ARGS.walk;                                                \
  const std::int64_t count = ARGS.count, size = ARGS.size, stride = ARGS.stride; \
  (void)self, (void)source, (void)walk, (void)count, (void)size

template <template <typename, typename> typename Move, typename T>
void launch_move(const GatherScatter& args, vcuda::Stream stream) {
  with_index(args.wide_index, [&](auto index_type) {
    using Index = typename decltype(index_type)::type;
    GATHER_SCATTER_LOCALS(args);
    LAUNCH((_scatter_gather_elementwise_kernel<Move<T, Index>, Index>), blocks_of(count), kThreads, stream, self,
           source, index, walk, count, size, stride);
  });
}

template <typename T, bool kWrite>
void launch_fill(const GatherScatter& args, const Value value, vcuda::Stream stream) {
  with_index(args.wide_index, [&](auto index_type) {
    using Index = typename decltype(index_type)::type;
    GATHER_SCATTER_LOCALS(args);
    LAUNCH((_scatter_fill_elementwise_kernel<T, Index, kWrite>), blocks_of(count), kThreads, stream, self, index, walk,
           count, size, stride, value);
  });
}

}  // namespace
}  // namespace kernels
