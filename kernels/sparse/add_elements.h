// A coalesced sparse tensor added to a dense one: sparseElementwiseKernelScalar in ATen's SparseCUDAApplyUtils.cuh.
// Indices are not checked, as on a GPU: one outside the size writes wherever it leads.
//
// Asynchronous: failures surface as runtime.h says. Requires: count > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct AddElements {
  vcuda::DType dtype;  // f16, bf16, f32 or f64
  void* dense = nullptr;
  const std::int64_t* indices = nullptr;  // [dims, count], contiguous
  const void* values = nullptr;           // [count], contiguous
  std::int64_t count = 0;
  int dims = 0;
  std::int64_t strides[vcuda::kMaxDims] = {};  // of the dense tensor, in elements
};
void add_elements(const AddElements& args, vcuda::Stream stream);

}  // namespace kernels
