// From raw bytes to lines, in one pass. What is kept is bounded in every direction: the length of a line, the copies of
// one, and the bytes of all.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "repro/code_point.h"
#include "repro/log_text.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr std::size_t kLineCost = 64;  // what a kept line takes beside its text

bool is_csi_parameter(char c) { return is_digit(c) || c == ';' || c == '?'; }

// Length of a colour sequence that lost its ESC byte ("[31m", "[0;36m") at `at`, or 0. Letters other than `m` are
// left alone: "[3K]" may be anybody's text.
std::size_t lost_escape_length(std::string_view s, std::size_t at) {
  constexpr std::size_t kLongest = 12;
  std::size_t i = at + 1;
  while (i < s.size() && i - at < kLongest && (is_digit(s[i]) || s[i] == ';')) ++i;
  return i > at + 1 && i < s.size() && s[i] == 'm' ? i + 1 - at : 0;
}

// Length of the escape sequence whose ESC stands at `at`.
std::size_t escape_length(std::string_view s, std::size_t at) {
  std::size_t i = at + 1;
  if (i >= s.size()) return 1;
  if (s[i] == '[') {
    ++i;
    while (i < s.size() && is_csi_parameter(s[i])) ++i;
    return (i < s.size() ? i + 1 : i) - at;
  }
  if (s[i] == ']') {  // operating system command: to BEL, within one line
    while (i < s.size() && s[i] != '\a' && s[i] != '\n') ++i;
    return (i < s.size() && s[i] == '\a' ? i + 1 : i) - at;
  }
  return 1;
}

// A line of the middle of a long log that a grammar may want.
bool is_telling(std::string_view line) {
  constexpr std::array<std::string_view, 9> kWords{
      "rror", "Traceback", "File \"", "ssert", "=====", "CUDA", "Xid", "terminate", "SUMMARY"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return contains(line, word); });
}

// Without escape sequences, what is left of them, and NUL bytes.
void append_clean(std::string_view raw, std::string& out) {
  for (std::size_t i = 0; i < raw.size();) {
    const char c = raw[i];
    if (c == '\x1b') {
      i += escape_length(raw, i);
    } else if (std::size_t lost = c == '[' ? lost_escape_length(raw, i) : 0; lost != 0) {
      i += lost;
    } else if (c == '\0') {
      ++i;
    } else {
      std::size_t end = i + 1;
      while (end < raw.size() && raw[end] != '\x1b' && raw[end] != '[' && raw[end] != '\0') ++end;
      out.append(raw, i, end - i);
      i = end;
    }
  }
}

}  // namespace

void LogReader::add(std::string_view bytes) {
  if (encoding_ != Encoding::unknown) return decode(bytes);
  begin_ += bytes;
  constexpr std::size_t kLongestMark = 3;
  if (begin_.size() >= kLongestMark) decode(std::exchange(begin_, {}));
}

void LogReader::decode(std::string_view bytes) {
  if (encoding_ == Encoding::unknown) {
    encoding_ = Encoding::bytes;
    if (take(bytes, "\xff\xfe")) encoding_ = Encoding::utf16_little;
    if (take(bytes, "\xfe\xff")) encoding_ = Encoding::utf16_big;
    take(bytes, "\xef\xbb\xbf");
  }
  if (encoding_ == Encoding::bytes) return add_text(bytes);
  add_units(bytes);
}

void LogReader::add_units(std::string_view bytes) {
  std::string units = std::exchange(begin_, {});
  units += bytes;
  std::string text;
  const std::size_t low = encoding_ == Encoding::utf16_little ? 0 : 1;
  std::size_t i = 0;
  for (; i + 1 < units.size(); i += 2) {
    const std::uint32_t unit =
        static_cast<unsigned char>(units[i + low]) | static_cast<unsigned char>(units[i + 1 - low]) << 8U;
    if (unit >= 0xd800 && unit < 0xdc00) {
      surrogate_ = unit;
    } else if (unit >= 0xdc00 && unit < 0xe000 && surrogate_ != 0) {
      append_utf8(text, 0x10000 + ((surrogate_ - 0xd800) << 10) + (unit - 0xdc00));
      surrogate_ = 0;
    } else {
      append_utf8(text, unit);
    }
  }
  begin_ = units.substr(i);
  add_text(text);
}

void LogReader::add_text(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      pending_ += bytes;
      if (pending_.size() > kLongestLine) split_pending();
      return;
    }
    if (pending_.empty()) {
      add_row(bytes.substr(0, end));
    } else {
      pending_ += bytes.substr(0, end);
      add_row(pending_);
      pending_.clear();
    }
    bytes.remove_prefix(end + 1);
  }
}

