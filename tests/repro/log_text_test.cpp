// Margins and cleaning: literal in, literal out.
#include "repro/log_text.h"

#include <gtest/gtest.h>

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
  }
}

}  // namespace
}  // namespace dsafuzz
