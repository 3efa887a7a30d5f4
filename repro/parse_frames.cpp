// Which frames belong to the first traceback, and whose they are; frame_forms reads each of them.
#include "repro/parse_frames.h"

#include <algorithm>
#include <array>
#include <utility>

#include "repro/frame_forms.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

constexpr std::string_view kHeader = "Traceback (most recent call last)";

// PowerShell repeats the line inside its own: "(Traceback (most recent call last)::String)".
bool is_header(std::string_view line) {
  if (take_until(line, kHeader)) return !line.starts_with("::");
  return contains(line, "回溯（最近一次调用最后）") || contains(line, "回溯(最近一次调用最后)");
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

// The first traceback with its nested parts: opened by a header, closed by the next header that is not nested. One that
// follows before any frame did is another rank's, whose lines stand between.
class Traceback {
 public:
  explicit Traceback(FrameReading& reading) : reading_(reading) {}

  void header(std::string_view line) {
    switch (state_) {
      case State::before: state_ = State::open; break;
      case State::open:
        if (framed_ && !nested_ && !contains(line, "Original " + std::string(kHeader))) state_ = State::closed;
        break;
      case State::closed: break;
    }
    nested_ = contains(line, "Exception Group");
    framed_ = false;
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
    framed_ = true;
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
  bool nested_ = false, reversed_ = false, framed_ = false;
};

// The stack of the first test that failed: its callers, and the frame that names the exception.
struct PytestStack {
  std::optional<Frame> earliest, nearest;
  bool ended = false;

  void add(std::string_view line) {
    auto frame = pytest_frame(line);
    if (!frame || !is_user_file(frame->file)) return;
    ended = !trimmed(line).ends_with(':');
    if (!earliest) earliest = frame;
    nearest = std::move(frame);
  }
};

// The standard library on Windows: "C:/Python311/Lib/threading.py", "../Python311/lib/runpy.py",
// "../miniconda3/lib/ast.py"
bool is_windows_library(std::string_view slashed) {
  if (slashed.size() < 3 || !is_letter(slashed[0]) || slashed[1] != ':') return false;
  if (contains(slashed, "/Lib/")) return true;
  const std::size_t lib = slashed.find("/lib/");
  const std::string_view home = slashed.substr(0, lib == std::string_view::npos ? 0 : lib);
  constexpr std::array<std::string_view, 4> kHomes{"/Python3", "conda3", "miniforge3", "/Python/cpython-"};
  return std::ranges::any_of(kHomes, [&](std::string_view each) { return contains(home, each); });
}

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
  if (is_windows_library(slashed)) return false;
  static constexpr std::array<std::string_view, 7> kForeign{"site-packages/", "dist-packages/", "/lib/python3",
                                                            "/lib/python2",   "bin/torchrun",   "torch/distributed/",
                                                            "/Python/ceval.c"};
  if (slashed.starts_with("<frozen")) return false;
  return std::ranges::none_of(kForeign, [&](std::string_view part) { return contains(slashed, part); });
}

FrameReading parse_frames(const LogText& log) {
  FrameReading reading;
  Traceback traceback(reading);
  NotebookFrames notebook;
  PytestStack pytest;
  for (const std::string& owned : log.lines) {
    std::string_view line = owned;
    if (contains(line, "terminated with the following error:")) traceback.announce_nested();
    if (is_header(line)) traceback.header(line);
    if (contains(line, "thread 0x") && contains(line, "(most recent call first)")) traceback.start_reversed();
    if (traceback.reversed() && line.empty()) traceback.end_reversed();
    if (traceback.open()) {
      std::string_view rest = line;
      for (auto frame = take_file_frame(rest); frame; frame = take_file_frame(rest)) traceback.add(std::move(*frame));
      if (auto frame = take_translated_frame(rest)) traceback.add(std::move(*frame));
      if (auto frame = notebook.read(line)) traceback.add(std::move(*frame));
      if (auto frame = rich_frame(line)) traceback.add(std::move(*frame));
    } else if (!pytest.ended) {
      pytest.add(line);
    }
    read_raised_from(line, reading);
    if (reading.cpp.size() < kFrameLimit) {
      if (auto frame = cpp_frame(line)) reading.cpp.push_back(std::move(*frame));
    }
  }
  if (!traceback.seen()) {
    reading.earliest_user = pytest.earliest;
    reading.nearest_user = pytest.nearest;
  }
  if (reading.api_call.empty()) reading.api_call = noticing_operator(reading.cpp);
  if (reading.api_call.empty()) reading.api_call = reading.raised_from;
  return reading;
}

}  // namespace dsafuzz
