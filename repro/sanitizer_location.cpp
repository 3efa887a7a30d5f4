// See sanitizer_location.h. Each step cuts one known part off an end of the text.
#include "repro/sanitizer_location.h"

#include <algorithm>
#include <array>

#include "repro/scan.h"

namespace dsafuzz {
namespace {

int small(std::int64_t line) { return line > 0 && line < 1'000'000'000 ? static_cast<int>(line) : 0; }

// "FILE:LINE:FUNC" at the front; the file is left out for kernels without line information.
void split_front(std::string_view text, DeviceLocation& location) {
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
    std::string_view rest = text.substr(colon + 1);
    const auto line = take_number(rest);
    if (!line || !rest.starts_with(':') || colon == 0) continue;
    location.file = trimmed_path(text.substr(0, colon));
    location.line = small(*line);
    location.function = std::string(rest.substr(1));
    return;
  }
  location.function = std::string(text);
}

// " in FILE:LINE" at the end, taken off.
void take_source(std::string_view& text, std::string& file, int& line) {
  const std::size_t in = text.rfind(" in ");
  if (in == std::string_view::npos) return;
  const auto place = split_file_line(text.substr(in + 4));
  if (!place) return;
  file = trimmed_path(place->file);
  line = small(place->line);
  text = text.substr(0, in);
}

// A trailing " [0x..]", taken off; true if there was one.
bool take_address(std::string_view& text) {
  const std::size_t open = text.rfind("[0x");
  if (open == std::string_view::npos || !text.ends_with(']')) return false;
  text = trimmed(text.substr(0, open));
  return true;
}

}  // namespace

DeviceLocation parse_device_location(std::string_view text) {
  DeviceLocation location;
  text = trimmed(text);
  if (text.starts_with("0x")) {
    location.offset_first = true;
    if (take_until(text, " in ")) split_front(text, location);
    return location;
  }
  if (take_address(text)) {
    split_front(text, location);
    return location;
  }
  const std::size_t twice = text.find(") (");  // cuda-memcheck's "FN (FN : 0xa0)"
  if (twice != std::string_view::npos && contains(text, " : 0x")) {
    split_front(text.substr(0, twice + 1), location);
    return location;
  }
  take_source(text, location.file, location.line);
  std::size_t offset = text.rfind("+0x");
  if (offset == std::string_view::npos) offset = text.rfind(":0x");
  location.function = std::string(text.substr(0, offset));
  return location;
}

HostFrame parse_host_frame(std::string_view text) {
  HostFrame frame;
  text = trimmed(text);
  const std::size_t after = text.rfind("] in ");
  if (after != std::string_view::npos) {
    frame.module = std::string(text.substr(after + 5));
    text = text.substr(0, after + 1);
  }
  const bool has_address = take_address(text);
  take_source(text, frame.file, frame.line);
  if (has_address && text.ends_with(')') && contains(text, " + 0x")) {  // cuda-memcheck: MODULE (SYMBOL + 0x1f)
    const std::size_t open = text.find(" (");
    if (open != std::string_view::npos) {
      frame.module = std::string(text.substr(0, open));
      frame.symbol = std::string(text.substr(open + 2, text.rfind(" + 0x") - open - 2));
      return frame;
    }
  }
  DeviceLocation source;  // of 2021 to 2023: FILE:LINE:SYMBOL
  if (has_address && frame.file.empty()) split_front(text, source);
  if (!source.file.empty()) {
    frame.file = std::move(source.file);
    frame.line = source.line;
    frame.symbol = std::move(source.function);
  } else if (has_address && contains(text, "/") && frame.file.empty()) {
    frame.module = std::string(text);  // cuda-memcheck: MODULE alone
  } else {
    frame.symbol = std::string(text);
  }
  return frame;
}

bool is_user_frame(const HostFrame& frame) {
  if (frame.symbol.empty()) return false;
  static constexpr std::array<std::string_view, 7> kForeign{"cuda", "cu", "optix", "_Py", "Py", "__libc", "_start"};
  for (std::string_view prefix : kForeign) {
    if (!frame.symbol.starts_with(prefix)) continue;
    const char next = frame.symbol.size() > prefix.size() ? frame.symbol[prefix.size()] : 'A';
    if (prefix != "cu" || (next >= 'A' && next <= 'Z')) return false;
  }
  return !frame.file.empty() || !contains(frame.module, ".so");
}

}  // namespace dsafuzz
