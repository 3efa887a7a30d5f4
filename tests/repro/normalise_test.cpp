// What a signature keeps of a printed text.
#include "repro/normalise.h"

#include <gtest/gtest.h>

namespace dsafuzz {
namespace {

struct Row {
  std::string_view in, out;
};

TEST(Normalise, Messages) {
  const Row rows[] = {
      {"", ""},
      {"\n\n", ""},
      {"Target 7 is out of bounds.", "Target # is out of bounds."},
      {"Target -100 is out of bounds.", "Target # is out of bounds."},
      {"\nfirst\nsecond", "first"},
      {"The following operation failed in the TorchScript interpreter.\nTraceback of TorchScript:\n  x\nRuntimeError: "
       "index 9 is bad\n",
       "RuntimeError: index # is bad"},
      {"shape '[2, 3]' is invalid for input of size 8", "shape '[#]' is invalid for input of size #"},
      {"found cuda:0 and cuda:13, cpu!", "found cuda:# and cuda:#, cpu!"},
      {"expected scalar type Long but found float32", "expected scalar type Long but found float32"},
      {"conv2d got 3d input at 0x7f3c", "conv2d got 3d input at #"},
      {"value 1.5e-3 and 2.0", "value # and #"},
      {"a-b is a name", "a-b is a name"},
      {"mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
       "mat1 and mat2 shapes cannot be multiplied (# and #)"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.in);
    EXPECT_EQ(normalised_message(row.in), row.out);
  }
  EXPECT_LE(normalised_message(std::string(100'000, 'x')).size(), 300u);
}

TEST(Normalise, KernelNames) {
  const Row rows[] = {
      {"", ""},
      {"unknown", ""},
      {"(null)", ""},
      {"indexSelectSmallIndex", "indexSelectSmallIndex"},
      {"operator()", "operator()"},
      {"lambda [](int)->auto::operator()(int)->auto", "operator()"},
      {"void WrapIndexOp::operator()(long *, long *)", "operator()"},
      {"void voxel_kernel(const T *, int) [with T = c10::Half]", "voxel_kernel"},
      {"void at::native::<unnamed>::f<float, long>(T1 *, const T2 *)", "f"},
      {"at::native::(anonymous namespace)::f(int)", "f"},
      {"__nv_bool n::s<i_t>::can_append(__nv_bool) [with n::k K = n::k::P]", "can_append"},
      {"<<<>>>", ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.in);
    EXPECT_EQ(short_kernel_name(row.in), row.out);
  }
}

TEST(Normalise, Files) {
  const Row rows[] = {
      {"", ""},
      {"unknown", ""},
      {"/pytorch/aten/src/ATen/native/cuda/Loss.cu", "aten/src/ATen/native/cuda/Loss.cu"},
      {"aten/src/ATen/Loss.cu", "aten/src/ATen/Loss.cu"},
      {"C:\\p\\c10\\core\\D.h", "c10/core/D.h"},
      {"/home/u/dsafuzz/kernels/custom/scale.cu", "kernels/custom/scale.cu"},
      {"/home/u/x/scale.cu", "scale.cu"},
      {"scale.cu", "scale.cu"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.in);
    EXPECT_EQ(signature_file(row.in), row.out);
  }
}

}  // namespace
}  // namespace dsafuzz
