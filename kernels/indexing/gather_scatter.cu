// The kernels behind gather_scatter.h: 128 threads a block, 8 elements a thread, as ATen launches them.
#include "kernels/indexing/combine.h"
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

template <typename Index>
__device__ std::int64_t index_at(const char* index, std::int64_t offset) {
  return *reinterpret_cast<const Index*>(index + offset);
}

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

// Elements that lie side by side, as do their indices, in few instructions: copies up to the first index that is out of
// range, and says how many that were.
template <typename T, typename Index>
UNCHECKED int gather_run(T* to, const char* source, std::int64_t step, const Index* indices, std::uint64_t size,
                         std::int64_t stride, int count) {
  int i = 0;
  for (; i < count && static_cast<std::uint64_t>(indices[i]) < size; ++i, source += step) {
    to[i] = *vcuda::readable(reinterpret_cast<const T*>(source + indices[i] * stride), 1);
  }
  return i;
}
template <typename T, typename Index>
UNCHECKED int scatter_run(char* to, std::int64_t step, const T* from, const Index* indices, std::uint64_t size,
                          std::int64_t stride, int count) {
  int i = 0;
  for (; i < count && static_cast<std::uint64_t>(indices[i]) < size; ++i, to += step) {
    *vcuda::writable(reinterpret_cast<T*>(to + indices[i] * stride), 1) = from[i];
  }
  return i;
}

// Checks elements to write, up to the first index that is out of range, and says how many that were.
template <typename T, typename Index>
UNCHECKED int check_run(char* to, std::int64_t step, const Index* indices, std::uint64_t size, std::int64_t stride,
                        int count) {
  int i = 0;
  for (; i < count && static_cast<std::uint64_t>(indices[i]) < size; ++i, to += step) {
    vcuda::writable(reinterpret_cast<T*>(to + indices[i] * stride), 1);
  }
  return i;
}
template <typename T, typename Index>
UNCHECKED void add_run(char* to, std::int64_t step, const char* from, std::int64_t from_step, const char* indices,
                       std::int64_t index_step, std::int64_t stride, int count) {
  for (int i = 0; i < count; ++i, to += step, from += from_step, indices += index_step) {
    const Index index = *reinterpret_cast<const Index*>(indices);
    vcuda::add_unchecked(reinterpret_cast<T*>(to + index * stride), *reinterpret_cast<const T*>(from));
  }
}

