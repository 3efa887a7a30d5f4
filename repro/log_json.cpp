// No JSON parser: a log's line may be cut, and only strings are wanted. One pass over each.
#include "repro/log_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <vector>

#include "repro/code_point.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

// What stands behind an opening quote up to the closing one, which is taken too; all of it where that was cut off.
std::string_view take_string(std::string_view& s) {
  std::size_t i = 0;
  while (i < s.size() && s[i] != '"') i += s[i] == '\\' ? 2 : 1;
  i = std::min(i, s.size());
  const std::string_view inside = s.substr(0, i);
  s.remove_prefix(std::min(i + 1, s.size()));
  return inside;
}

// Four hexadecimal digits behind "\u".
std::optional<std::uint32_t> take_unit(std::string_view& s) {
  constexpr std::size_t kDigits = 4;
  constexpr int kHexadecimal = 16;
  if (s.size() < kDigits) return std::nullopt;
  std::uint32_t unit = 0;
  const char* const end = s.data() + kDigits;
  if (std::from_chars(s.data(), end, unit, kHexadecimal).ptr != end) return std::nullopt;
  s.remove_prefix(kDigits);
  return unit;
}

// `s` is behind "\u". Control characters are dropped: escape sequences have lost the rest of theirs already.
void append_escaped_code(std::string_view& s, std::string& out) {
  const auto unit = take_unit(s);
  if (!unit || *unit < 0x20) return;
  std::string_view second = s;
  if (*unit >= 0xd800 && *unit < 0xdc00 && take(second, "\\u")) {
    if (const auto low = take_unit(second); low && *low >= 0xdc00 && *low < 0xe000) {
      s = second;
      return append_utf8(out, 0x10000 + ((*unit - 0xd800) << 10) + (*low - 0xdc00));
    }
  }
  append_utf8(out, *unit);
}

// Line feeds inside stay, one at the end does not.
std::string unescaped(std::string_view s) {
  std::string out;
  while (!s.empty()) {
    const std::size_t escape = s.find('\\');
    out.append(s.substr(0, escape));
    if (escape == std::string_view::npos || escape + 1 >= s.size()) break;
    const char c = s[escape + 1];
    s.remove_prefix(escape + 2);
    switch (c) {
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case 'r': break;
      case 'u': append_escaped_code(s, out); break;
      default: out += c;
    }
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

bool is_message_key(std::string_view key) {
  constexpr std::array<std::string_view, 7> kKeys{"log", "msg", "message", "MESSAGE", "text", "textPayload", "event"};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

// A value beside the message that is worth reading.
bool is_telling(std::string_view value) {
  return contains(value, "\\n") || (contains(value, "rror") && contains(value, ": "));
}

std::optional<std::string> object_text(std::string_view s) {
  std::optional<std::string_view> message;
  std::vector<std::string_view> others;
  std::string_view key;
  while (take_until(s, "\"")) {
    const std::string_view value = take_string(s);
    std::string_view after = s;
    skip_blanks(after);
    if (after.starts_with(':')) {
      key = value;
    } else if (!message && is_message_key(key)) {
      message = value;
    } else if (is_telling(value) && value != message && (others.empty() || value != others.back())) {
      others.push_back(value);
    }
  }
  if (!message && others.empty()) return std::nullopt;
  std::string out = message ? unescaped(*message) : std::string();
  for (std::string_view other : others) {
    if (!out.empty()) out += '\n';
    out += unescaped(other);
  }
  return out;
}

}  // namespace

std::optional<std::string> json_text(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with("[{\"")) line.remove_prefix(1);
  if (line.starts_with("{\"")) {
    if (auto text = object_text(line.substr(1))) return text;
    return line.starts_with("{\"log\":") ? std::optional<std::string>("") : std::nullopt;
  }
  if (line.ends_with(',')) line.remove_suffix(1);
  if (line.size() < 2 || !line.starts_with('"')) return std::nullopt;
  line.remove_prefix(1);
  const std::string_view inside = take_string(line);
  const bool whole = line.empty() && (contains(inside, "\\n") || contains(inside, "\\u"));
  return whole ? std::optional(unescaped(inside)) : std::nullopt;
}

}  // namespace dsafuzz
