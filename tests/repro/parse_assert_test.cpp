// Assert lines of each form.
#include "repro/parse_assert.h"

#include <gtest/gtest.h>

#include "repro/parse_dsa.h"

namespace dsafuzz {
namespace {

AssertReading read(std::string_view text) { return parse_asserts(read_log_text(text)); }

TEST(ParseAssert, EachForm) {
  struct Row {
    std::string_view text, file;
    std::int64_t line;
    std::optional<std::string> function;
    std::string_view condition;
    std::optional<Triple> thread;
  };
  const Row rows[] = {
      {"/pytorch/aten/src/ATen/native/cuda/Loss.cu:245: nll: block: [0,0,0], thread: [3,0,0] Assertion `t >= 0` "
       "failed.",
       "aten/src/ATen/native/cuda/Loss.cu", 245, "nll", "t >= 0", Triple{3, 0, 0}},
      // Windows: no function, a drive letter, backslashes, a blank in the path.
      {R"(C:\Program Files\aten\X.cu:7: block: [1,2,3], thread: [4,5,6] Assertion `c` failed.)",
       "aten/X.cu",
       7,
       {},
       "c",
       Triple{4, 5, 6}},
      {"a.cu:1: (null): block: [0,0,0], thread: [0,0,0] Assertion `c` failed.", "a.cu", 1, {}, "c", Triple{0, 0, 0}},
      {"a.cu:1: f: block: [0,0,0], thread: [0,0,0] Assertion `` failed.", "a.cu", 1, "f", "", Triple{0, 0, 0}},
      {"a.cu:1: f: block: [0,0,0], thread: [0,0,0] Assertion `has `quotes` and failed` failed.", "a.cu", 1, "f",
       "has `quotes` and failed", Triple{0, 0, 0}},
      {"a.cu:1: void n::f(int) [with T = n::g; int N = 3]: block: [0,0,0], thread: [0,0,0] Assertion `c` failed.",
       "a.cu", 1, "void n::f(int) [with T = n::g; int N = 3]", "c", Triple{0, 0, 0}},
      {"12:30:01 step 3: a.cu:1: f: block: [0,0,0], thread: [0,0,0] Assertion `c` failed.", "a.cu", 1, "f", "c",
       Triple{0, 0, 0}},
      {"100%|##| 3/3 [00:01, 2it/s]/x/c10/core/D.h:9: f: block: [0,0,0], thread: [0,0,0] Assertion `c` failed.",
       "c10/core/D.h", 9, "f", "c", Triple{0, 0, 0}},
      {"[CUDA_KERNEL_ASSERT] a.cu:1: f: block: [0,0,0], thread: [1,0,0]: Assertion failed: `c`: Say `d` too.", "a.cu",
       1, "f", "c", Triple{1, 0, 0}},
      {"a.hip:2: f: Device-side assertion `n <= m' failed.", "a.hip", 2, "f", "n <= m", {}},
      {"device assertion failed: 'msg', in kernel at /k/a.py:8", "/k/a.py", 8, "kernel", "msg", {}},
      {"a.py:2: unknown: global id: [1,0,0], local id: [1,0,0] Assertion `m` failed.", "a.py", 2, "unknown", "m", {}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const AssertReading reading = read(row.text);
    ASSERT_EQ(reading.records.size(), 1u);
    const AssertRecord& record = reading.records[0];
    EXPECT_EQ(record.file, row.file);
    EXPECT_EQ(record.line, row.line);
    EXPECT_EQ(record.function, row.function);
    EXPECT_EQ(record.condition, row.condition);
    EXPECT_EQ(record.thread, row.thread);
    EXPECT_EQ(reading.count, 1);
  }
}

TEST(ParseAssert, NotADeviceAssert) {
  const std::string_view texts[] = {
      "",
      "FILE:LINE: FUNC: block: [x,y,z], thread: [x,y,z] Assertion `cond` failed.",
      "prog: src/a.cpp:3: void f(): Assertion `c' failed.",
      "Assertion failed: c, file a.cpp, line 3",
      "AssertionError: expected block: [1,2,3]",
      ": block: [0,0,0], thread: [0,0,0] Assertion `c` failed.",
      "a.cu:1: f: block: [0,0,0], thread: [0,0,0] Assertion `c",
      "a.cu:1: f: block: [0,0], thread: [0,0,0] Assertion `c` failed.",
      "a.cu:1: f: block: [99999999999999999999,0,0], thread: [0,0,0] Assertion `c` failed.",
      // Two processes cut into each other: no record may be made of two halves.
      "/a/b.cu:1: x/b.cu:1: f: block: [0,0,0], thread: [0,0,0] Assertion `c` failed.",
  };
  for (std::string_view text : texts) {
    SCOPED_TRACE(text);
    EXPECT_EQ(read(text).count, 0);
  }
}

TEST(ParseAssert, CountsThreadsAndConditionsApart) {
  const AssertReading reading = read(
      "a.cu:1: f: block: [0,0,0], thread: [0,0,0] Assertion `c` failed. "
      "a.cu:1: f: block: [0,0,0], thread: [1,0,0] Assertion `c` failed.\n"
      "a.cu:2: f: block: [0,0,0], thread: [2,0,0] Assertion `d` failed.\n");
  ASSERT_EQ(reading.records.size(), 2u);
  EXPECT_EQ(reading.records[0].count, 2);
  EXPECT_EQ(reading.records[0].thread, (Triple{0, 0, 0}));
  EXPECT_EQ(reading.records[1].count, 1);
  EXPECT_EQ(reading.count, 3);
}

TEST(ParseAssert, ThePrintfTwinIsNotCountedAgain) {
  const AssertReading reading = read(
      "[CUDA_KERNEL_ASSERT] a.cu:1: f: block: [0,0,0], thread: [0,0,0]: Assertion failed: `c`: Message.\n"
      "a.cu:1: f: block: [0,0,0], thread: [0,0,0] Assertion `c` failed.\n");
  EXPECT_EQ(reading.count, 1);
}

TEST(ParseAssert, DistinctRecordsAreBounded) {
  std::string text;
  for (int i = 1; i <= 200; ++i) {
    text += "a.cu:" + std::to_string(i) + ": f: block: [0,0,0], thread: [0,0,0] Assertion `c` failed.\n";
  }
  const AssertReading reading = read(text);
  EXPECT_EQ(reading.records.size(), kAssertRecordLimit);
  EXPECT_EQ(reading.count, 200);
}

TEST(ParseDsa, AMissingFieldIsNoObstacle) {
  const AssertReading reading = parse_dsa(
      read_log_text("3 CUDA device-side assertion failures were found on GPU #0!\nAssertion failure 0\n"
                    "  GPU assertion failure message = t < n\n  Thread ID that failed assertion = [1,0,0]\n"));
  ASSERT_EQ(reading.records.size(), 1u);
  EXPECT_EQ(reading.records[0].condition, "t < n");
  EXPECT_EQ(reading.records[0].thread, (Triple{1, 0, 0}));
  EXPECT_FALSE(reading.records[0].block);
  EXPECT_EQ(reading.count, 3);
}

}  // namespace
}  // namespace dsafuzz
