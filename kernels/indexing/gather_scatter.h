// Moves elements along one dimension by an index tensor of the same rank: the kernels of ATen's ScatterGatherKernel.cu.
// An index outside [0, size) fails an assert; negative ones do not wrap.
//
// Operands are walked in the shape of the index tensor; the operand that the index looks into has stride zero along
// the indexed dimension, and `stride` bytes lie between its neighbours there.
//
// Asynchronous: failures surface as runtime.h says. Requires: count > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

enum class Reduction : std::uint8_t { add, multiply, maximum, minimum };

// Room for one element of any type.
struct alignas(16) Value {
  unsigned char bytes[16] = {};
};

struct GatherScatter {
  int element_bytes = 4;
  void* self = nullptr;          // what is written
  const void* source = nullptr;  // what is read; null for a fill
  const void* index = nullptr;   // int64 if wide_index, else int32
  bool wide_index = true;
  std::int64_t count = 0;   // elements of the index tensor
  std::int64_t size = 0;    // valid indices
  std::int64_t stride = 0;  // in bytes
  vcuda::Walk<3> walk;      // self, source, index
};

void gather(const GatherScatter& args, vcuda::Stream stream);
void scatter(const GatherScatter& args, vcuda::Stream stream);
void scatter_fill(const GatherScatter& args, Value value, vcuda::Stream stream);

// scatter that combines with what is there, for all of `dtype`'s values; boolean combines as "or" and "and".
// Where no atomic of that type exists, a checking launch is followed by one in which each thread owns one line along
// the indexed dimension. `lines` walks the other dimensions (self, source, index); along it lie `line_length` elements.
struct ScatterReduce {
  GatherScatter scatter;
  vcuda::DType dtype;
  Reduction reduction = Reduction::add;
  vcuda::Walk<3> lines;
  std::int64_t line_count = 0, line_length = 0;
  std::int64_t line_source_stride = 0, line_index_stride = 0;  // in bytes
};
void scatter_reduce(const ScatterReduce& args, vcuda::Stream stream);
void scatter_fill_reduce(const ScatterReduce& args, Value value, vcuda::Stream stream);

}  // namespace kernels
