// No XML parser: the elements wanted have distinct names inside a record, and a killed tool leaves the rest open.
#include "repro/parse_sanitizer_xml.h"

#include <utility>

namespace dsafuzz {
namespace {

// The text of the first <name>..</name> in `s`; empty if there is none.
std::string_view element(std::string_view s, std::string_view name) {
  const std::string open = "<" + std::string(name) + ">", close = "</" + std::string(name) + ">";
  if (!take_until(s, open)) return {};
  return s.substr(0, s.find(close));
}

std::optional<Triple> triple(std::string_view s) {
  Triple out{};
  constexpr std::array<std::string_view, 3> kAxes{"x", "y", "z"};
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::string_view digits = trimmed(element(s, kAxes[i]));
    const auto number = take_number(digits);
    if (!number) return std::nullopt;
    out[i] = *number;
  }
  return out;
}

int line_number(std::string_view s) {
  s = trimmed(element(s, "line"));
  const auto line = take_number(s);
  return line && *line < 1'000'000'000 ? static_cast<int>(*line) : 0;
}

SanitizerRecord read_record(std::string_view text, SanitizerReading& reading) {
  SanitizerRecord record;
  const std::string_view what = element(text, "what"), where = element(text, "where");
  record.title = std::string(trimmed(element(what, "text")));
  record.verbatim.push_back(record.title);
  record.block = triple(element(text, "blockIdx"));
  record.thread = triple(element(text, "threadIdx"));
  record.kernel = std::string(trimmed(element(where, "func")));
  record.file = trimmed_path(trimmed(element(where, "path")));
  record.line = line_number(where);
  record.api_call = std::string(trimmed(element(what, "api")));
  if (trimmed(element(text, "kind")) == "Api") {
    record.kind = SanitizerRecord::Kind::api_error;
    record.fault = "api_error_" + std::string(trimmed(element(what, "result")));
  } else if (auto known = kind_of_title(record.title); known && known->kind != SanitizerRecord::Kind::memcheck) {
    record.kind = known->kind;
    record.fault = std::move(known->fault);
  } else {
    record.fault = "invalid_" + std::string(trimmed(element(what, "space"))) + "_" +
                   std::string(trimmed(element(what, "direction")));
  }
  std::string_view stack = element(text, "hostStack");
  while (take_until(stack, "<frame>")) {
    const std::string_view frame = stack.substr(0, stack.find("<frame>"));  // the next one, so that all stays linear
    Frame user{std::string(trimmed(element(frame, "func"))), std::string(trimmed(element(frame, "path"))),
               line_number(frame)};
    if (user.function.empty() || user.file.empty()) continue;
    if (!reading.nearest_user) reading.nearest_user = user;
    reading.earliest_user = std::move(user);
  }
  return record;
}

}  // namespace

SanitizerReading parse_sanitizer_xml(const LogText& log) {
  SanitizerReading reading;
  std::string text;
  std::size_t first_line = 0;
  for (std::size_t i = 0; i < log.lines.size(); ++i) {
    if (!reading.present && contains(log.lines[i], "<ComputeSanitizerOutput>")) {
      reading.present = true;
      first_line = i;
    }
    if (reading.present) text += log.lines[i] + "\n";
  }
  reading.tool = "compute-sanitizer";
  const bool closed = contains(text, "</ComputeSanitizerOutput>");
  for (std::string_view rest = text; take_until(rest, "<record>");) {
    const std::string_view record = rest.substr(0, rest.find("<record>"));
    ++reading.record_count;
    if (reading.records.size() == kSanitizerRecordLimit) continue;
    reading.records.push_back(read_record(record.substr(0, record.find("</record>")), reading));
    reading.records.back().log_line = first_line;
  }
  if (closed && reading.record_count == 0) reading.total = 0;  // a tool that was killed leaves the document open
  return reading;
}

}  // namespace dsafuzz
