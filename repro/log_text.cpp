// The margins that wrappers put before a line; the rules of each stand beside its name. log_reader.cpp does the rest.
#include "repro/log_text.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "repro/scan.h"

namespace dsafuzz {
namespace {

// "trainer-1  | ": a service name that ends in a number, blanks, a bar.
std::size_t compose_margin(std::string_view s) {
  std::size_t i = 0;
  while (i < s.size() && i < 64 && (is_word(s[i]) || s[i] == '-' || s[i] == '.')) ++i;
  if (i < 3 || !is_digit(s[i - 1])) return 0;
  const std::size_t dash = s.substr(0, i).rfind('-');
  if (dash == std::string_view::npos) return 0;
  while (i < s.size() && s[i] == ' ') ++i;
  return s.substr(i).starts_with("| ") ? i + 2 : 0;
}

// "2026-02-03T04:05:06.7Z stderr F ".
std::size_t container_margin(std::string_view s) {
  if (s.size() < 12 || !is_digit(s[0]) || s[4] != '-') return 0;
  const std::size_t blank = s.substr(0, 48).find(' ');
  if (blank == std::string_view::npos) return 0;
  for (std::string_view stream : {" stderr F ", " stdout F ", " stderr P ", " stdout P "}) {
    if (s.substr(blank).starts_with(stream)) return blank + stream.size();
  }
  return 0;
}

// "[rank12]: " and "[rank12]:".
std::size_t rank_margin(std::string_view s) {
  if (!s.starts_with("[rank")) return 0;
  std::size_t i = 5;
  while (i < s.size() && is_digit(s[i])) ++i;
  if (i == 5 || !s.substr(i).starts_with("]:")) return 0;
  i += 2;
  return i < s.size() && s[i] == ' ' ? i + 1 : i;
}

// Quotes, pytest's "E       ", rich's box, ExceptionGroup's "  | ".
std::size_t drawn_margin(std::string_view s) {
  if (s.starts_with("> ")) return 2;
  if (s.starts_with("E   ")) {
    std::size_t i = 1;
    while (i < s.size() && i < 8 && s[i] == ' ') ++i;
    return i;
  }
  if (s.starts_with("│ ")) return std::string_view("│ ").size();
  std::size_t i = 0;
  while (i < s.size() && s[i] == ' ') ++i;
  return i > 0 && s.substr(i).starts_with("| ") ? i + 2 : 0;
}

std::string json_log_field(std::string_view s) {
  std::size_t i = s.find(':');
  i = s.find('"', i == std::string_view::npos ? s.size() : i);
  std::string out;
  if (i == std::string_view::npos) return out;
  for (++i; i < s.size() && s[i] != '"'; ++i) {
    if (s[i] == '\\' && i + 1 < s.size()) {
      ++i;
      if (s[i] == 'n' || s[i] == 'r') continue;
      out += s[i] == 't' ? '\t' : s[i];
    } else {
      out += s[i];
    }
  }
  return out;
}

// A log that went through a page translator; the tools themselves are never localised. Only whole phrases are put
// back, so that a path in that language stays as it is.
std::string untranslated(std::string line) {
  using Phrase = std::pair<std::string_view, std::string_view>;
  static constexpr std::array kPhrases{Phrase{"：块：[", ": block: ["},
                                       Phrase{"，线程：[", ", thread: ["},
                                       Phrase{" 断言“", " Assertion `"},
                                       Phrase{"”失败。", "` failed."},
                                       Phrase{"，", ","},
                                       Phrase{"：", ":"},
                                       Phrase{"CUDA 错误:触发设备端断言", " CUDA error: device-side assert triggered"}};
  for (const auto& [from, to] : kPhrases) {
    std::string out;
    std::size_t at = 0;
    for (std::size_t hit; (hit = line.find(from, at)) != std::string::npos; at = hit + from.size()) {
      out.append(line, at, hit - at).append(to);
    }
    line = at == 0 ? line : out.append(line, at, std::string::npos);
  }
  return line;
}

}  // namespace

std::string without_margins(std::string_view line) {
  constexpr int kNested = 6;
  for (int i = 0; i < kNested; ++i) {
    if (line.starts_with("{\"log\":")) return json_log_field(line);
    std::size_t margin = rank_margin(line);
    if (margin == 0) margin = drawn_margin(line);
    if (margin == 0) margin = container_margin(line);
    if (margin == 0) margin = compose_margin(line);
    if (margin == 0) break;
    line.remove_prefix(margin);
  }
  const bool translated =
      line.find("：块：[") != std::string_view::npos || line.find("触发设备端断言") != std::string_view::npos;
  return translated ? untranslated(std::string(line)) : std::string(line);
}

LogText read_log_text(std::string_view raw) {
  LogReader reader;
  reader.add(raw);
  return reader.finish();
}

}  // namespace dsafuzz
