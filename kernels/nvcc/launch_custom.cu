// The launchers behind launch_custom.h.
#include "kernels/custom/block_sums.h"
#include "kernels/custom/count_values.h"
#include "kernels/custom/pair_sums.h"
#include "kernels/custom/scale_without_bounds_check.h"
#include "kernels/custom/staged_scale.h"
#include "kernels/custom/unordered_sum.h"
#include "kernels/custom/use_after_free.h"
#include "kernels/nvcc/launch_custom.h"

namespace {

vcuda::Stream on(void* stream) { return reinterpret_cast<vcuda::Stream>(stream); }
int launched() { return static_cast<int>(cudaGetLastError()); }

}  // namespace

extern "C" {
int dsafuzz_cuda_scale(const float* x, float* y, std::int64_t n, float factor, bool checked, void* stream) {
  const auto launch = checked ? &kernels::scale : &kernels::scale_without_bounds_check;
  launch(x, y, n, factor, on(stream));
  return launched();
}
int dsafuzz_cuda_sum_buffer(const float* x, std::int64_t n, float* sum, void* stream) {
  kernels::sum_buffer(x, n, sum, on(stream));
  return launched();
}
int dsafuzz_cuda_sum_by_threads(const float* x, std::int64_t n, float* sum, bool atomic, void* stream) {
  const auto launch = atomic ? &kernels::sum_atomically : &kernels::sum_without_atomics;
  launch(x, n, sum, on(stream));
  return launched();
}
int dsafuzz_cuda_pair_sums(const float* x, float* y, std::int64_t n, bool checked, void* stream) {
  const auto launch = checked ? &kernels::pair_sums : &kernels::pair_sums_without_alignment_check;
  launch(x, y, n, on(stream));
  return launched();
}
int dsafuzz_cuda_count_in_shared(const std::int64_t* values, std::int64_t n, int* counts, bool checked, void* stream) {
  kernels::count_values_in_shared(values, n, counts, checked, on(stream));
  return launched();
}
int dsafuzz_cuda_count_in_local(const std::int64_t* values, std::int64_t n, int* counts, bool checked, void* stream) {
  kernels::count_values_in_local(values, n, counts, checked, on(stream));
  return launched();
}
int dsafuzz_cuda_scale_in_stages(const float* x, float* buffer, float* y, std::int64_t n, float factor, bool all,
                                 void* stream) {
  kernels::scale_in_stages(x, buffer, y, n, factor, all, on(stream));
  return launched();
}
int dsafuzz_cuda_block_sums(const float* x, std::int64_t n, float* sums, bool guarded, void* stream) {
  kernels::block_sums(x, n, sums, guarded, on(stream));
  return launched();
}
}