// A line without an end: cut where a record or a word ends.
void LogReader::split_pending() {
  std::size_t end = pending_.rfind('\r');
  if (end == std::string::npos) end = pending_.rfind("failed. ");
  if (end == std::string::npos || end < pending_.size() / 2) end = pending_.rfind(' ');
  end = end == std::string::npos ? pending_.size() : pending_.find_first_of("\r ", end) + 1;
  const std::string rest = pending_.substr(end);
  pending_.resize(end);
  add_row(pending_);
  pending_ = rest;
}

// What stands between two line feeds: one line, or several with lone carriage returns between them.
void LogReader::add_row(std::string_view row) {
  if (row.ends_with('\r')) row.remove_suffix(1);
  while (true) {
    const std::size_t end = row.find('\r');
    add_line(row.substr(0, end));
    if (end == std::string_view::npos) return;
    row.remove_prefix(end + 1);
  }
}

void LogReader::add_line(std::string_view raw) {
  cleaned_.clear();
  append_clean(raw, cleaned_);
  std::string lines = without_margins(cleaned_);
  std::string_view rest = lines;
  while (true) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    const std::int64_t number = number_++;
    if (!is_further_copy(line)) keep({number, std::string(line)});
    if (end == std::string_view::npos) return;
    rest.remove_prefix(end + 1);
  }
}

// Whether the line is one of so many copies that it is counted only. A copy differs in its two triples alone.
bool LogReader::is_further_copy(std::string_view line) {
  constexpr std::size_t kTextsKept = 256;
  constexpr std::size_t kLongestKey = 4096;
  constexpr std::string_view kBlock = " block: [", kThread = "], thread: [";
  const std::size_t block = line.find(kBlock);
  if (block == std::string_view::npos || line.size() > kLongestKey) return false;
  const std::size_t block_end = line.find(']', block);
  if (block_end == std::string_view::npos || !line.substr(block_end).starts_with(kThread)) return false;
  const std::size_t thread_end = line.find(']', block_end + kThread.size());
  if (thread_end == std::string_view::npos || line.find(kBlock, thread_end) != std::string_view::npos) return false;
  key_.assign(line.substr(0, block));
  key_.append(line.substr(thread_end));
  auto known = copies_.find(key_);
  if (known == copies_.end()) {
    if (copies_.size() < kTextsKept) copies_.emplace(key_, Copies{number_ - 1, 1});
    return false;
  }
  return ++known->second.count > kCopiesKept;
}

void LogReader::keep(Line line) {
  const std::size_t cost = line.text.size() + kLineCost;
  if (tail_.empty() && head_ + cost <= kHeadKept) {
    head_ += cost;
    numbers_.push_back(line.number);
    log_.lines.push_back(std::move(line.text));
    return;
  }
  tail_bytes_ += cost;
  tail_.push_back(std::move(line));
  shorten_tail();
}

void LogReader::shorten_tail() {
  while (tail_bytes_ > kTailKept && !tail_.empty()) {
    Line line = std::move(tail_.front());
    tail_.pop_front();
    const std::size_t cost = line.text.size() + kLineCost;
    tail_bytes_ -= cost;
    if (middle_ + cost > kMiddleKept || !is_telling(line.text)) {
      ++log_.left_out;
      continue;
    }
    middle_ += cost;
    numbers_.push_back(line.number);
    log_.lines.push_back(std::move(line.text));
  }
}

LogText LogReader::finish() {
  if (encoding_ == Encoding::unknown) decode(std::exchange(begin_, {}));
  cleaned_.clear();
  append_clean(pending_, cleaned_);
  if (!cleaned_.empty()) add_row(pending_);
  for (Line& line : tail_) {
    numbers_.push_back(line.number);
    log_.lines.push_back(std::move(line.text));
  }
  for (const auto& [key, copies] : copies_) {
    if (copies.count <= kCopiesKept) continue;
    const auto first = std::ranges::lower_bound(numbers_, copies.first);
    const bool kept = first != numbers_.end() && *first == copies.first;
    const std::int64_t further = copies.count - kCopiesKept;
    if (kept) {
      log_.repeated[static_cast<std::size_t>(first - numbers_.begin())] = further;
    } else {
      log_.left_out += further;
    }
  }
  return std::move(log_);
}

}  // namespace dsafuzz
