// See scan.h.
#include "repro/scan.h"

#include <algorithm>
#include <array>

namespace dsafuzz {

bool take(std::string_view& s, std::string_view word) {
  if (!s.starts_with(word)) return false;
  s.remove_prefix(word.size());
  return true;
}

void skip_blanks(std::string_view& s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
}

std::string_view trimmed(std::string_view s) {
  skip_blanks(s);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

bool contains(std::string_view s, std::string_view word) { return s.find(word) != std::string_view::npos; }

std::string_view first_line(std::string_view s) { return s.substr(0, s.find('\n')); }

std::optional<std::int64_t> take_number(std::string_view& s) {
  constexpr std::size_t kMostDigits = 18;
  std::int64_t value = 0;
  std::size_t i = 0;
  while (i < s.size() && is_digit(s[i]) && i < kMostDigits) value = value * 10 + (s[i++] - '0');
  if (i == 0 || (i < s.size() && is_digit(s[i]))) return std::nullopt;
  s.remove_prefix(i);
  return value;
}

std::optional<std::int64_t> take_grouped_number(std::string_view& s) {
  constexpr std::size_t kMostLength = 24;
  std::string digits;
  std::size_t i = 0;
  while (i < s.size() && i < kMostLength) {
    if (is_digit(s[i])) {
      digits += s[i++];
      continue;
    }
    const std::string_view rest = s.substr(i);
    constexpr std::array<std::string_view, 6> kSeparators{",", ".", "'", "’", "\u00a0", "\u202f"};
    const auto* const separator =
        std::ranges::find_if(kSeparators, [&](std::string_view each) { return rest.starts_with(each); });
    if (i == 0 || separator == kSeparators.end()) break;
    const std::string_view group = rest.substr(separator->size(), 3);
    if (group.size() < 3 || !std::ranges::all_of(group, is_digit)) break;
    i += separator->size();
  }
  std::string_view view = digits;
  const auto value = take_number(view);
  if (value) s.remove_prefix(i);
  return value;
}

std::optional<Triple> take_triple(std::string_view& s, char open, char close) {
  std::string_view rest = s;
  if (rest.empty() || rest.front() != open) return std::nullopt;
  Triple triple{};
  for (std::size_t i = 0; i < triple.size(); ++i) {
    rest.remove_prefix(1);  // the bracket or the comma before
    skip_blanks(rest);
    const auto number = take_number(rest);
    const char after = i + 1 < triple.size() ? ',' : close;
    if (!number || rest.empty() || rest.front() != after) return std::nullopt;
    triple[i] = *number;
  }
  rest.remove_prefix(1);
  s = rest;
  return triple;
}

std::optional<std::string_view> take_until(std::string_view& s, std::string_view end) {
  const std::size_t at = s.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view head = s.substr(0, at);
  s.remove_prefix(at + end.size());
  return head;
}

std::optional<FileLine> split_file_line(std::string_view s) {
  const std::size_t colon = s.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  std::string_view digits = s.substr(colon + 1);
  const auto line = take_number(digits);
  if (!line || !digits.empty()) return std::nullopt;
  return FileLine{s.substr(0, colon), *line};
}

std::string trimmed_path(std::string_view path) {
  std::string slashed(path);
  std::ranges::replace(slashed, '\\', '/');
  for (std::string_view root : {"/aten/", "/c10/"}) {
    if (slashed.starts_with(root.substr(1))) return slashed;
    const std::size_t at = slashed.rfind(root);
    if (at != std::string::npos) return slashed.substr(at + 1);
  }
  return std::string(path);
}

}  // namespace dsafuzz
