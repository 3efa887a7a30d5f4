#include "repro/parse_host_gdb.h"

#include <algorithm>

#include "repro/debug_plan.h"

namespace dsafuzz {
namespace {

// "#1  0x00007fff in name<float> (args) at /path/file.cu:84", or without address, or with "from LIBRARY".
std::optional<HostGdbFrame> frame_of(std::string_view s) {
  if (!take(s, "#")) return std::nullopt;
  const auto number = take_number(s);
  if (!number) return std::nullopt;
  skip_blanks(s);
  if (s.starts_with("0x")) {
    const std::size_t in = s.find(" in ");
    if (in == std::string_view::npos) return std::nullopt;
    s.remove_prefix(in + 4);
  }
  HostGdbFrame frame;
  frame.number = static_cast<int>(*number);
  if (const std::size_t at = s.rfind(" at "); at != std::string_view::npos) {
    if (const auto place = split_file_line(s.substr(at + 4))) {
      frame.file = std::string(place->file);
      frame.line = static_cast<int>(place->line);
      s = s.substr(0, at);
    }
  } else if (const std::size_t from = s.rfind(" from "); from != std::string_view::npos) {
    s = s.substr(0, from);
  }
  // The last parenthesis that a blank precedes opens the arguments: "operator() ()".
  const std::size_t open = s.rfind(" (");
  frame.function = std::string(trimmed(s.substr(0, open)));
  return frame;
}

// A line among the frames; false at what ends them.
bool read_frame(std::string_view line, std::vector<HostGdbFrame>& frames) {
  if (auto frame = frame_of(line)) {
    if (frames.size() < kHostFrameLimit) frames.push_back(std::move(*frame));
    return true;
  }
  if (frames.empty() || trimmed(line).empty() || line.starts_with("warning: ")) return true;
  // "84<tab>text" behind its frame.
  const auto number = take_number(line);
  if (number != frames.back().line || !frames.back().source.empty()) return trimmed(line).empty();
  frames.back().source = std::string(trimmed(line));
  return true;
}

using Values = std::vector<HostGdbValue>;

// "n_classes = 3"; false at what is no such line. What the compiler kept no value of, gdb says in angle brackets;
// kSite is DEVICE_ASSERT's own.
bool read_value(std::string_view line, Values& values) {
  const std::size_t equals = line.find(" = ");
  if (equals == std::string_view::npos) return false;
  const std::string_view name = line.substr(0, equals), value = line.substr(equals + 3);
  if (name.empty() || !std::ranges::all_of(name, is_word)) return false;
  // gdb begins with the innermost block.
  const bool hidden = std::ranges::find(values, name, &HostGdbValue::name) != values.end();
  if (value.starts_with('<') || name == "kSite" || hidden || values.size() == kHostFrameLimit) return true;
  values.push_back({std::string(name), std::string(value)});
  return true;
}

}  // namespace

bool HostGdbFrame::in_kernel() const { return contains(file, "kernels/") && !contains(file, "kernels/vcuda/"); }

const HostGdbFrame* HostGdbStop::kernel() const {
  const auto found = std::ranges::find_if(frames, &HostGdbFrame::in_kernel);
  return found == frames.end() ? nullptr : &*found;
}

HostGdbStop parse_host_gdb(const LogText& log) {
  HostGdbStop stop;
  bool reading = false;
  Values HostGdbFrame::* part = nullptr;  // null: the frames themselves
  Values* values = nullptr;               // of the frame just named
  for (std::string_view line : log.lines) {
    if (take(line, kStopMark)) {
      if (stop.stopped) break;  // the first stop is the fault
      stop.stopped = reading = true;
      if (take(line, ": block ")) {
        stop.block = take_triple(line, '(', ')');
        if (take(line, ", thread ")) stop.thread = take_triple(line, '(', ')');
      }
    } else if (stop.stopped && (line == kArgumentsMark || line == kLocalsMark)) {
      reading = true;
      part = line == kArgumentsMark ? &HostGdbFrame::arguments : &HostGdbFrame::locals;
      values = nullptr;
    } else if (!reading) {
      continue;
    } else if (part == nullptr) {
      reading = read_frame(line, stop.frames);
    } else if (const auto frame = frame_of(line)) {
      const auto known = std::ranges::find(stop.frames, frame->number, &HostGdbFrame::number);
      values = known == stop.frames.end() ? nullptr : &((*known).*part);
    } else if (values) {
      reading = read_value(line, *values);
    }
  }
  return stop;
}

}  // namespace dsafuzz
