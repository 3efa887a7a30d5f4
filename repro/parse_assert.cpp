// The anchor of a record is `block: [`: what is left of it up to the record before is FILE:LINE: FUNC, what is right
// of it ends at the last "` failed." before the next anchor, since a condition may hold back quotes itself.
#include "repro/parse_assert.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dsafuzz {
namespace {

constexpr std::size_t kLongestSite = 4096;           // FILE:LINE: FUNC, with template arguments written out
constexpr std::string_view kNoPath = " \t\"'`(>|]";  // what ends program text glued before a path

struct Site {
  std::string file;
  std::int64_t line = 0;
  std::optional<std::string> function;
};

// "/usr/local/cuda/include/cuda/std/mdspan": headers of the standard library have no extension.
bool is_header_path(std::string_view s) {
  const std::size_t slash = s.rfind('/');
  return slash != std::string_view::npos && slash + 1 < s.size() && std::ranges::all_of(s.substr(slash + 1), is_word) &&
         contains(s.substr(0, slash), "/include/");
}

// "IndexKernel.cu", "x.py", "unknown": something a compiler would call a file.
bool looks_like_file(std::string_view s) {
  const std::string_view whole = s;
  if (s.ends_with("unknown")) return true;
  constexpr std::size_t kLongestExtension = 5;
  if (s.size() > kLongestExtension + 1) s.remove_prefix(s.size() - kLongestExtension - 1);
  const std::size_t dot = s.rfind('.');
  if (dot == std::string_view::npos) return is_header_path(whole);
  const std::string_view extension = s.substr(dot + 1);
  return !extension.empty() && is_letter(extension.front()) && std::ranges::all_of(extension, is_word);
}

// The first ":<digits>" that ends in ": " or at the end and has a file before it.
std::optional<std::pair<std::size_t, std::size_t>> find_line_number(std::string_view s) {
  for (std::size_t colon = s.find(':'); colon != std::string_view::npos; colon = s.find(':', colon + 1)) {
    std::size_t end = colon + 1;
    while (end < s.size() && is_digit(s[end])) ++end;
    const bool closed = end == s.size() || s.substr(end).starts_with(": ");
    if (end > colon + 1 && closed && looks_like_file(s.substr(0, colon))) return std::pair{colon, end};
  }
  return std::nullopt;
}

// The path at the end of `s`: from the drive letter, or after the last byte that cannot belong to a path.
std::string_view path_at_end(std::string_view s) {
  const std::size_t before = s.find_last_of(kNoPath);
  std::string_view path = before == std::string_view::npos ? s : s.substr(before + 1);
  if (path.starts_with('/')) return path;
  for (std::string_view drive : {":\\", ":/"}) {  // "C:\Program Files\x.cu"
    const std::size_t colon = s.rfind(drive);
    if (colon != std::string_view::npos && colon > 0 && is_letter(s[colon - 1])) return s.substr(colon - 1);
  }
  return path;
}

// `left` is "text glued before FILE:LINE: FUNC"; nullopt if it holds no site, or two (two processes cut into each
// other, and half of one would be taken for the other's).
std::optional<Site> parse_site(std::string_view left) {
  const auto number = find_line_number(left);
  if (!number) return std::nullopt;
  Site site;
  site.file = trimmed_path(path_at_end(left.substr(0, number->first)));
  std::string_view digits = left.substr(number->first + 1, number->second - number->first - 1);
  site.line = take_number(digits).value_or(0);
  if (number->second < left.size()) {
    const std::string_view function = trimmed(left.substr(number->second + 2));
    if (find_line_number(function)) return std::nullopt;
    if (function != "(null)" && !function.empty()) site.function = std::string(function);
  }
  return site;
}

struct Found {
  AssertRecord record;
  bool printf_twin = false;
  std::size_t end = 0;  // where the record ends in its line
};

struct Form {
  std::string_view first, second;  // the names of the two triples
  bool has_coordinates;
  AssertForm form;
};
constexpr Form kCuda{" block: [", ", thread: ", true, AssertForm::cuda};
constexpr Form kRound{" block: (", ", thread: ", true, AssertForm::cuda};
constexpr Form kXpu{" global id: [", ", local id: ", false, AssertForm::xpu};

// What stands around the condition: the driver's back quotes, what an editor made of them, or nothing where Markdown
// ate them.
struct Quotes {
  std::string_view open, close;
};

Quotes take_quote(std::string_view& body) {
  constexpr std::array<Quotes, 5> kQuotes{{{"`", "`"}, {"\\`", "\\`"}, {"‘", "’"}, {"'", "'"}, {"“", "”"}}};
  for (const Quotes& quotes : kQuotes) {
    const bool whole = quotes.open == "`" || contains(body, std::string(quotes.close) + " failed");
    if (whole && body.starts_with(quotes.open)) {
      body.remove_prefix(quotes.open.size());
      return quotes;
    }
  }
  return {};
}

// One record whose anchor stands at `anchor` in `line`; its left part starts at `from`.
std::optional<Found> parse_record(std::string_view line, std::size_t from, std::size_t anchor, const Form& form) {
  const char open = form.first.back(), shut = open == '[' ? ']' : ')';
  std::string_view rest = line.substr(anchor + form.first.size() - 1);
  const auto block = take_triple(rest, open, shut);
  if (!block || !take(rest, form.second)) return std::nullopt;
  const auto thread = take_triple(rest, open, shut);
  if (!thread) return std::nullopt;

  Found found;
  std::string_view body = rest.substr(0, rest.find(form.first));  // up to the next record of this line
  if (take(body, ": Assertion failed: `")) {
    const std::size_t close = body.find("`: ");
    if (close == std::string_view::npos) return std::nullopt;
    found.record.condition = std::string(body.substr(0, close));
    found.printf_twin = true;
    found.end = static_cast<std::size_t>(body.data() - line.data()) + body.size();
  } else {
    skip_blanks(body);
    if (!take(body, "Assertion ")) return std::nullopt;
    const Quotes quotes = take_quote(body);
    const std::string ending = std::string(quotes.close) + " failed";
    const std::size_t close = body.rfind(ending);
    if (close == std::string_view::npos) return std::nullopt;
    found.record.condition = std::string(body.substr(0, close));
    found.end = static_cast<std::size_t>(body.data() - line.data()) + close + ending.size();
  }
  from = anchor - from > kLongestSite ? anchor - kLongestSite : from;
  std::string_view left = line.substr(from, anchor - from);
  if (left.ends_with(':')) left.remove_suffix(1);
  auto site = parse_site(left);
  if (!site) return std::nullopt;
  found.record.file = std::move(site->file);
  found.record.line = site->line;
  found.record.function = std::move(site->function);
  found.record.form = form.form;
  if (form.has_coordinates) {
    found.record.block = *block;
    found.record.thread = *thread;
  }
  return found;
}

// ROCm: FILE:LINE: FUNC: Device-side assertion `COND' failed.  Triton on ROCm names the place last.
std::optional<Found> parse_rocm(std::string_view line) {
  Found found;
  found.end = line.size();
  found.record.form = AssertForm::rocm;
  std::string_view rest = line;
  if (const auto left = take_until(rest, ": Device-side assertion `")) {
    const std::size_t close = rest.rfind("' failed");
    auto site = parse_site(*left);
    if (close == std::string_view::npos || !site) return std::nullopt;
    found.record.file = std::move(site->file);
    found.record.line = site->line;
    found.record.function = std::move(site->function);
    found.record.condition = std::string(rest.substr(0, close));
    return found;
  }
  if (!take_until(rest, "device assertion failed: '")) return std::nullopt;
  const std::size_t close = rest.rfind("', in ");
  if (close == std::string_view::npos) return std::nullopt;
  found.record.condition = std::string(rest.substr(0, close));
  rest.remove_prefix(close + std::string_view("', in ").size());
  const auto function = take_until(rest, " at ");
  const auto place = split_file_line(trimmed(rest));
  if (!function || !place) return std::nullopt;
  found.record.form = AssertForm::triton_rocm;
  found.record.function = std::string(*function);
  found.record.file = trimmed_path(place->file);
  found.record.line = place->line;
  return found;
}

// Paddle: Error: FILE:LINE Assertion `COND` failed. MESSAGE, printed by every failing thread to standard output
std::optional<Found> parse_paddle(std::string_view line) {
  std::string_view rest = line;
  const auto left = take_until(rest, " Assertion `");
  std::string_view site = left.value_or("");
  if (!left || !take_until(site, "Error: ")) return std::nullopt;
  const std::size_t close = rest.find("` failed.");
  const auto place = split_file_line(site);
  if (close == std::string_view::npos || !place || contains(place->file, " ") || !looks_like_file(place->file)) {
    return std::nullopt;
  }
  Found found;
  found.end = line.size();
  found.record.form = AssertForm::paddle;
  found.record.file = std::string(place->file);
  found.record.line = place->line;
  found.record.condition = std::string(rest.substr(0, close));
  return found;
}

// Collects records: equal ones are counted, the driver's line and its printf twin once.
class Collector {
 public:
  // `times`: the line stands for so many.
  void add(Found found, std::size_t log_line, std::string_view line, std::int64_t times = 1) {
    AssertRecord& record = found.record;
    auto same = [&](const AssertRecord& known) {
      return known.line == record.line && known.condition == record.condition && known.file == record.file;
    };
    auto known = std::ranges::find_if(reading_.records, same);
    if (known == reading_.records.end()) {
      if (reading_.records.size() == kAssertRecordLimit) {
        dropped_ += times;
        return;
      }
      record.log_line = log_line;
      record.verbatim = std::string(line.substr(0, kVerbatimLimit));
      reading_.records.push_back(std::move(record));
      counts_.emplace_back();
      known = std::prev(reading_.records.end());
    }
    Counts& counts = counts_[static_cast<std::size_t>(known - reading_.records.begin())];
    (found.printf_twin ? counts.twins : counts.plain) += times;
  }

