// A log made readable: terminal colours, carriage returns, NUL bytes and UTF-16 removed, lines separated, and the
// margins that wrappers put before a line (rank, pytest, compose, container runtime) taken off. Every grammar reads
// this and none cares how the text came here. Takes any bytes; time is linear in their number, memory is bounded:
// further copies of an assert line that differ in block and thread only are counted, and of a very long log the middle
// keeps only lines that a grammar may want.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dsafuzz {

struct LogText {
  std::vector<std::string> lines;                // without margins and line ends
  std::map<std::size_t, std::int64_t> repeated;  // by index of a line: copies of it that are not kept
  std::int64_t left_out = 0;                     // other lines that are not kept
};

// Kept of one assert line's copies, and bytes kept at the beginning, in the middle and at the end of a log.
inline constexpr std::int64_t kCopiesKept = 2048;
inline constexpr std::size_t kHeadKept = std::size_t{16} << 20;
inline constexpr std::size_t kMiddleKept = std::size_t{8} << 20;
inline constexpr std::size_t kTailKept = std::size_t{8} << 20;

// Takes a log in pieces of any size.
class LogReader {
 public:
  void add(std::string_view bytes);
  LogText finish();  // call once, at the end

 private:
  enum class Encoding : std::uint8_t { unknown, bytes, utf16_little, utf16_big };
  struct Copies {
    std::int64_t first = 0;  // number of the line that all are copies of
    std::int64_t count = 0;
  };
  struct Line {
    std::int64_t number = 0;
    std::string text;
  };

  void decode(std::string_view bytes);
  void add_units(std::string_view bytes);
  void add_text(std::string_view bytes);
  void split_pending();
  void add_row(std::string_view row);
  void add_line(std::string_view raw);
  bool is_further_copy(std::string_view line);
  void keep(Line line);
  void shorten_tail();

  Encoding encoding_ = Encoding::unknown;
  std::string begin_;            // until the encoding is known; later a UTF-16 unit that is not complete
  std::uint32_t surrogate_ = 0;  // UTF-16: the first half of a pair
  std::string pending_;          // the line that is not ended yet
  std::string cleaned_, key_;    // kept for their memory
  LogText log_;
  std::vector<std::int64_t> numbers_;  // of log_.lines
  std::int64_t number_ = 0;            // lines met
  std::size_t head_ = 0, middle_ = 0, tail_bytes_ = 0;
  std::deque<Line> tail_;
  std::unordered_map<std::string, Copies> copies_;
};

LogText read_log_text(std::string_view raw);

// One line without its margins: "[rank0]: x" gives "x"; a line of JSON gives its message. Several lines, with line
// feeds between them, where the line held them escaped.
std::string without_margins(std::string_view line);

}  // namespace dsafuzz
