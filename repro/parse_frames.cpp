// One reader per traceback form, tried on each line while the first traceback is open.
#include "repro/parse_frames.h"

#include <algorithm>
#include <array>
#include <utility>

#include "repro/scan.h"

namespace dsafuzz {
namespace {

constexpr std::string_view kHeader = "Traceback (most recent call last)";

std::optional<Frame> frame_of(std::string_view file, std::optional<std::int64_t> line, std::string_view function) {
  if (!line || *line > 1'000'000'000) return std::nullopt;
  return Frame{std::string(function), std::string(file), static_cast<int>(*line)};
}

// `  File "x.py", line 3, in f`, and faulthandler's `line 3 in f`; anywhere in the line. Takes it off.
std::optional<Frame> take_file_frame(std::string_view& line) {
  std::string_view rest = line;
  if (!take_until(rest, "File \"")) return std::nullopt;
  const auto file = take_until(rest, "\", line ");
  if (!file || contains(*file, "\"")) return std::nullopt;
  const auto number = take_number(rest);
  if (!number) return std::nullopt;
  std::string_view function;
  if (take(rest, ", in ") || take(rest, " in ")) {
    function = rest.substr(0, rest.find(' '));
    rest.remove_prefix(function.size());
  }
  line = rest;
  return frame_of(*file, number, function);
}

// The page translator's form of the same.
std::optional<Frame> take_translated_frame(std::string_view& line) {
  std::string_view rest = line;
  if (!take_until(rest, "文件“")) return std::nullopt;
  const auto file = take_until(rest, "”，第 ");
  const auto number = file ? take_number(rest) : std::nullopt;
  if (!number || !take(rest, " 行，在 ")) return std::nullopt;
  const std::string_view function = rest.substr(0, rest.find(' '));
  line = {};
  return frame_of(*file, number, function);
}

// Jupyter: `Cell In[4], line 2, in score(p, y)`
std::optional<Frame> cell_frame(std::string_view line) {
  if (!line.starts_with("Cell In[")) return std::nullopt;
  const auto file = take_until(line, ", line ");
  const auto number = file ? take_number(line) : std::nullopt;
  std::string_view function;
  if (take(line, ", in ")) function = line.substr(0, line.find('('));
  return number ? frame_of(*file, number, function) : std::nullopt;
}

// rich: `/z/inference.py:140 in main`, which may wrap before the name
std::optional<Frame> rich_frame(std::string_view line) {
  const std::size_t in = line.find(" in ");
  if (!line.starts_with('/') || in == std::string_view::npos) return std::nullopt;
  const auto place = split_file_line(line.substr(0, in));
  std::string_view function = trimmed(line.substr(in + 4));
  function = function.substr(0, function.find(' '));
  return place && !function.empty() ? frame_of(place->file, place->line, function) : std::nullopt;
}

// pytest: `tests/test_lookup.py:31: RuntimeError`
std::optional<Frame> pytest_frame(std::string_view line) {
  const std::size_t colon = line.rfind(": ");
  if (colon == std::string_view::npos || !(line.ends_with("Error") || line.ends_with("Exception"))) return std::nullopt;
  const auto place = split_file_line(line.substr(0, colon));
  if (!place || !place->file.ends_with(".py") || contains(place->file, " ")) return std::nullopt;
  return frame_of(place->file, place->line, {});
}

// torch.cuda.synchronize and the like, from PyTorch's own Python frames
std::string api_of(const Frame& frame) {
  const std::string_view file = frame.file;
  const bool hidden = frame.function.starts_with('_');
  if (!hidden && (file.ends_with("torch/cuda/__init__.py") || file.ends_with("torch/cuda/memory.py"))) {
    return "torch.cuda." + frame.function;
  }
  if (frame.function.starts_with("__") && file.ends_with("torch/_tensor.py")) return "Tensor." + frame.function;
  return {};
}

// The first traceback with its nested parts: opened by a header, closed by the next header that is not nested.
class Traceback {
 public:
  explicit Traceback(FrameReading& reading) : reading_(reading) {}

  void header(std::string_view line) {
    switch (state_) {
      case State::before: state_ = State::open; break;
      case State::open:
        if (!nested_ && !contains(line, "Original " + std::string(kHeader))) state_ = State::closed;
        break;
      case State::closed: break;
    }
    nested_ = contains(line, "Exception Group");
  }
  void announce_nested() { nested_ = true; }
  bool open() const { return state_ == State::open; }
  bool seen() const { return state_ != State::before; }
  void start_reversed() {
    if (state_ == State::before) state_ = State::open, reversed_ = true;
  }
  void end_reversed() {
    if (reversed_) state_ = State::closed;
  }
  bool reversed() const { return reversed_; }

  void add(Frame frame) {
    if (std::string call = api_of(frame); !call.empty() && reading_.api_call.empty()) reading_.api_call = call;
    if (is_user_file(frame.file)) {
      auto& first = reversed_ ? reading_.nearest_user : reading_.earliest_user;
      auto& last = reversed_ ? reading_.earliest_user : reading_.nearest_user;
      if (!first) first = frame;
      last = frame;
    }
    if (reading_.python.size() < kFrameLimit) reading_.python.push_back(std::move(frame));
  }

 private:
  enum class State { before, open, closed };
  FrameReading& reading_;
  State state_ = State::before;
  bool nested_ = false, reversed_ = false;
};

// `frame #3: SYMBOL + 0x1f (0x7f.. in /lib/x.so)` and `#4 SYMBOL from FILE:LINE`
std::optional<CppFrame> cpp_frame(std::string_view line) {
  CppFrame frame;
  const bool classic = take(line, "frame ");
  if (!take(line, "#")) return std::nullopt;
  const auto number = take_number(line);
  if (!number || *number > 100'000) return std::nullopt;
  frame.number = static_cast<int>(*number);
  std::string_view symbol;
  if (classic) {
    const std::size_t offset = line.rfind(" + 0x");
    if (!take(line, ": ") || offset == std::string_view::npos) return std::nullopt;
    symbol = line.substr(0, line.rfind(" + 0x"));
    const std::size_t in = line.rfind(" in ");
    if (in != std::string_view::npos) frame.library = std::string(line.substr(in + 4, line.rfind(')') - in - 4));
  } else {
    const std::size_t from = line.rfind(" from ");
    if (!take(line, " ") || from == std::string_view::npos || from == 0) return std::nullopt;
    symbol = line.substr(0, from - 1);
    const auto place = split_file_line(line.substr(from - 1 + 6));
    if (place && place->file != "??" && !place->file.ends_with(".so") && place->line < 1'000'000'000) {
      frame.file = trimmed_path(place->file);
      frame.line = static_cast<int>(place->line);
    }
  }
  if (symbol != "<unknown function>" && symbol != "??") frame.symbol = std::string(symbol);
  return frame;
}

void read_raised_from(std::string_view line, FrameReading& reading) {
  if (!take_until(line, "Exception raised from ") || !reading.raised_from.empty()) return;
  reading.raised_from = std::string(line.substr(0, line.find(" at ")));
}

// `at::native::_local_scalar_dense_cuda(at::Tensor const&)` names the operator that noticed.
std::string noticing_operator(const std::vector<CppFrame>& frames) {
  for (const CppFrame& frame : frames) {
    std::string_view symbol = frame.symbol;
    if (take(symbol, "at::native::")) return std::string(symbol.substr(0, symbol.find_first_of("(<")));
  }
  return {};
}

}  // namespace

bool is_user_file(std::string_view path) {
  std::string slashed(path);
  std::ranges::replace(slashed, '\\', '/');
  static constexpr std::array<std::string_view, 8> kForeign{
      "site-packages/", "dist-packages/",     "/lib/python3",    "/lib/python2",
      "bin/torchrun",   "torch/distributed/", "/Python/ceval.c", "/Lib/multiprocessing/"};
  if (slashed.starts_with("<frozen")) return false;
  return std::ranges::none_of(kForeign, [&](std::string_view part) { return contains(slashed, part); });
}

FrameReading parse_frames(const LogText& log) {
  FrameReading reading;
  Traceback traceback(reading);
  std::optional<Frame> from_pytest;
  for (const std::string& owned : log.lines) {
    std::string_view line = owned;
    if (contains(line, "terminated with the following error:")) traceback.announce_nested();
    if (contains(line, kHeader) || contains(line, "回溯（最近一次调用最后）") ||
        contains(line, "回溯(最近一次调用最后)")) {
      traceback.header(line);
    }
    if (contains(line, "thread 0x") && contains(line, "(most recent call first)")) traceback.start_reversed();
    if (traceback.reversed() && line.empty()) traceback.end_reversed();
    if (traceback.open()) {
      std::string_view rest = line;
      for (auto frame = take_file_frame(rest); frame; frame = take_file_frame(rest)) traceback.add(std::move(*frame));
      if (auto frame = take_translated_frame(rest)) traceback.add(std::move(*frame));
      if (auto frame = cell_frame(line)) traceback.add(std::move(*frame));
      if (auto frame = rich_frame(line)) traceback.add(std::move(*frame));
    } else if (!from_pytest) {
      from_pytest = pytest_frame(line);
    }
    read_raised_from(line, reading);
    if (reading.cpp.size() < kFrameLimit) {
      if (auto frame = cpp_frame(line)) reading.cpp.push_back(std::move(*frame));
    }
  }
  if (!traceback.seen() && from_pytest) reading.earliest_user = reading.nearest_user = from_pytest;
  if (reading.api_call.empty()) reading.api_call = noticing_operator(reading.cpp);
  if (reading.api_call.empty()) reading.api_call = reading.raised_from;
  return reading;
}

}  // namespace dsafuzz
