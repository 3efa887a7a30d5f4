#include "repro/escape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "tests/repro/emit_example.h"

namespace dsafuzz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Escape, PythonStringsReadBackAsTheirBytes) {
  if (!has_torch()) GTEST_SKIP() << "no Python at " << python();
  std::string program = "values = [\n", expected = "expected = [\n";
  for (const std::string& text : kHostile) {
    program += python_string(text) + ",\n";
    expected += "bytes([";
    for (const char c : text) expected += std::to_string(static_cast<unsigned char>(c)) + ",";
    expected += "]),\n";
  }
  const std::string path =
      write("strings.py", program + "]\n" + expected +
                              "]\nfor v, e in zip(values, expected):\n    assert v.encode('latin-1') == e, e\n");
  const Ran ran = run(python() + " " + path);
  EXPECT_EQ(ran.code, 0) << ran.output;
}

TEST(Escape, CppStringsReadBackAsTheirBytes) {
  std::string program = "#include <cstring>\nint main() {\n";
  for (const std::string& text : kHostile) {
    program += "{ const char a[] = " + cpp_string(text) + "; const unsigned char b[] = {";
    for (const char c : text) program += std::to_string(static_cast<unsigned char>(c)) + ",";
    program += "0}; if (sizeof a != sizeof b || std::memcmp(a, b, sizeof a)) return 1; }\n";
    program += "// " + comment_text(text) + "\n if (false) return 2;\n";
  }
  const std::string path = write("strings.cpp", program + "return 0; }\n");
  const Ran built = run(std::string(DSAFUZZ_CXX) + " -std=c++14 -trigraphs -w -o " + path + ".exe " + path);
  ASSERT_EQ(built.code, 0) << built.output.substr(0, 2000);
  EXPECT_EQ(run(path + ".exe").code, 0);
}

TEST(Escape, CommentsAndMarkdownStayInTheirPlace) {
  for (const std::string& text : kHostile) {
    SCOPED_TRACE(text.substr(0, 40));
    const std::string comment = comment_text(text);
    EXPECT_TRUE(std::ranges::all_of(comment, [](unsigned char c) { return c >= 0x20 && c < 0x7f; }));
    EXPECT_FALSE(comment.ends_with('\\'));
    EXPECT_FALSE(comment.ends_with("?\?/"));
    EXPECT_LT(comment.size(), 120u);
    EXPECT_THAT(markdown_code(text), Not(HasSubstr("\n")));
    EXPECT_THAT(markdown_text(text), Not(HasSubstr("\n")));
    // The closing fence is the last line, and no line before is a fence as long.
    const std::string block = markdown_block(text);
    const std::string fence = block.substr(0, block.find_first_not_of('`'));
    EXPECT_TRUE(block.ends_with("\n" + fence + "\n"));
    EXPECT_EQ(block.find("\n" + fence), block.size() - fence.size() - 2);
    EXPECT_FALSE(nlohmann::json(as_utf8(text)).dump().empty());  // throws on wrong UTF-8
  }
  EXPECT_EQ(cmake_string("a${b};\"c\"@d@"), "\"a\\${b}\\;\\\"c\\\"\\@d\\@\"");
}

TEST(Identifiers, AreUniqueAndNeverKeywords) {
  for (const auto language : {Identifiers::Language::python, Identifiers::Language::cpp}) {
    Identifiers names(language);
    std::set<std::string> seen;
    for (const char* name : {"a", "a", "a.b", "a_b", "class", "for", "torch", "device", "_", "__x", "at", "int", "call",
                             "9", "\xc3\xa9", "", "None", "print", "a_2"}) {
      const std::string made = names.make(name);
      EXPECT_TRUE(seen.insert(made).second) << made;
      EXPECT_TRUE(std::isalpha(static_cast<unsigned char>(made[0]))) << made;
    }
    for (const char* word : {"class", "for", "device", "int"}) EXPECT_FALSE(seen.contains(word));
  }
}

}  // namespace
}  // namespace dsafuzz
