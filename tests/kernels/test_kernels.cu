// See test_kernels.h.
#include "kernels/arithmetic/divide.h"
#include "kernels/vcuda/device_language.h"
#include "tests/kernels/test_kernels.h"

namespace test_kernels {
namespace {

__global__ void empty_kernel() {}

__global__ void write_index_kernel(int* out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned i = block * blockDim.x * blockDim.y * blockDim.z + thread;
  out[i] = static_cast<int>(i);
}

__global__ void count_in_rows_kernel(int* out, unsigned width) {
  if (threadIdx.x >= width) RETURN_ROW;
  const unsigned row = blockIdx.x * blockDim.y + threadIdx.y;
  out[row * blockDim.x + threadIdx.x] += 1;
}

__global__ void quotients_kernel(const std::int64_t* values, KERNEL_STRUCT(vcuda::Divisor) divisor, std::int64_t* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = kernels::quotient(values[i], divisor);
}

__global__ void assert_below_kernel(const int* values, int bound, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  DEVICE_ASSERT("aten/src/ATen/native/cuda/Test.cu", 12, "assert_below_kernel", "value < bound", values[i] < bound);
  if (out != nullptr) out[i] = 1;
}

__global__ void assert_then_store_kernel(int* pointer) {
  DEVICE_ASSERT("aten/Test.cu", 1, "assert_then_store_kernel", "false", threadIdx.x != 0);
  *pointer = 1;
}

template <typename T, int kValue>
__global__ void template_kernel(T* out) {
  *out = kValue;
}

__global__ void sum_kernel(const int* values, int count, int* out) {
  __shared__ int partial[1024];
  const int i = static_cast<int>(threadIdx.x);
  partial[i] = i < count ? values[i] : 0;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half != 0; half /= 2) {
    if (threadIdx.x < half) partial[i] += partial[i + static_cast<int>(half)];
    __syncthreads();
  }
  if (i == 0) *out = partial[0];
}

__global__ void early_exit_kernel(int* out) {
  __shared__ int seen[1024];
  const unsigned i = threadIdx.x;
  seen[i] = 0;
  __syncthreads();
  if (i % 2 == 1) return;
  seen[i] = 1;
  __syncthreads();
  int sum = 0;
  for (unsigned k = 0; k < blockDim.x; ++k) sum += seen[k];
  out[i] = sum;
}

__global__ void barrier_assert_kernel(int* out) {
  __syncthreads();
  DEVICE_ASSERT("aten/Test.cu", 2, "barrier_assert_kernel", "not thread 1", threadIdx.x != 1);
  __syncthreads();
  out[threadIdx.x] = 1;
}

__global__ void barrier_fault_kernel(int* out, int* bad) {
  out[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 1) *bad = 1;
  __syncthreads();
  out[threadIdx.x] = 2;
}

__global__ void atomic_kernel(std::int64_t* integer, float* real, int* largest) {
  atomicAdd(integer, 2);
  atomicAdd(real, 0.5f);
  atomicMax(largest, static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x));
}

__global__ void store_kernel(int* pointer) { *pointer = 7; }
__global__ void store_byte_kernel(char* pointer) { *pointer = 7; }
__global__ void load_long_kernel(const std::int64_t* pointer, std::int64_t* out) { *out = *pointer; }
__global__ void atomic_add_kernel(int* pointer) { atomicAdd(pointer, 1); }
__global__ void copy_struct_kernel(const Wide* from, Wide* to) { *to = *from; }

__device__ const int kTable[8] = {1, 2, 4, 8, 16, 32, 64, 128};

__global__ void locals_kernel(const int* in, int* out) {
  int local[8];
  for (int i = 0; i < 8; ++i) local[i] = kTable[i] + 1;
  *out = local[*in & 7] + kTable[*in & 7];
}

__global__ void host_argument_kernel(const int* host, int* out) { *out = *host; }

__global__ void compare_kernel(const int* value, int bound, int* out) {
  if (*value == bound) *out = 1;
}

__global__ void copy_in_rows_kernel(const int* from, const int* limits, int* to, int count) {
  const int x = static_cast<int>(threadIdx.x), row = static_cast<int>(blockIdx.x) * count;
  if (x >= count) RETURN_ROW;
  const int joined = vcuda::join_row(count - x);
  for (int i = x; i < x + joined; ++i) {
    DEVICE_ASSERT("aten/Test.cu", 9, "copy_in_rows_kernel", "i < limits[i]", i < limits[row + i]);
  }
  vcuda::copy_joined(to + row + x, from + row + x, joined);
}

constexpr int kParts = 64;

