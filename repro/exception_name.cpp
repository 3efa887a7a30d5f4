// See exception_name.h.
#include "repro/exception_name.h"

#include "repro/scan.h"

namespace dsafuzz {

bool is_exception_name(std::string_view word) {
  constexpr std::size_t kShortest = 6;  // a bare "Error" is a log level
  return word.size() >= kShortest && (word.ends_with("Error") || word.ends_with("Exception"));
}

std::string_view word_at_end(std::string_view s) {
  std::size_t i = s.size();
  while (i > 0) {
    const bool scope = i > 1 && s[i - 1] == ':' && s[i - 2] == ':';
    if (!scope && !is_word(s[i - 1]) && s[i - 1] != '.') break;
    i -= scope ? 2 : 1;
  }
  std::string_view word = s.substr(i);
  while (word.starts_with(':') || word.starts_with('.')) word.remove_prefix(1);
  return word;
}

std::string exception_before(std::string_view before) {
  before = trimmed(before);
  const bool printed = before.ends_with(':');
  const bool represented = before.ends_with("('") || before.ends_with("(\"");
  if (!printed && !represented) return {};
  before.remove_suffix(printed ? 1 : 2);
  const std::string_view word = word_at_end(before);
  return is_exception_name(word) ? std::string(word) : std::string();
}

std::string exception_at_front(std::string_view line) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return {};
  const std::string_view before = trimmed(line.substr(0, colon));
  const std::string_view word = word_at_end(before);
  return word.size() == before.size() && is_exception_name(word) ? std::string(word) : std::string();
}

}  // namespace dsafuzz