  void add_spoiled() { ++reading_.spoiled; }

  AssertReading finish() {
    reading_.count = dropped_;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      reading_.records[i].count = counts_[i].plain > 0 ? counts_[i].plain : counts_[i].twins;
      reading_.count += reading_.records[i].count;
    }
    return std::move(reading_);
  }

 private:
  struct Counts {
    std::int64_t plain = 0, twins = 0;
  };
  AssertReading reading_;
  std::vector<Counts> counts_;
  std::int64_t dropped_ = 0;
};

// A record that a terminal broke over lines, put together again; `glue` is " " where it was broken at blanks. Bounded,
// so that joining stays linear.
constexpr std::size_t kBrokenLine = 400;
std::string joined(std::string_view before, const std::vector<std::string>& lines, std::size_t first,
                   std::string_view glue) {
  constexpr std::size_t kLines = 4;
  std::string text(before);
  for (std::size_t i = first; i < lines.size() && i < first + kLines && lines[i].size() <= kBrokenLine; ++i) {
    if (i > first) text += glue;
    text += lines[i];
  }
  return text;
}

// The line above, if a break left the path of this record there: it is a path and nothing else, and this line does not
// begin with one of its own.
std::string path_above(const std::vector<std::string>& lines, std::size_t number) {
  constexpr std::size_t kShortest = 24;
  if (number == 0) return {};
  const std::string& above = lines[number - 1];
  if (above.size() < kShortest || above.size() > kBrokenLine || above.find(' ') != std::string::npos) return {};
  const auto begins_path = [](std::string_view s) {
    return s.starts_with('/') || s.starts_with("../") ||
           (s.size() > 2 && is_letter(s[0]) && s[1] == ':' && (s[2] == '\\' || s[2] == '/'));
  };
  if (!begins_path(above) || begins_path(lines[number])) return {};
  return above.ends_with(':') ? above + " " : above;
}

