// A record begins with a line that says what is wrong and takes the indented lines after it. What a first line means
// is a table; what an indented line adds is a function for each kind of line.
#include "repro/parse_sanitizer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "repro/parse_assert.h"
#include "repro/sanitizer_location.h"

namespace dsafuzz {
namespace {

using Kind = SanitizerRecord::Kind;

struct Title {
  std::string_view text;  // what the line contains
  Kind kind;
  std::string_view fault;  // empty: found from the line
};
constexpr std::array kTitles{
    Title{"nvalid __", Kind::memcheck, ""},
    Title{"Warp assert", Kind::device_assert, "device_assert"},
    Title{"encountered : Double free", Kind::memcheck, "double_free"},
    Title{"encountered : Invalid pointer to free", Kind::memcheck, "invalid_free"},
    Title{"encountered : Heap corruption", Kind::memcheck, "heap_corruption"},
    Title{"Out-of-range ", Kind::memcheck, "out_of_range_shared_or_local"},
    Title{"Illegal instruction", Kind::memcheck, "illegal_instruction"},
    Title{"Illegal Instruction", Kind::memcheck, "illegal_instruction"},
    Title{"tack overflow", Kind::memcheck, "stack_overflow"},
    Title{"Fatal UVM ", Kind::memcheck, "uvm_fault"},
    Title{"Free-before-alloc ", Kind::memcheck, "free_before_alloc"},
    Title{"Tensor Memory column ", Kind::memcheck, "tensor_memory"},
    Title{"Uninitialized __", Kind::initcheck, "uninitialized_read"},
    Title{"Host API memory access error", Kind::initcheck, "uninitialized_copy"},
    Title{"Unused __", Kind::initcheck, "unused_memory"},
    Title{"Barrier error detected. Divergent thread(s) in block", Kind::synccheck, "barrier_divergent_block"},
    Title{"Barrier error detected. Divergent thread(s) in warp", Kind::synccheck, "barrier_divergent_warp"},
    Title{"Barrier error detected. Invalid arguments", Kind::synccheck, "barrier_invalid_arguments"},
    Title{"Barrier error detected", Kind::synccheck, "barrier_error"},
    Title{"Race reported between ", Kind::racecheck, ""},
    Title{" hazard detected at ", Kind::racecheck, ""},
    Title{"Deadlock detected", Kind::racecheck, "deadlock"},
    Title{"Leaked ", Kind::leak, "leak"},
    Title{"Program hit ", Kind::api_error, ""},
    Title{"CUDA API Error: ", Kind::api_error, "api_error_extended"},
    Title{"Internal Sanitizer Error", Kind::tool_error, "sanitizer_internal"},
    Title{"terminated before first instrumented API call", Kind::tool_error, "target_never_started"},
    Title{"process didn't terminate successfully", Kind::tool_error, "target_failed"},
    Title{"Target application returned an error", Kind::tool_error, "target_failed"},
    Title{"No attachable process found", Kind::tool_error, "target_never_started"},
    Title{"No CUDA-MEMCHECK results found", Kind::tool_error, "target_failed"},
    Title{"Error: ", Kind::tool_error, "sanitizer_failed"}};

const Title* title_of(std::string_view line) {
  const auto* const title = std::ranges::find_if(kTitles, [&](const Title& t) { return contains(line, t.text); });
  return title == kTitles.end() ? nullptr : title;
}

std::string lowered(std::string_view s) {
  std::string out(s);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

// "Invalid __global__ read of size 4" -> "invalid_global_read"
std::string access_fault(std::string_view title) {
  take_until(title, "nvalid __");
  const auto space = take_until(title, "__ ");
  if (!space) return "invalid_access";
  return "invalid_" + std::string(*space) + "_" + std::string(title.substr(0, title.find(' ')));
}

// "Misaligned Shared or Local Address" -> "misaligned_shared_or_local_address"
std::string other_fault(std::string_view title) {
  constexpr std::size_t kLongest = 64;
  std::string out = lowered(title.substr(0, kLongest));
  std::ranges::replace_if(out, [](char c) { return !is_word(c); }, '_');
  return out;
}

// "Race reported between Write access at F" -> "race_write"; the second access adds its word. "Potential WAW hazard".
std::string race_fault(std::string_view title) {
  if (take_until(title, "reported between ")) return "race_" + lowered(title.substr(0, title.find(' ')));
  if (take_until(title, "Potential ")) return "hazard_" + std::string(title.substr(0, title.find(' ')));
  return "race";
}

std::string api_fault(std::string_view title) {
  if (!take_until(title, "(error ")) return "api_error";
  const auto code = take_number(title);
  return "api_error" + (code ? "_" + std::to_string(*code) : std::string());
}

std::string fault_of(const Title& title, std::string_view line) {
  if (!title.fault.empty()) return std::string(title.fault);
  switch (title.kind) {
    case Kind::memcheck: return access_fault(line);
    case Kind::racecheck: return race_fault(line);
    case Kind::api_error: return api_fault(line);
    case Kind::device_assert:
    case Kind::initcheck:
    case Kind::synccheck:
    case Kind::leak:
    case Kind::tool_error: break;
  }
  return "unknown";
}

// Where an address lies, without the address: "and is 24 bytes before the nearest allocation at 0x.."
std::string relation_of(std::string_view line) {
  if (contains(line, "after memory is freed")) return "in a freed allocation";
  if (contains(line, "before memory is allocated")) return "before its allocation";
  if (line.starts_with("It is memory of device ")) return "on another device";
  if (contains(line, "misaligned")) return "misaligned";
  if (contains(line, " after the nearest allocation")) return "after the allocation";
  if (contains(line, " before the nearest allocation")) return "before the allocation";
  return {};
}

class Reader {
 public:
  explicit Reader(SanitizerReading& reading) : reading_(reading) {}

  // `body` is a line without the tool's prefix, with its indentation.
  void line(std::string_view body, std::size_t number) {
    reading_.present = true;
    const std::string_view text = trimmed(body);
    if (text.empty()) return;
    if (summary(text)) return;
    const bool indented = body.starts_with("  ");
    if (!indented) {
      finish();
      if (begin(text, number)) return;
      other_title_ = text;
      other_line_ = number;
    } else if (!open_ && !other_title_.empty() && text.starts_with("at ")) {
      begin_other();
    }
    if (open_) detail(text);
  }

  void finish() {
    if (!open_) return;
    open_ = false;
    end_host_stack();
    SanitizerRecord& record = record_;
    const auto is_runtime = [](std::string_view f) { return f.empty() || f.starts_with("__assert"); };
    record.kernel = at_.function;
    if (is_runtime(at_.function) || !at_.offset_first) {
      for (const DeviceLocation& frame : device_) {
        if (!is_runtime(frame.function)) record.kernel = frame.function;
      }
    }
    if (is_runtime(record.kernel)) record.kernel.clear();
    const auto with_file = std::ranges::find_if(device_, [](const DeviceLocation& l) { return !l.file.empty(); });
    const DeviceLocation& place = !at_.file.empty() || with_file == device_.end() ? at_ : *with_file;
    if (record.file.empty()) {
      record.file = place.file;
      record.line = place.line;
    }
    if (record.kind == Kind::tool_error && record.kernel.empty()) record.kernel = launched_;
    ++reading_.record_count;
    if (record.kind == Kind::tool_error && record.fault != "sanitizer_internal") --reading_.record_count;
    if (reading_.records.size() < kSanitizerRecordLimit) reading_.records.push_back(std::move(record));
  }

 private:
  bool summary(std::string_view text) {
    if (text.starts_with("COMPUTE-SANITIZER")) return reading_.tool = "compute-sanitizer", true;
    if (text.starts_with("CUDA-MEMCHECK")) return reading_.tool = "cuda-memcheck", true;
    if (text.starts_with("LEAK SUMMARY: ")) return true;
    if (!take(text, "ERROR SUMMARY: ") && !take(text, "RACECHECK SUMMARY: ")) return false;
    finish();
    const auto total = take_grouped_number(text);
    constexpr std::int64_t kMost = std::int64_t{1} << 60;  // one summary per process: bounded, so that sums are too
    if (total && !contains(text, "were not printed")) {
      reading_.total = std::min(reading_.total.value_or(0) + std::min(*total, kMost), kMost);
    }
    return true;
  }

  bool begin(std::string_view text, std::size_t number) {
    other_title_ = {};
    const Title* const title = title_of(text);
    if (title == nullptr) return false;
    open(title->kind, fault_of(*title, text), text, number);
    std::string_view rest = text;
    if (take_until(rest, "API call to ")) record_.api_call = std::string(rest.substr(0, rest.find_first_of(" .<")));
    rest = text;
    if (take_until(rest, "while launching ")) launched_ = std::string(rest.substr(0, rest.find(' ')));
    if (record_.kind == Kind::racecheck) race_title(text);
    return true;
  }

  // Not every exception of the hardware is documented: what has a place in a kernel is one.
  void begin_other() {
    const std::string_view title = std::exchange(other_title_, {});
    open(Kind::memcheck, other_fault(title), title, other_line_);
  }

  void open(Kind kind, std::string fault, std::string_view title, std::size_t number) {
    record_ = {};
    at_ = {};
    device_.clear();
    launched_.clear();
    open_ = true;
    record_.kind = kind;
    record_.fault = std::move(fault);
    record_.title = std::string(title.substr(0, kVerbatimLimit));
    record_.log_line = number;
    keep(title);
  }

  void race_title(std::string_view text) {
    std::string_view rest = text;
    if (take_until(rest, " access at ")) {
      at_ = parse_device_location(rest);
    } else if (take_until(rest, "threads starting at ")) {
      record_.thread = take_triple(rest, '(', ')');
      if (take(rest, " in block ")) record_.block = take_triple(rest, '(', ')');
      const std::size_t at = rest.rfind(" at ");
      if (at != std::string_view::npos) at_ = parse_device_location(rest.substr(at + 4));
    } else if (take_until(rest, " in block ")) {
      record_.block = take_triple(rest, '(', ')');
    }
  }

  void detail(std::string_view text) {
    keep(text);
    if (contains(text, "without an event between them")) {
      record_.relation = "in two streams";
      return;
    }
    std::string_view rest = text;
    if (take(rest, "Host Frame:")) {
      end_host_frame();
      host_ = parse_host_frame(rest);
    } else if (take(rest, "Device Frame:")) {
      constexpr std::size_t kDeep = 64;
      if (device_.size() < kDeep) device_.push_back(parse_device_location(rest));
    } else if (rest.starts_with("Saved host backtrace")) {
      end_host_stack();
    } else if (take(rest, "at ")) {
      at_ = parse_device_location(rest);
    } else if (take(rest, "in ")) {
      if (host_ && host_->module.empty()) host_->module = std::string(rest);
    } else if (take(rest, "by thread ")) {
      record_.thread = take_triple(rest, '(', ')');
      if (take(rest, " in block ")) record_.block = take_triple(rest, '(', ')');
    } else if (record_.kind == Kind::racecheck) {
      race_detail(text);
    } else {
      address_detail(text);
    }
  }

  void race_detail(std::string_view text) {
    std::string_view rest = text;
    if (take(rest, "and ") && contains(rest, " access at ") && accesses_of_race() == 1) {
      record_.fault += "_" + lowered(rest.substr(0, rest.find(' ')));
    } else if (rest = text; take_until(rest, " Thread ")) {
      record_.thread = take_triple(rest, '(', ')');
      if (at_.function.empty() && take(rest, " at ")) at_ = parse_device_location(rest);
    }
  }
  // Accesses named in "race_write_read".
  std::int64_t accesses_of_race() const { return std::ranges::count(record_.fault, '_'); }

  void address_detail(std::string_view text) {
    const std::string relation = relation_of(text);
    std::string_view rest = text;
    const bool address = take(rest, "Address ") || take(rest, "Access at ") || take(rest, "Access to ");
    if (address && rest.starts_with("0x0 ")) record_.relation = "at a null pointer";
    if (record_.kind != Kind::memcheck || relation.empty()) return;
    const bool stronger = relation == "in a freed allocation" || relation == "on another device";
    if (record_.relation.empty() || stronger) record_.relation = relation;
    if (relation == "before its allocation") record_.fault = "use_before_alloc";
    if (relation == "in a freed allocation") record_.fault = "use_after_free";
  }

  void keep(std::string_view text) {
    if (record_.verbatim.size() < kSanitizerLines) {
      record_.verbatim.push_back("========= " + std::string(text.substr(0, kVerbatimLimit)));
    }
  }

  void end_host_frame() {
    if (host_ && is_user_frame(*host_)) {
      Frame frame{host_->symbol, host_->file, host_->line};
      if (!nearest_) nearest_ = frame;
      earliest_ = std::move(frame);
    }
    host_.reset();
  }
  void end_host_stack() {
    end_host_frame();
    // A frame with its source is worth more than a bare symbol of an earlier record.
    const bool better =
        nearest_ && (!reading_.nearest_user || (reading_.nearest_user->file.empty() &&
                                                reading_.earliest_user->file.empty() && !nearest_->file.empty()));
    if (better) {
      reading_.nearest_user = nearest_;
      reading_.earliest_user = earliest_;
    }
    nearest_.reset();
    earliest_.reset();
  }

  SanitizerReading& reading_;
  bool open_ = false;
  SanitizerRecord record_;
  DeviceLocation at_;
  std::vector<DeviceLocation> device_;
  std::optional<HostFrame> host_;
  std::optional<Frame> nearest_, earliest_;  // of the backtrace being read
  std::string launched_;
  std::string_view other_title_;  // the last line at the margin that begins no record known here, and its number
  std::size_t other_line_ = 0;
};

// The prefix in force: nine `=`, or what stands before the tool's name.
std::string find_prefix(const LogText& log) {
  constexpr std::size_t kLongestPrefix = 32;
  for (const std::string& line : log.lines) {
    for (std::string_view name : {"COMPUTE-SANITIZER", "CUDA-MEMCHECK"}) {
      if (!line.ends_with(name)) continue;
      const std::string_view before = trimmed(std::string_view(line).substr(0, line.size() - name.size()));
      if (!before.empty() && before.size() <= kLongestPrefix && !before.ends_with("=========")) {
        return std::string(before);
      }
    }
  }
  return "=========";
}

// What follows the prefix; nullopt if the line is not the tool's. A longer rule of `=` is somebody else's.
std::optional<std::string_view> body_of(std::string_view line, std::string_view prefix) {
  const std::size_t at = line.find(prefix);
  if (at == std::string_view::npos || (at > 0 && line[at - 1] == prefix.front())) return std::nullopt;
  const std::string_view body = line.substr(at + prefix.size());
  if (!body.empty() && body.front() != ' ') return std::nullopt;
  return body;
}

}  // namespace

std::optional<SanitizerKind> kind_of_title(std::string_view title) {
  const Title* const known = title_of(title);
  return known == nullptr ? std::nullopt : std::optional(SanitizerKind{known->kind, fault_of(*known, title)});
}

SanitizerReading parse_sanitizer(const LogText& log) {
  SanitizerReading reading;
  Reader reader(reading);
  const std::string prefix = find_prefix(log);
  reading.custom_prefix = !prefix.ends_with('=');
  for (std::size_t i = 0; i < log.lines.size(); ++i) {
    const auto body = body_of(log.lines[i], prefix);
    if (!body) continue;
    if (trimmed(*body).empty()) continue;  // separators and bare rules
    reader.line(body->substr(1), i);
  }
  reader.finish();
  return reading;
}

}  // namespace dsafuzz
