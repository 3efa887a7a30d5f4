// Margins and cleaning: literal in, literal out.
#include "repro/log_text.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace dsafuzz {
namespace {

TEST(LogText, MarginsAreTakenOff) {
  struct Row {
    std::string_view in, out;
  };
  const Row rows[] = {
      {"", ""},
      {"plain", "plain"},
      {"[rank0]: x", "x"},
      {"[rank12]:", ""},
      {"[rank]: x", "[rank]: x"},
      {"> quoted", "quoted"},
      {"E       RuntimeError: y", "RuntimeError: y"},
      {"Error stays", "Error stays"},
      {"    |   File \"a.py\"", "  File \"a.py\""},
      {"| a table row", "| a table row"},
      {"trainer-1  | x", "x"},
      {"2026-02-03T04:05:06.7Z stderr F x", "x"},
      {"trainer-1  | [rank3]: x", "x"},
      {R"({"log": "say \"a\"\n", "stream": "stderr"})", R"(say "a")"},
      {R"({"log":)", ""},
      {R"({"level":"error","msg":"a \u003c b"})", "a < b"},
      {R"({"message": "one\ntwo\n"})", "one\ntwo"},
      {"3: x", "x"},
      {" 12: x", "x"},
      {"1234567: x", "1234567: x"},
      {"[default3]:x", "x"},
      {"[1,3]<stderr>:x", "x"},
      {"(train_fn pid=20311, ip=10.0.3.7) x", "x"},
      {"(train_fn) x", "(train_fn) x"},
      {"(VllmWorker rank=5 pid=33503) ERROR 03-06 06:49:30 [worker.py:375]   File \"a.py\"", "  File \"a.py\""},
      {"│ ERROR 09-27 06:46:46 engine.py:157] x      │", "x"},
      {"[pod/train-0/main] x", "x"},
      {"2026-03-01 10:11:12,345 x", "x"},
      {"2026-03-01T10:11:12.345+01:00 x", "x"},
      {"2026-03-01 10:11:12.345: E x", "2026-03-01 10:11:12.345: E x"},
      {"Mar  1 10:11:12 gpu07 train[2231]: x", "x"},
      {"a &lt; b &amp;&amp; c &amp;lt; d", "a < b && c &lt; d"},
      {R"(e = 'Traceback (most recent call last):\n  File \"a.py\"')",
       "e = 'Traceback (most recent call last):\n  File \"a.py\"'"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.in);
    EXPECT_EQ(without_margins(row.in), row.out);
  }
}

TEST(LogText, BytesAreCleaned) {
  struct Row {
    std::string in;
    std::vector<std::string> out;
  };
  const Row rows[] = {
      {"", {}},
      {"\n", {""}},
      {"a\r\nb\rc\n", {"a", "b", "c"}},
      {"no end", {"no end"}},
      {"\x1b[1;31mred\x1b[0m", {"red"}},
      {"[31mred[0m", {"red"}},
      {"[m] and [3] stay", {"[m] and [3] stay"}},
      {"\x1b]0;title\aafter", {"after"}},
      {"\x1b", {}},
      {std::string("a\0b", 3), {"ab"}},
      {std::string("\xff\xfe"
                   "a\0\n\0b\0",
                   8),
       {"a", "b"}},
      {"\xef\xbb\xbftext", {"text"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.in);
    EXPECT_EQ(read_log_text(row.in).lines, row.out);
    LogReader by_bytes;  // pieces of one byte give the same
    for (char c : row.in) by_bytes.add(std::string_view(&c, 1));
    EXPECT_EQ(by_bytes.finish().lines, row.out);
  }
}

std::string assert_line(int thread) {
  return "/p/x.cu:7: f: block: [0,0,0], thread: [" + std::to_string(thread) + ",0,0] Assertion `i < n` failed.\n";
}

TEST(LogText, FurtherCopiesOfAnAssertAreOnlyCounted) {
  constexpr int kLines = static_cast<int>(kCopiesKept) + 1000;
  LogReader reader;
  reader.add("before\n");
  for (int i = 0; i < kLines; ++i) reader.add(assert_line(i));
  reader.add("after\n");
  const LogText log = reader.finish();
  EXPECT_EQ(log.lines.size(), static_cast<std::size_t>(kCopiesKept) + 2);
  EXPECT_EQ(log.lines.back(), "after");
  ASSERT_EQ(log.repeated.size(), 1u);
  EXPECT_EQ(log.repeated.begin()->first, 1u);
  EXPECT_EQ(log.repeated.begin()->second, 1000);
  EXPECT_EQ(log.left_out, 0);
}

// The beginning, the end, and what a grammar may want between them.
TEST(LogText, TheMiddleOfALongLogIsLeftOut) {
  LogReader reader;
  std::int64_t lines = 0;
  const auto add_plain = [&](std::size_t bytes) {
    const std::string plain(200, 'x');
    for (std::size_t size = 0; size < bytes; size += plain.size() + 1, ++lines) reader.add(plain + "\n");
  };
  reader.add("first\n");
  add_plain(kHeadKept);
  reader.add("RuntimeError: in the middle\n");
  add_plain(kTailKept + kMiddleKept);
  reader.add("last");
  const LogText log = reader.finish();
  EXPECT_EQ(log.lines.front(), "first");
  EXPECT_EQ(log.lines.back(), "last");
  EXPECT_NE(std::ranges::find(log.lines, "RuntimeError: in the middle"), log.lines.end());
  EXPECT_GT(log.left_out, 0);
  EXPECT_EQ(log.left_out + static_cast<std::int64_t>(log.lines.size()), lines + 3);
}

}  // namespace
}  // namespace dsafuzz
