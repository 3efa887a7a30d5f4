#include "repro/version_number.h"

#include <algorithm>

#include "repro/scan.h"

namespace dsafuzz {
namespace {

// The next number, and the dot after it if a number follows; 0 at the end.
std::int64_t take_part(std::string_view& s) {
  const auto number = take_number(s);
  if (!number) {
    s = {};
    return 0;
  }
  if (s.size() > 1 && s.front() == '.' && is_digit(s[1])) {
    s.remove_prefix(1);
  } else {
    s = {};
  }
  return *number;
}

}  // namespace

std::strong_ordering compare_versions(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    const std::int64_t x = take_part(a), y = take_part(b);
    if (x != y) return x <=> y;
  }
  return std::strong_ordering::equal;
}

std::string version_prefix(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() &&
         (is_digit(text[end]) || (text[end] == '.' && end > 0 && end + 1 < text.size() && is_digit(text[end + 1]))))
    ++end;
  return std::string(text.substr(0, end));
}

std::string version_head(std::string_view version, std::size_t parts) {
  std::size_t end = 0;
  while (end < version.size() && (version[end] != '.' || --parts > 0)) ++end;
  return std::string(version.substr(0, end));
}

std::size_t version_parts(std::string_view version) {
  return version.empty() ? 0 : 1 + static_cast<std::size_t>(std::ranges::count(version, '.'));
}

std::string_view dotted_word(std::string_view text) {
  constexpr std::string_view kEnds = " \t,";
  for (std::size_t at = 0; (at = text.find_first_not_of(kEnds, at)) != std::string_view::npos;) {
    const std::string_view word = text.substr(at, text.find_first_of(kEnds, at) - at);
    if (contains(word, ".") && word.find_first_not_of("0123456789.") == std::string_view::npos) return word;
    at += word.size();
  }
  return {};
}

}  // namespace dsafuzz
