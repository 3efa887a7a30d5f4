// See error_mention.h. A program that reports puts a colon, a bracket or nothing before the error; prose has words.
#include "repro/error_mention.h"

#include <algorithm>
#include <array>
#include <string>

#include "repro/scan.h"

namespace dsafuzz {
namespace {

constexpr std::string_view kOpenCurly = "“", kCloseCurly = "”";

std::string_view last_word(std::string_view s) {
  s = trimmed(s);
  std::size_t i = s.size();
  while (i > 0 && is_word(s[i - 1])) --i;
  return s.substr(i);
}

// What stands before the name of the exception: "See also: "RuntimeError: " without its last two words.
std::string_view before_exception(std::string_view s) {
  std::string_view rest = trimmed(s);
  if (!rest.ends_with(':')) return s;
  rest.remove_suffix(1);
  std::size_t i = rest.size();
  while (i > 0 && (is_word(rest[i - 1]) || rest[i - 1] == '.')) --i;
  const std::string_view name = rest.substr(i);
  return name.ends_with("Error") || name.ends_with("Exception") ? rest.substr(0, i) : s;
}

bool is_code(std::string_view before) {
  constexpr std::array<std::string_view, 8> kMarks{"#define ", "// ",      "raise ", "throw ",
                                                   "printf(",  "fprintf(", "print(", "grep "};
  return std::ranges::any_of(kMarks, [&](std::string_view mark) { return contains(before, mark); });
}

// A quotation of the whole message, and not the value of a key in a structured log.
bool is_quotation(std::string_view before, std::string_view after) {
  before = trimmed(before);
  const bool curly = before.ends_with(kOpenCurly) && contains(after, kCloseCurly);
  if (!curly && !(before.ends_with('"') && contains(after, "\""))) return false;
  before.remove_suffix(curly ? kOpenCurly.size() : 1);
  const std::string_view key = trimmed(before);
  return !key.ends_with("\":") && !key.ends_with('=') && !key.ends_with("\\\":") && !key.ends_with('(');
}

}  // namespace

bool only_mentions(std::string_view before, std::string_view after) {
  const std::string_view rest = before_exception(before);
  const bool has_exception = rest.size() != before.size();
  if (trimmed(rest).ends_with('`') || is_code(rest)) return true;
  if (has_exception && is_quotation(rest, after)) return true;
  constexpr std::array<std::string_view, 8> kArticles{"a", "an", "the", "this", "that", "any", "such", "these"};
  return std::ranges::find(kArticles, last_word(rest)) != kArticles.end();
}

}  // namespace dsafuzz
