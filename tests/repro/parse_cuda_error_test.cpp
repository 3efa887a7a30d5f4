// Error texts of each era and library.
#include "repro/parse_cuda_error.h"

#include <gtest/gtest.h>

namespace dsafuzz {
namespace {

TEST(ParseCudaError, EachText) {
  struct Row {
    std::string_view text;
    std::optional<int> code;
    std::string_view name, exception, api_call;
  };
  const Row rows[] = {
      {"torch.AcceleratorError: CUDA error: device-side assert triggered", 710, "cudaErrorAssert",
       "torch.AcceleratorError", ""},
      {"CUDA error: an illegal memory access was encountered", 700, "cudaErrorIllegalAddress", "", ""},
      {"RuntimeError: HIP error: unspecified launch failure", 719, "hipErrorLaunchFailure", "RuntimeError", ""},
      {"RuntimeError: cuda runtime error (77) : an illegal memory access was encountered at a.cu:3", 77,
       "cudaErrorIllegalAddress", "RuntimeError", ""},
      {"RuntimeError: radix_sort: failed to synchronize: cudaErrorIllegalAddress: an illegal memory access was "
       "encountered",
       700, "cudaErrorIllegalAddress", "RuntimeError", "radix_sort"},
      {"RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm( handle, a)`",
       {},
       "CUBLAS_STATUS_EXECUTION_FAILED",
       "RuntimeError",
       "cublasSgemm"},
      {"RuntimeError: CUDA error: a text of tomorrow", {}, "", "RuntimeError", ""},
      {"========= Program hit cudaErrorLaunchFailure (error 719) due to \"x\" on CUDA API call to cudaFree.", 719,
       "cudaErrorLaunchFailure", "", "cudaFree"},
      {"terminate called after throwing an instance of 'c10::Error'\n  what():  CUDA error: misaligned address", 716,
       "cudaErrorMisalignedAddress", "c10::Error", ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const auto error = parse_cuda_error(read_log_text(row.text));
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, row.code);
    EXPECT_EQ(error->name, row.name);
    EXPECT_EQ(error->exception, row.exception);
    EXPECT_EQ(error->api_call, row.api_call);
  }
}

TEST(ParseCudaError, NotAnError) {
  const std::string_view texts[] = {"", "If you see `RuntimeError: CUDA error: device-side assert triggered`, rerun.",
                                    "test_device_side_assert_triggered PASSED",
                                    "========= Program hit cudaErrorInvalidValue (error 1) due to \"x\"",
                                    "Returning 1 (X) from y"};
  for (std::string_view text : texts) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(parse_cuda_error(read_log_text(text)));
  }
}

TEST(ParseCudaError, TheFirstErrorIsTheFault) {
  const auto error = parse_cuda_error(read_log_text(
      "RuntimeError: CUDA error: device-side assert triggered\nRuntimeError: CUDA error: out of memory\n"));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, 710);
}

TEST(ParseCudaError, StickyCodes) {
  for (int code : {700, 702, 710, 714, 715, 716, 717, 718, 719}) EXPECT_TRUE(is_sticky(code)) << code;
  for (int code : {0, 1, 2, 98, 101, 209}) EXPECT_FALSE(is_sticky(code)) << code;
}

}  // namespace
}  // namespace dsafuzz
