// The kernels behind gather_scatter.h that move elements as they are.
#include "kernels/indexing/element_moves.h"

namespace kernels {
namespace {

// Elements that lie side by side, as do their indices, in few instructions: copies up to the first index that is out of
// range, and says how many that were. kLine: what the indices choose from is a checked line.
template <typename T, bool kLine, typename Index>
UNCHECKED int gather_run(T* to, const char* source, std::int64_t step, const Index* indices, std::uint64_t size,
                         std::int64_t stride, int count) {
  int i = 0;
  for (; i < count && static_cast<std::uint64_t>(indices[i]) < size; ++i, source += kLine ? 0 : step) {
    const auto* from = reinterpret_cast<const T*>(source + indices[i] * (kLine ? std::int64_t{sizeof(T)} : stride));
    to[i] = kLine ? *from : *vcuda::readable(from, 1);
  }
  return i;
}
template <typename T, bool kLine, typename Index>
UNCHECKED int scatter_run(char* to, std::int64_t step, const T* from, const Index* indices, std::uint64_t size,
                          std::int64_t stride, int count) {
  int i = 0;
  for (; i < count && static_cast<std::uint64_t>(indices[i]) < size; ++i, to += kLine ? 0 : step) {
    auto* const at = reinterpret_cast<T*>(to + indices[i] * (kLine ? std::int64_t{sizeof(T)} : stride));
    *(kLine ? at : vcuda::writable(at, 1)) = from[i];
  }
  return i;
}

template <typename T, typename Index>
struct Gather {
  static constexpr bool kAtomic = false;
  __device__ void operator()(const Moves<Index>& moves) const {
    const Run<T> to(moves.self, moves.self_step, moves.count);
    const int done = moves.quickly(check_index, to, [&](T* first, const Index* indices) {
      const auto run = moves.template is_checked_line<T>(moves.source, moves.source_step)
                           ? &gather_run<T, true, Index>
                           : &gather_run<T, false, Index>;
      return run(first, moves.source, moves.source_step, indices, moves.bound(), moves.stride, moves.count);
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
      const auto run = moves.template is_checked_line<T>(moves.self, moves.self_step) ? &scatter_run<T, true, Index>
                                                                                      : &scatter_run<T, false, Index>;
      return run(moves.self, moves.self_step, first, indices, moves.bound(), moves.stride, moves.count);
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

}  // namespace kernels
