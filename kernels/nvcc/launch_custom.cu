// The custom kernels' launchers under C names and on the default stream, so that a host compiler that knows no CUDA can
// register them with LibTorch (kernels/aten/custom_on_cuda.cpp).
#include "kernels/custom/scale_without_bounds_check.h"
#include "kernels/custom/use_after_free.h"

extern "C" {
void dsafuzz_cuda_scale(const float* x, float* y, std::int64_t count, float factor) {
  kernels::scale(x, y, count, factor, nullptr);
}
void dsafuzz_cuda_scale_without_bounds_check(const float* x, float* y, std::int64_t count, float factor) {
  kernels::scale_without_bounds_check(x, y, count, factor, nullptr);
}
void dsafuzz_cuda_sum_buffer(const float* x, std::int64_t count, float* sum) {
  kernels::sum_buffer(x, count, sum, nullptr);
}
}
