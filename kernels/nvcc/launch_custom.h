// The custom kernels' launchers for a GPU, under C names, so that a host compiler that knows no CUDA can register them
// with LibTorch (kernels/aten/custom_on_cuda.cpp). They return what cudaGetLastError says of the launch; the stream is
// a cudaStream_t of the current device, and all pointers are device memory of as many elements as kernels/custom/ says.
#pragma once

#include <cstdint>

extern "C" {
int dsafuzz_cuda_scale(const float* x, float* y, std::int64_t n, float factor, bool checked, void* stream);
int dsafuzz_cuda_sum_buffer(const float* x, std::int64_t n, float* sum, void* stream);
int dsafuzz_cuda_sum_by_threads(const float* x, std::int64_t n, float* sum, bool atomic, void* stream);
int dsafuzz_cuda_pair_sums(const float* x, float* y, std::int64_t n, bool checked, void* stream);
int dsafuzz_cuda_count_in_shared(const std::int64_t* values, std::int64_t n, int* counts, bool checked, void* stream);
int dsafuzz_cuda_count_in_local(const std::int64_t* values, std::int64_t n, int* counts, bool checked, void* stream);
int dsafuzz_cuda_scale_in_stages(const float* x, float* buffer, float* y, std::int64_t n, float factor, bool all,
                                 void* stream);
int dsafuzz_cuda_block_sums(const float* x, std::int64_t n, float* sums, bool guarded, void* stream);
}