template <typename T, typename Index>
struct Gather {
  static constexpr bool kAtomic = false;
  __device__ void operator()(const Moves<Index>& moves) const {
    const Run<T> to(moves.self, moves.self_step, moves.count);
    const int done = moves.quickly(check_index, to, [&](T* first, const Index* indices) {
      return gather_run(first, moves.source, moves.source_step, indices, moves.bound(), moves.stride, moves.count);
    });
    if (done == moves.count) return;
    moves.for_each(
        check_index,
        [&](int i, std::int64_t offset) {
          to.set(i, *reinterpret_cast<const T*>(moves.source + i * moves.source_step + offset));
        },
        done);
  }
};
template <typename T, typename Index>
struct Scatter {
  static constexpr bool kAtomic = false;
  __device__ void operator()(const Moves<Index>& moves) const {
    const Run<T> from(moves.source, moves.source_step, moves.count);
    const int done = moves.quickly(check_index, from, [&](const T* first, const Index* indices) {
      return scatter_run(moves.self, moves.self_step, first, indices, moves.bound(), moves.stride, moves.count);
    });
    if (done == moves.count) return;
    moves.for_each(
        check_index,
        [&](int i, std::int64_t offset) {
          *reinterpret_cast<T*>(moves.self + i * moves.self_step + offset) = from.get(i);
        },
        done);
  }
};
template <typename T, typename Index>
struct AtomicAdd {
  static constexpr bool kAtomic = true;
  __device__ void operator()(const Moves<Index>& moves) const {
    moves.for_each(check_index, [&](int i, std::int64_t offset) {
      atomicAdd(reinterpret_cast<T*>(moves.self + i * moves.self_step + offset),
                *reinterpret_cast<const T*>(moves.source + i * moves.source_step));
    });
  }
  // The two parts of it, for threads that run as one.
  struct Check {
    __device__ void operator()(const Moves<Index>& moves) const {
      const Run<T> from(moves.source, moves.source_step, moves.count);
      const int done = moves.quickly(check_index, from, [&](const T*, const Index* indices) {
        return check_run<T>(moves.self, moves.self_step, indices, moves.bound(), moves.stride, moves.count);
      });
      if (done == moves.count) return;
      moves.for_each(
          check_index,
          [&](int i, std::int64_t offset) {
            vcuda::readable(reinterpret_cast<const T*>(moves.source + i * moves.source_step), 1);
            vcuda::writable(reinterpret_cast<T*>(moves.self + i * moves.self_step + offset), 1);
          },
          done);
    }
  };
  struct Checked {
    __device__ void operator()(const Moves<Index>& moves) const {
      add_run<T, Index>(moves.self, moves.self_step, moves.source, moves.source_step, moves.index, moves.index_step,
                        moves.stride, moves.count);
    }
  };
};
template <typename T, typename Index>
struct CheckOnly {
  static constexpr bool kAtomic = false;
  __device__ void operator()(const Moves<Index>& moves) const {
    moves.for_each(check_index, [](int, std::int64_t) {});
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

template <typename T, typename Index>
__global__ void scatter_reduce_lines_kernel(char* self, const char* source, const char* index,
                                            KERNEL_STRUCT(Walk<3>) lines, std::int64_t line_count,
                                            std::int64_t line_length, std::int64_t source_stride,
                                            std::int64_t index_stride, std::int64_t stride, Reduction reduction,
                                            const Value value) {
  const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (line >= line_count) return;
  const Offsets<3> at = offsets_of(lines, line);
  for (std::int64_t i = 0; i < line_length; ++i) {
    T& to = *reinterpret_cast<T*>(self + at.bytes[0] + stride * index_at<Index>(index, at.bytes[2] + i * index_stride));
    const T from = source == nullptr ? *reinterpret_cast<const T*>(value.bytes)
                                     : *reinterpret_cast<const T*>(source + at.bytes[1] + i * source_stride);
    to = combined<T>(to, from, reduction);
  }
}

unsigned blocks_of(std::int64_t count) {
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

template <typename T>
void launch_lines(const ScatterReduce& args, const Value value, vcuda::Stream stream) {
  with_index(args.scatter.wide_index, [&](auto index_type) {
    using Index = typename decltype(index_type)::type;
    GATHER_SCATTER_LOCALS(args.scatter);
    const Walk<3> lines = args.lines;
    const std::int64_t line_count = args.line_count, length = args.line_length;
    const std::int64_t source_stride = args.line_source_stride, index_stride = args.line_index_stride;
    const Reduction reduction = args.reduction;
    const unsigned grid = static_cast<unsigned>((line_count + kThreads - 1) / kThreads);
    LAUNCH((scatter_reduce_lines_kernel<T, Index>), grid, kThreads, stream, self, source, index, lines, line_count,
           length, source_stride, index_stride, stride, reduction, value);
  });
}

void launch_lines_of_type(const ScatterReduce& args, const Value& value, vcuda::Stream stream) {
  with_arithmetic(args.dtype,
                  [&](auto element) { launch_lines<typename decltype(element)::type>(args, value, stream); });
}

}  // namespace

void gather(const GatherScatter& args, vcuda::Stream stream) {
  with_element_of(args.element_bytes,
                  [&](auto element) { launch_move<Gather, typename decltype(element)::type>(args, stream); });
}

void scatter(const GatherScatter& args, vcuda::Stream stream) {
  with_element_of(args.element_bytes,
                  [&](auto element) { launch_move<Scatter, typename decltype(element)::type>(args, stream); });
}

void scatter_fill(const GatherScatter& args, Value value, vcuda::Stream stream) {
  with_element_of(args.element_bytes,
                  [&](auto element) { launch_fill<typename decltype(element)::type, true>(args, value, stream); });
}

void scatter_reduce(const ScatterReduce& args, vcuda::Stream stream) {
  if (args.reduction == Reduction::add && args.dtype == vcuda::DType::f32) {
    return launch_move<AtomicAdd, float>(args.scatter, stream);
  }
  if (args.reduction == Reduction::add && args.dtype == vcuda::DType::f64) {
    return launch_move<AtomicAdd, double>(args.scatter, stream);
  }
  if (args.reduction == Reduction::add && args.dtype == vcuda::DType::i32) {
    return launch_move<AtomicAdd, int>(args.scatter, stream);
  }
  launch_move<CheckOnly, char>(args.scatter, stream);
  launch_lines_of_type(args, Value{}, stream);
}

void scatter_fill_reduce(const ScatterReduce& args, Value value, vcuda::Stream stream) {
  launch_fill<char, false>(args.scatter, value, stream);
  launch_lines_of_type(args, value, stream);
}

}  // namespace kernels
