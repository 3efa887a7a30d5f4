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

}  // namespace

bool HostGdbFrame::in_kernel() const { return contains(file, "kernels/") && !contains(file, "kernels/vcuda/"); }

const HostGdbFrame* HostGdbStop::kernel() const {
  const auto found = std::ranges::find_if(frames, &HostGdbFrame::in_kernel);
  return found == frames.end() ? nullptr : &*found;
}

HostGdbStop parse_host_gdb(const LogText& log) {
  HostGdbStop stop;
  bool reading = false;
  for (std::string_view line : log.lines) {
    if (take(line, kStopMark)) {
      if (stop.stopped) break;  // the first stop is the fault
      stop.stopped = reading = true;
      if (take(line, ": block ")) {
        stop.block = take_triple(line, '(', ')');
        if (take(line, ", thread ")) stop.thread = take_triple(line, '(', ')');
      }
      continue;
    }
    if (!reading) continue;
    if (auto frame = frame_of(line)) {
      if (stop.frames.size() < kHostFrameLimit) stop.frames.push_back(std::move(*frame));
      continue;
    }
    // "84<tab>text" behind its frame.
    const auto number = take_number(line);
    if (!stop.frames.empty() && number && *number == stop.frames.back().line && stop.frames.back().source.empty()) {
      stop.frames.back().source = std::string(trimmed(line));
    } else if (!stop.frames.empty() && !trimmed(line).empty() && !line.starts_with("warning: ")) {
      reading = false;
    }
  }
  return stop;
}

}  // namespace dsafuzz
