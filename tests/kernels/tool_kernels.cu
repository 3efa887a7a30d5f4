// See tool_kernels.h.
#include "kernels/vcuda/device_language.h"
#include "tests/kernels/tool_kernels.h"

namespace tool_kernels {
namespace {

__device__ unsigned number() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void copy_one_kernel(const int* from, int* to) { *to = *from; }
__global__ void copy_byte_kernel(const char* from, char* to) { *to = *from; }
__global__ void write_one_kernel(int* to, int value) { *to = value; }
__global__ void write_index_kernel(int* to, unsigned count) {
  if (number() < count) to[number()] = static_cast<int>(number());
}
__global__ void write_same_kernel(int* to, int value) { *to = value; }
__global__ void write_number_kernel(int* to) { *to = static_cast<int>(number()); }
__global__ void add_plain_kernel(int* to) { *to += 1; }
__global__ void add_atomic_kernel(int* to) { atomicAdd(to, 1); }
__global__ void add_then_read_kernel(int* to, int* out) {
  atomicAdd(to, 1);
  out[number()] = *to;
}

template <bool kBarrier>
__global__ void reverse_kernel(const int* in, int* out) {
  __shared__ int turned[32];
  turned[threadIdx.x] = in[threadIdx.x];
  if (kBarrier) __syncthreads();
  out[threadIdx.x] = turned[31 - threadIdx.x];
}

__global__ void shared_at_kernel(int index, int* out) {
  __shared__ int row[16];
  if (threadIdx.x == 0) row[index] = 1;
  __syncthreads();
  out[threadIdx.x] = row[threadIdx.x];
}

__global__ void local_at_kernel(int index, int* out) {
  int row[8];
  for (int i = 0; i < 8; ++i) row[i] = i;
  row[index] = 1;
  *out = row[*out & 7];
}

__global__ void local_then_assert_kernel(int* out) {
  int row[8];
  for (int i = 0; i < 8; ++i) row[i] = i;
  DEVICE_ASSERT("aten/Test.cu", 3, "local_then_assert_kernel", "threadIdx.x != 0", threadIdx.x != 0);
  out[threadIdx.x] = row[out[threadIdx.x] & 7];
}

__global__ void barrier_in_branch_kernel(int* out) {
  if (threadIdx.x < blockDim.x / 2) {
    __syncthreads();
    out[threadIdx.x] = 1;
  } else {
    __syncthreads();
    out[threadIdx.x] = 2;
  }
}

__global__ void barrier_after_return_kernel(int* out) {
  if (threadIdx.x % 2 == 1) return;
  __syncthreads();
  out[threadIdx.x] = 1;
}

__global__ void barrier_after_assert_kernel(int* out) {
  DEVICE_ASSERT("aten/Test.cu", 4, "barrier_after_assert_kernel", "threadIdx.x != 1", threadIdx.x != 1);
  __syncthreads();
  out[threadIdx.x] = 1;
}

__global__ void barrier_in_loop_kernel(int* out) {
  for (int i = 0; i < 3; ++i) {
    out[threadIdx.x] = i;
    __syncthreads();
  }
}

__global__ void assert_each_kernel(unsigned from) {
  DEVICE_ASSERT("aten/Test.cu", 5, "assert_each_kernel", "below", number() < from);
}

__global__ void fault_at_kernel(int* good, int* bad, unsigned at) {
  if (number() == at) *bad = 1;
  DEVICE_ASSERT("aten/Test.cu", 6, "fault_at_kernel", "not a multiple", number() % 10000 != 0);
  good[number()] = 1;
}

}  // namespace

void copy_one(const int* from, int* to, vcuda::Stream stream) { LAUNCH(copy_one_kernel, 1, 1, stream, from, to); }
void copy_byte(const char* from, char* to) { LAUNCH(copy_byte_kernel, 1, 1, 0, from, to); }
void write_one(int* to, int value, vcuda::Stream stream) { LAUNCH(write_one_kernel, 1, 1, stream, to, value); }
void write_index(int* to, unsigned count) { LAUNCH(write_index_kernel, (count + 31) / 32, 32, 0, to, count); }
void write_same(int* to, int value, unsigned count, unsigned block) {
  LAUNCH(write_same_kernel, count / block, block, 0, to, value);
}
void write_number(int* to, unsigned count, unsigned block) { LAUNCH(write_number_kernel, count / block, block, 0, to); }
void add_plain(int* to, unsigned count, unsigned block) { LAUNCH(add_plain_kernel, count / block, block, 0, to); }
void add_atomic(int* to, unsigned count, unsigned block) { LAUNCH(add_atomic_kernel, count / block, block, 0, to); }
void add_then_read(int* to, int* out, unsigned count) { LAUNCH(add_then_read_kernel, 1, count, 0, to, out); }
void reverse_in_shared(const int* in, int* out, bool barrier) {
  if (barrier) {
    LAUNCH_WITH_BARRIERS(reverse_kernel<true>, 1, 32, 0, in, out);
  } else {
    LAUNCH_WITH_BARRIERS(reverse_kernel<false>, 1, 32, 0, in, out);
  }
}
void shared_at(int index, int* out) { LAUNCH_WITH_BARRIERS(shared_at_kernel, 1, 16, 0, index, out); }
void local_at(int index, int* out) { LAUNCH(local_at_kernel, 1, 1, 0, index, out); }
void local_then_assert(int* out) { LAUNCH(local_then_assert_kernel, 1, 4, 0, out); }
void barrier_in_branch(int* out, unsigned block) { LAUNCH_WITH_BARRIERS(barrier_in_branch_kernel, 1, block, 0, out); }
void barrier_after_return(int* out, unsigned block) {
  LAUNCH_WITH_BARRIERS(barrier_after_return_kernel, 1, block, 0, out);
}
void barrier_after_assert(int* out, unsigned block) {
  LAUNCH_WITH_BARRIERS(barrier_after_assert_kernel, 1, block, 0, out);
}
void barrier_in_loop(int* out, unsigned block) { LAUNCH_WITH_BARRIERS(barrier_in_loop_kernel, 1, block, 0, out); }
void assert_each(unsigned blocks, unsigned block, unsigned from) { LAUNCH(assert_each_kernel, blocks, block, 0, from); }
void fault_at(int* good, int* bad, unsigned blocks, unsigned block, unsigned at) {
  LAUNCH(fault_at_kernel, blocks, block, 0, good, bad, at);
}

}  // namespace tool_kernels