// "[7,0,0], thread: [93,0,0] Assertion": a record's own numbers, unlike "[x,y,z]" in prose about it.
bool has_coordinates(std::string_view s) {
  if (!take_until(s, "thread: [")) return false;
  return take_number(s) && s.starts_with(',');
}

// The record of line `number` together with the lines that a break made of it, and the text it was read from.
std::optional<std::pair<Found, std::string>> broken_record(const std::vector<std::string>& lines, std::size_t number,
                                                           const std::string& above, std::size_t from,
                                                           std::size_t anchor, const Form& form) {
  for (std::string_view glue : {"", " "}) {
    std::string text = joined(above, lines, number, glue);
    const std::size_t moved = above.size() + anchor;
    if (moved >= text.size()) return std::nullopt;
    if (auto found = parse_record(text, above.empty() ? from : 0, moved, form)) {
      return std::pair{std::move(*found), std::move(text)};
    }
  }
  return std::nullopt;
}

// A record that was broken at the blank before its block, so that its site is the line above.
void read_below_site(const LogText& log, std::size_t number, const Form& form, Collector& collector) {
  if (number == 0 || !log.lines[number].starts_with(form.first.substr(1))) return;
  const std::string_view site = trimmed(log.lines[number - 1]);
  if (log.lines[number].size() > kBrokenLine || site.size() > kBrokenLine || !site.ends_with(':')) return;
  const std::string text = joined(std::string(site) + " ", log.lines, number, "");
  if (auto found = parse_record(text, 0, site.size(), form)) collector.add(std::move(*found), number, text);
}