__global__ void joined_sum_kernel(const int* values, int bound, int* out) {
  __shared__ int parts[kParts];
  const int first = static_cast<int>(threadIdx.x), row = static_cast<int>(blockIdx.x * blockDim.x);
  const int joined = vcuda::join_row(blockDim.x);
  const int* const mine = vcuda::readable(values + row + first, joined);
  int* const to = vcuda::writable(parts + first, joined);
  for (int own = 0; own < joined; ++own) {
    const int value = vcuda::argument(mine[own]);
    DEVICE_ASSERT("aten/Test.cu", 10, "joined_sum_kernel", "value < bound", value < bound);
    vcuda::set(to[own], value);
  }
  __syncthreads();
  if (first != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < blockDim.x; ++i) sum += parts[i];
  out[blockIdx.x] = sum;
}

__global__ void ask_once_kernel(const int* values, int count, int* out) {
  const bool fine = vcuda::once_a_grid([=] { return vcuda::are_accessible(values, count); });
  out[blockIdx.x * blockDim.x + threadIdx.x] = fine ? 1 : 0;
}

__global__ void sum_loop_kernel(const float* values, int count, float* out) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i];
  *out = sum;
}

}  // namespace

void empty(Shape s) { LAUNCH(empty_kernel, s.grid, s.block, s.stream); }
void write_index(int* out, Shape s) { LAUNCH(write_index_kernel, s.grid, s.block, s.stream, out); }
void count_in_rows(int* out, unsigned width, Shape shape) {
  LAUNCH(count_in_rows_kernel, shape.grid, shape.block, shape.stream, out, width);
}
void copy_in_rows(const int* from, const int* limits, int* to, int count, Shape shape) {
  LAUNCH(copy_in_rows_kernel, shape.grid, shape.block, shape.stream, from, limits, to, count);
}
void sum_joined(const int* values, int bound, int* out, Shape shape) {
  LAUNCH_WITH_BARRIERS(joined_sum_kernel, shape.grid, shape.block, shape.stream, values, bound, out);
}
void ask_once(const int* values, int count, int* out, Shape shape) {
  LAUNCH(ask_once_kernel, shape.grid, shape.block, shape.stream, values, count, out);
}
void quotients(const std::int64_t* values, std::int64_t number, std::int64_t* out, Shape shape) {
  const vcuda::Divisor divisor(number);
  LAUNCH(quotients_kernel, shape.grid, shape.block, shape.stream, values, divisor, out);
}
void assert_below(const int* values, int bound, Shape s) {
  LAUNCH(assert_below_kernel, s.grid, s.block, s.stream, values, bound, nullptr);
}
void assert_then_write(const int* values, int bound, int* out, Shape s) {
  LAUNCH(assert_below_kernel, s.grid, s.block, s.stream, values, bound, out);
}
void assert_then_store_at(int* pointer, Shape s) {
  LAUNCH(assert_then_store_kernel, s.grid, s.block, s.stream, pointer);
}
void template_write(float* out) { LAUNCH((template_kernel<float, 4>), 1, 1, 0, out); }
void sum_with_barriers(const int* values, int count, int* out, int block) {
  LAUNCH_WITH_BARRIERS(sum_kernel, 1, static_cast<unsigned>(block), 0, values, count, out);
}
void barrier_with_early_exit(int* out, int block) {
  LAUNCH_WITH_BARRIERS(early_exit_kernel, 1, static_cast<unsigned>(block), 0, out);
}
void barrier_then_assert(int* out, int block) {
  LAUNCH_WITH_BARRIERS(barrier_assert_kernel, 1, static_cast<unsigned>(block), 0, out);
}
void barrier_then_fault(int* out, int* bad, int block) {
  LAUNCH_WITH_BARRIERS(barrier_fault_kernel, 1, static_cast<unsigned>(block), 0, out, bad);
}
void add_atomically(std::int64_t* integer, float* real, int* largest, Shape s) {
  LAUNCH(atomic_kernel, s.grid, s.block, s.stream, integer, real, largest);
}
void store(int* pointer) { LAUNCH(store_kernel, 1, 1, 0, pointer); }
void store_byte(char* pointer) { LAUNCH(store_byte_kernel, 1, 1, 0, pointer); }
void load_long(const std::int64_t* pointer, std::int64_t* out) { LAUNCH(load_long_kernel, 1, 1, 0, pointer, out); }
void add_to(int* pointer) { LAUNCH(atomic_add_kernel, 1, 1, 0, pointer); }
void copy_struct(const Wide* from, Wide* to) { LAUNCH(copy_struct_kernel, 1, 1, 0, from, to); }
void use_locals_and_constants(const int* in, int* out) { LAUNCH(locals_kernel, 1, 1, 0, in, out); }
void read_host_argument(const int* host, int* out) { LAUNCH(host_argument_kernel, 1, 1, 0, host, out); }
void compare_with(const int* value, int bound, int* out) { LAUNCH(compare_kernel, 1, 1, 0, value, bound, out); }
void sum_loop(const float* values, int count, float* out) { LAUNCH(sum_loop_kernel, 1, 1, 0, values, count, out); }

}  // namespace test_kernels
