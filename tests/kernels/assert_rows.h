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

// Runs the call on a fresh device and expects a failing thread's line. `where` is the file and line from aten/ on;
// `thread` is "block: [x,y,z], thread: [x,y,z]".
inline void expect_assert(const std::function<void()>& call, const std::string& where, const std::string& function,
                          const std::string& condition, const std::string& thread) {
  using testing::HasSubstr;
  vcuda::reset_contexts();
  testing::internal::CaptureStderr();
  try {
    call();
  } catch (const c10::AcceleratorError&) {
    // The operator went on to another call, which found the error.
  }
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_EQ(vcuda::synchronize(), vcuda::Error::assert_triggered);
  EXPECT_THAT(printed, HasSubstr("/pytorch/" + where + ": " + function + ": " + thread + " Assertion `" + condition +
                                 "` failed.\n"));
}

inline void expect_asserts(const std::vector<AssertRow>& rows) {
  for (const AssertRow& row : rows) {
    SCOPED_TRACE(row.row);
    expect_assert([&] { row.call(at::TensorOptions(vcuda_device()).dtype(at::kFloat)); }, row.where, row.function,
                  row.condition, row.thread);
  }
}
