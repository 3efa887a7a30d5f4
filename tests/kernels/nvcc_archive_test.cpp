// The kernels that nvcc compiled still hold their asserts, although the build defines NDEBUG: without the call to
// __assertfail and the texts the driver prints, a GPU would accept silently what the virtual device rejects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace {

TEST(NvccArchiveTest, HoldsTheAsserts) {
  const std::string path = DSAFUZZ_CUDA_ARCHIVE;
  if (path.empty()) GTEST_SKIP() << "built without nvcc: there is no archive of CUDA kernels";
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path;
  const std::string archive{std::istreambuf_iterator<char>(file), {}};
  // File and condition as PyTorch's own kernels print them.
  for (const char* text : {
           "__assertfail",
           "/pytorch/aten/src/ATen/native/cuda/Loss.cu",
           "t >= 0 && t < n_classes",
           "/pytorch/aten/src/ATen/native/cuda/NLLLoss2d.cu",
           "cur_target >= 0 && cur_target < n_classes",
           "/pytorch/aten/src/ATen/native/cuda/IndexKernel.cu",
           "-sizes[i] <= index && index < sizes[i] && \"index out of bounds\"",
           "/pytorch/aten/src/ATen/native/cuda/Indexing.cu",
           "srcIndex < srcSelectDimSize",
           "/pytorch/aten/src/ATen/native/cuda/ScatterGatherKernel.cu",
           "idx_dim >= 0 && idx_dim < index_size && \"index out of bounds\"",
           "ind >=0 && ind < ind_dim_size && \"vectorized gather kernel index out of bounds\"",
       }) {
    EXPECT_NE(archive.find(text), std::string::npos) << text;
  }
}

}  // namespace