void read_line(const LogText& log, std::size_t number, const Form& form, Collector& collector) {
  const std::string_view line = log.lines[number];
  std::size_t from = 0;
  read_below_site(log, number, form, collector);
  const bool headless = form.first == kCuda.first && !contains(line, form.first) && contains(line, "] Assertion `");
  if (headless && contains(line, "` failed") && has_coordinates(line)) collector.add_spoiled();
  for (std::size_t anchor = line.find(form.first); anchor != std::string_view::npos;) {
    const std::size_t next = line.find(form.first, anchor + 1);
    const bool open = next == std::string_view::npos && !contains(line.substr(anchor), " failed");
    const std::string above = from == 0 ? path_above(log.lines, number) : std::string();
    if (auto whole =
            above.empty() && !open ? std::nullopt : broken_record(log.lines, number, above, from, anchor, form)) {
      from = open ? line.size() : line.find(" failed", anchor);
      collector.add(std::move(whole->first), number, whole->second);
    } else if (auto found = parse_record(line, from, anchor, form)) {
      from = found->end;
      const auto copies = log.repeated.find(number);
      collector.add(std::move(*found), number, line, 1 + (copies == log.repeated.end() ? 0 : copies->second));
    } else if (open) {
      collector.add_spoiled();
    } else {
      constexpr std::size_t kCoordinates = 128;
      if (has_coordinates(line.substr(anchor, kCoordinates))) collector.add_spoiled();
      from = anchor + form.first.size();
    }
    anchor = next;
  }
}

}  // namespace

AssertReading parse_asserts(const LogText& log) {
  Collector collector;
  for (std::size_t i = 0; i < log.lines.size(); ++i) {
    read_line(log, i, kCuda, collector);
    read_line(log, i, kRound, collector);
    read_line(log, i, kXpu, collector);
    if (auto found = parse_rocm(log.lines[i])) collector.add(std::move(*found), i, log.lines[i]);
    if (auto found = parse_paddle(log.lines[i])) collector.add(std::move(*found), i, log.lines[i]);
  }
  return collector.finish();
}

}  // namespace dsafuzz
