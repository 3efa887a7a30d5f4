// Rows of an embedding table scaled down to a greatest norm: the kernel behind embedding_renorm_ in ATen's
// Embedding.cu. Indices are not checked, as on a GPU: one outside [0, rows) scales whatever lies there.
//
// Asynchronous: failures surface as runtime.h says. Requires: count > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct EmbeddingRenorm {
  vcuda::DType dtype;             // of the weight: f16, bf16, f32 or f64
  bool wide = true;               // the indices are int64, else int32
  void* weight = nullptr;         // [rows, features], strides in elements
  const void* indices = nullptr;  // [count], contiguous, each row once
  std::int64_t count = 0, features = 0, row_stride = 0, feature_stride = 1;
  double max_norm = 0, norm_type = 2;
};
void embedding_renorm(const EmbeddingRenorm& args, vcuda::Stream stream);

}  // namespace kernels
