// Sums, means and maxima of bags of embedding rows, and their gradients: the kernels of ATen's EmbeddingBag.cu. In the
// forward kernels a bag that ends before it begins and an index outside [0, rows) fail an assert; the offset of the
// first bag is not read but taken as 0, and the last bag ends with the indices. The gradients check nothing, as on a
// GPU.
//
// Asynchronous: failures surface as runtime.h says. Requires: bags, features and (in gradients) count are not zero.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct EmbeddingBag {
  vcuda::DType dtype;                    // of weight and output: f16, bf16, f32 or f64
  bool wide = true;                      // all indices are int64, else int32
  const void* indices = nullptr;         // [count], contiguous
  const void* offsets = nullptr;         // [bags] or more, contiguous
  const void* weight = nullptr;          // [rows, features], with strides in elements
  const void* sample_weights = nullptr;  // [count], or null: all ones; for sums
  std::int64_t count = 0, bags = 0, rows = 0, features = 0;
  std::int64_t row_stride = 0, feature_stride = 1, sample_stride = 1;
  std::int64_t padding_index = -1;  // this index counts for nothing
  bool mean = false;
  void* output = nullptr;      // [bags, features]
  void* offset2bag = nullptr;  // [count]
  void* bag_size = nullptr;    // [bags]: the indices that count
};
void embedding_bag_sum_mean(const EmbeddingBag& args, vcuda::Stream stream);
// max_indices: [bags, features], of the index type; -1 where a bag has none.
void embedding_bag_max(const EmbeddingBag& args, void* max_indices, vcuda::Stream stream);

struct EmbeddingBagBackward {
  vcuda::DType dtype;          // of the gradient and the weights
  bool wide = true;            // all indices are int64, else int32
  const void* grad = nullptr;  // [bags, features], contiguous
  const void* indices = nullptr;
  const void* offset2bag = nullptr;
  const void* bag_size = nullptr;           // a mean divides by it; null for sums
  const void* sample_weights = nullptr;     // as above
  const std::int64_t* frequency = nullptr;  // [rows]: what an index's gradient is divided by, or null
  std::int64_t count = 0, features = 0, sample_stride = 1, padding_index = -1;
};
// sums: [rows, features], double for f64, else float; zeroed by the caller.
void embedding_bag_backward(const EmbeddingBagBackward& args, void* sums, vcuda::Stream stream);
// indices is [bags, features], as embedding_bag_max made it; count is the number of bags.
void embedding_bag_max_backward(const EmbeddingBagBackward& args, void* sums, vcuda::Stream stream);
// frequency: [rows], zeroed by the caller.
void count_indices(const EmbeddingBagBackward& args, std::int64_t* frequency, vcuda::Stream stream);
// weight: [rows, features]; output: [count]. Indices and bags are narrowed to 32 bits, as ATen does.
void embedding_bag_sample_weights_backward(const EmbeddingBagBackward& args, const void* weight,
                                           std::int64_t row_stride, std::int64_t feature_stride, void* output,
                                           vcuda::Stream stream);

}  // namespace kernels
