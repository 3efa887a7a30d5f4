#include "repro/smi_cells.h"

#include <algorithm>

#include "repro/scan.h"

namespace dsafuzz {

std::string_view first_word(std::string_view s) {
  s = trimmed(s);
  return s.substr(0, s.find_first_of(" \t"));
}
std::string_view last_word(std::string_view s) {
  s = trimmed(s);
  const std::size_t blank = s.find_last_of(" \t");
  return blank == std::string_view::npos ? s : s.substr(blank + 1);
}

std::vector<std::string_view> cells_of(std::string_view s, char at) {
  constexpr std::size_t kMost = 64;
  std::vector<std::string_view> parts;
  while (parts.size() < kMost) {
    const std::size_t end = s.find(at);
    parts.push_back(trimmed(s.substr(0, end)));
    if (end == std::string_view::npos) break;
    s.remove_prefix(end + 1);
  }
  return parts;
}

Told number_of(std::string_view s) {
  s = trimmed(s);
  const auto number = take_number(s);
  return number ? Told(*number) : Told();
}

Told text_of_cell(std::string_view s) {
  s = trimmed(s);
  const bool unknown = s.empty() || s == "N/A" || s == "ERR!" || s.starts_with('[');
  return unknown ? Told() : Told(std::string(s));
}

bool is_bus_id(std::string_view s) {
  return std::ranges::count(s, ':') >= 1 && contains(s, ".") &&
         std::ranges::all_of(s, [](char c) { return is_hex(c) || c == ':' || c == '.'; });
}

}  // namespace dsafuzz
