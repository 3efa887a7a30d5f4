// The kernels behind gather_scatter.h that combine elements with what is there.
#include "kernels/indexing/combine.h"
#include "kernels/indexing/element_moves.h"

namespace kernels {
namespace {

template <typename Index>
__device__ std::int64_t index_at(const char* index, std::int64_t offset) {
  return *reinterpret_cast<const Index*>(index + offset);
}

// Checks elements to write, up to the first index that is out of range, and says how many that were. kLine: they lie in
// a checked line.
template <typename T, bool kLine, typename Index>
UNCHECKED int check_run(char* to, std::int64_t step, const Index* indices, std::uint64_t size, std::int64_t stride,
                        int count) {
  int i = 0;
  for (; i < count && static_cast<std::uint64_t>(indices[i]) < size; ++i, to += step) {
    if (!kLine) vcuda::writable(reinterpret_cast<T*>(to + indices[i] * stride), 1);
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
        const auto run = moves.template is_checked_line<T>(moves.self, moves.self_step) ? &check_run<T, true, Index>
                                                                                        : &check_run<T, false, Index>;
        return run(moves.self, moves.self_step, indices, moves.bound(), moves.stride, moves.count);
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
