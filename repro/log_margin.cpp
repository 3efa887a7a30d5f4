// See log_margin.h. Each form has a function of its own; the rules stand beside its name.
#include "repro/log_margin.h"

#include <algorithm>
#include <array>

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

// torchrun's "[rank12]: ", "[rank12]:", "[default3]:"; mpirun's "[1,3]<stderr>:"; srun's "3: ", " 12: "
std::size_t rank_margin(std::string_view s) {
  std::string_view rest = s;
  skip_blanks(rest);
  constexpr std::ptrdiff_t kLongestRank = 6;
  const char* const number = rest.data();
  if (take_number(rest) && rest.data() - number < kLongestRank && take(rest, ": ")) return s.size() - rest.size();
  rest = s;
  if (take(rest, "[rank") || take(rest, "[default")) {
    if (!take_number(rest) || !take(rest, "]:")) return 0;
  } else if (take(rest, "[")) {
    if (!take_number(rest) || !take(rest, ",") || !take_number(rest) || !take(rest, "]<std")) return 0;
    if (!take(rest, "err>:") && !take(rest, "out>:")) return 0;
  } else {
    return 0;
  }
  take(rest, " ");
  return s.size() - rest.size();
}

// Ray's "(train_fn pid=20311, ip=10.0.3.7) ", vLLM's "(VllmWorker rank=5 pid=33503) ", kubectl's "[pod/train-0/main] "
std::size_t actor_margin(std::string_view s) {
  constexpr std::size_t kLongest = 160;
  const bool pod = s.starts_with("[pod/");
  if (!pod && !s.starts_with('(')) return 0;
  const std::size_t end = s.substr(0, kLongest).find(pod ? "] " : ") ");
  if (end == std::string_view::npos) return 0;
  const std::string_view inside = s.substr(1, end - 1);
  if (!pod && !contains(inside, "pid=")) return 0;
  return contains(inside, "(") ? 0 : end + 2;
}

bool take_clock(std::string_view& s) {  // "10:11:12", ".345", ",345"
  std::string_view rest = s;
  for (std::string_view after : {":", ":", ""}) {
    if (rest.size() < 2 || !is_digit(rest[0]) || !is_digit(rest[1])) return false;
    rest.remove_prefix(2);
    if (!take(rest, after)) return false;
  }
  if (take(rest, ".") || take(rest, ",")) take_number(rest);
  s = rest;
  return true;
}

bool take_date(std::string_view& s) {  // "2026-03-01", "03-01"
  std::string_view rest = s;
  const auto first = take_number(rest);
  if (!first || !take(rest, "-") || !take_number(rest)) return false;
  if (*first > 31 && (!take(rest, "-") || !take_number(rest))) return false;
  s = rest;
  return true;
}

// "2026-03-01T10:11:12.345Z ", "2026-03-01 10:11:12,345 ", "+01:00 "; a colon instead of the blank is a logger's own.
std::size_t time_margin(std::string_view s) {
  std::string_view rest = s;
  if (!take_date(rest) || (!take(rest, "T") && !take(rest, " ")) || !take_clock(rest)) return 0;
  if (!take(rest, "Z") && (take(rest, "+") || take(rest, "-")))
    take_number(rest) && take(rest, ":") && take_number(rest);
  return take(rest, " ") ? s.size() - rest.size() : 0;
}

// "Mar  1 10:11:12 gpu07 train[2231]: ", and "Mar  1 10:11:12 " as `ts` puts before any line
std::size_t syslog_margin(std::string_view s) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan ", "Feb ", "Mar ", "Apr ", "May ", "Jun ",
                                                     "Jul ", "Aug ", "Sep ", "Oct ", "Nov ", "Dec "};
  std::string_view rest = s;
  if (std::ranges::none_of(kMonths, [&](std::string_view month) { return take(rest, month); })) return 0;
  skip_blanks(rest);
  if (!take_number(rest) || !take(rest, " ") || !take_clock(rest) || !take(rest, " ")) return 0;
  const std::size_t date = s.size() - rest.size();
  const auto host = take_until(rest, " ");
  const auto program = take_until(rest, ": ");
  const bool named = host && !host->empty() && host->find_first_of(":/`\"'") == std::string_view::npos && program &&
                     !program->empty() && is_letter(program->front()) && !contains(*program, " ");
  return named ? s.size() - rest.size() : date;
}

// vLLM's logger: "ERROR 03-06 06:49:30 [worker.py:375] ", before 2025 without the first bracket
std::size_t logger_margin(std::string_view s) {
  constexpr std::array<std::string_view, 5> kLevels{"ERROR ", "WARNING ", "INFO ", "CRITICAL ", "DEBUG "};
  std::string_view rest = s;
  if (std::ranges::none_of(kLevels, [&](std::string_view level) { return take(rest, level); })) return 0;
  if (!take_date(rest) || !take(rest, " ") || !take_clock(rest) || !take(rest, " ")) return 0;
  take(rest, "[");
  const auto place = take_until(rest, "]");
  if (!place || contains(*place, " ") || !contains(*place, ".py:")) return 0;
  take(rest, " ");
  return s.size() - rest.size();
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

}  // namespace

std::size_t margin_of(std::string_view line) {
  for (auto* const form : {rank_margin, drawn_margin, container_margin, compose_margin, actor_margin, time_margin,
                           syslog_margin, logger_margin}) {
    if (const std::size_t margin = form(line); margin != 0) return margin;
  }
  return 0;
}

std::string_view without_frame(std::string_view line) {
  constexpr std::string_view kSide = "│";
  if (!line.starts_with(kSide) || line.size() == kSide.size() || !line.ends_with(kSide)) return line;
  line.remove_suffix(kSide.size());
  while (line.ends_with(' ')) line.remove_suffix(1);
  return line;
}

}  // namespace dsafuzz
