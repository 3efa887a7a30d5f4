// Tables of calls that fail a device assert, and what the device must print of each: rows of the catalogue.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/kernels/aten_fixture.h"

struct AssertRow {
  const char* row;
  std::function<void(at::TensorOptions on)> call;
  const char* where;  // file and line, from aten/ on
  const char* function;
  const char* condition;
  const char* thread = "block: [0,0,0], thread: [0,0,0]";
};

inline void expect_asserts(const std::vector<AssertRow>& rows) {
  using testing::HasSubstr;
  for (const AssertRow& row : rows) {
    SCOPED_TRACE(row.row);
    vcuda::reset_contexts();
    testing::internal::CaptureStderr();
    try {
      row.call(at::TensorOptions(vcuda_device()).dtype(at::kFloat));
    } catch (const c10::AcceleratorError&) {
      // The operator went on to another call, which found the error.
    }
    const std::string printed = testing::internal::GetCapturedStderr();
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::assert_triggered);
    EXPECT_THAT(printed, HasSubstr(std::string("/pytorch/") + row.where + ": " + row.function + ": block: ["));
    EXPECT_THAT(printed, HasSubstr(row.thread));
    EXPECT_THAT(printed, HasSubstr(std::string("] Assertion `") + row.condition + "` failed.\n"));
  }
}
