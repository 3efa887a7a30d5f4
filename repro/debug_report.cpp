#include "repro/debug_report.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "repro/judge.h"

namespace dsafuzz {
namespace {

// A count with its noun: "1 thread", "32 threads".
std::string counted(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// "IndexError: Target 5 is out of bounds.": the line behind the first traceback's frames.
std::string exception_line(const LogText& log) {
  bool inside = false;
  for (const std::string& line : log.lines) {
    if (line.starts_with("Traceback (most recent call last)")) {
      inside = true;
    } else if (inside && !line.empty() && line[0] != ' ') {
      return contains(line, ":") || contains(line, "Error") ? line : "";
    }
  }
  return "";
}

// "c10::AcceleratorError: CUDA error: device-side assert triggered": what the C++ runtime says as it aborts.
std::string termination_line(const LogText& log) {
  std::string type;
  for (std::string_view line : log.lines) {
    std::string_view rest = line;
    if (take_until(rest, "terminate called after throwing an instance of '")) {
      type = rest.substr(0, rest.find('\''));
    } else if (!type.empty() && take_until(rest, "what():  ")) {
      return type + ": " + std::string(rest);
    }
  }
  return "";
}

// The signal that ended it, as fuzz/child_process.h says it behind the output; 0: none.
int signal_of(const std::string& output) {
  constexpr std::string_view kWords = "\nended by signal ";
  const std::size_t at = output.rfind(kWords);
  if (at == std::string::npos) return 0;
  std::string_view rest = std::string_view(output).substr(at + kWords.size());
  return static_cast<int>(take_number(rest).value_or(0));
}

// The program's own end as gdb tells it.
void take_end_from_debugger(const LogText& log, Outcome& outcome) {
  constexpr std::pair<std::string_view, int> kSignals[] = {
      {"SIGILL", 4}, {"SIGABRT", 6}, {"SIGBUS", 7}, {"SIGFPE", 8}, {"SIGSEGV", 11}};
  for (std::string_view line : log.lines) {
    for (const auto& [name, number] : kSignals) {
      if (!contains(line, "signal " + std::string(name))) continue;
      outcome.end = Outcome::End::signalled;
      outcome.code = number;
      return;
    }
    if (!line.starts_with("[Inferior ") || !take_until(line, ") exited with code ")) continue;
    outcome.end = Outcome::End::exited;
    outcome.code = static_cast<int>(std::strtol(std::string(line).c_str(), nullptr, 8));
    return;
  }
}

// Why a tool saw nothing of the program: it did not get to run it.
std::string tool_failure(const DebugRunReading& run) {
  if (!run.error.empty() || run.run.timed_out) return "";
  if (run.reading.kind == LogKind::sanitizer_tool_error)
    return run.reading.evidence.empty() ? run.reading.primary_fault : run.reading.evidence.front();
  if (!run.run.debugger || !run.reading.primary_fault.empty() || run.stop.stopped) return "";
  if (contains(run.run.output, "[Inferior ") || contains(run.run.output, " received signal ") ||
      run.reading.gdb.session)
    return "";
  const LogText log = read_log_text(run.run.output);
  for (auto line = log.lines.rbegin(); line != log.lines.rend(); ++line) {
    if (!trimmed(*line).empty()) return *line;
  }
  return "it printed nothing";
}

Outcome outcome_of(const DebugRunReading& run, const Device& device) {
  Outcome outcome;
  outcome.device = device.text();
  outcome.log = run.run.output;
  if (run.place) {
    outcome.step = run.place->step;
    outcome.op = run.place->op;
  }
  if (run.run.timed_out) {
    outcome.end = Outcome::End::timed_out;
  } else if (!run.error.empty()) {
    outcome.end = Outcome::End::threw;
    const std::size_t colon = run.error.find(": ");
    outcome.error_type = run.error.substr(0, colon);
    outcome.error = colon == std::string::npos ? run.error : run.error.substr(colon + 2);
  } else if (run.run.debugger) {
    take_end_from_debugger(read_log_text(run.run.output), outcome);
  } else if (run.run.exit_code < 0) {
    outcome.code = signal_of(run.run.output);
    outcome.end = Outcome::End::signalled;
  } else if (run.run.exit_code > 0) {
    outcome.end = Outcome::End::exited;
    outcome.code = run.run.exit_code;
  }
  return outcome;
}

void add_cascade(const LogReading& reading, std::vector<std::string>& out) {
  for (std::size_t i = 1; i < reading.asserts.records.size(); ++i) {
    const AssertRecord& record = reading.asserts.records[i];
    out.push_back("another assert failed: " + record.file + ":" + std::to_string(record.line) + " `" +
                  record.condition + "` (" + counted(record.count, "thread") + ")");
  }
  bool primary_seen = false;
  for (const SanitizerRecord& record : reading.sanitizer.records) {
    const bool primary = !primary_seen && record.fault == reading.primary_fault;
    primary_seen = primary_seen || primary;
    if (primary) continue;
    const bool failed_call = record.kind == SanitizerRecord::Kind::api_error;
    out.push_back((failed_call ? "a call that failed after it: " : "") + record.title +
                  (record.kernel.empty() ? "" : ", in " + record.kernel));
  }
  const bool from_record = reading.kind != LogKind::cuda_error && reading.kind != LogKind::none;
  if (reading.error && from_record && !reading.error->from_tool) {
    out.push_back("the error that reached the program: " + reading.error->text +
                  (reading.api_call.empty() ? "" : ", noticed in " + reading.api_call));
  }
  for (const LogEcho& echo : reading.echoes) {
    out.push_back(std::string(echo.what) + " (" + std::to_string(echo.count) + ")");
  }
}

// By its number from 0; steps carry a tensor's device on to their results. nullopt where nothing says.
std::optional<int> device_of_step(const Case& c, std::size_t failing) {
  std::map<std::string, int, std::less<>> devices;
  for (const TensorSpec& spec : c.tensors) devices[spec.name] = spec.device;
  for (std::size_t i = 0; i <= failing && i < c.steps.size(); ++i) {
    const Step& step = c.steps[i];
    std::optional<int> device;
    for (const Argument& argument : step.arguments) {
      const auto* name = std::get_if<Name>(&argument.value.v);
      const auto known = name ? devices.find(name->text) : devices.end();
      // A copy lies where its second tensor does.
      if (known != devices.end() && (!device || step.op == "aten::to.other")) device = known->second;
    }
    if (i == failing) return device;
    if (!device) continue;
    for (const std::string& result : step.results) devices[result] = *device;
  }
  return std::nullopt;
}

void add_notes(DebugReport& report) {
  const DebugRunReading& run = report.runs[report.first];
  const bool real = report.device.kind == Device::Kind::cuda;
  if (report.tool == DebugTool::dsa && real && contains(run.run.output, "Compile with `TORCH_USE_CUDA_DSA`")) {
    report.notes.emplace_back(
        "this PyTorch was not built with TORCH_USE_CUDA_DSA, as the wheels are not, so it has no report of its own; "
        "the driver's lines say which assert failed");
  }
  if (report.tool == DebugTool::dsa && !real) {
    report.notes.emplace_back(
        "a PyTorch that reports asserts itself must be built with TORCH_USE_CUDA_DSA=1; the wheels are not");
  }
  if (report.tool == DebugTool::coredump && report.core.empty() && report.fault()) {
    report.notes.emplace_back("no core dump was written: a GPU writes one only if the driver can see the failure");
  }
  if (report.diagnosis.signature.verdict == Verdict::ok) {
    report.notes.emplace_back(
        "whether the input should have been refused is asked by `dsafuzz replay`, which runs it on the CPU");
  }
  for (const DebugRunReading& each : report.runs) {
    if (each.run.timed_out) report.notes.push_back(each.run.what + ": it did not end in time");
  }
  if (real && contains(run.run.output, "terminate called after throwing")) {
    report.notes.emplace_back(
        "the process was aborted, since without its cache PyTorch frees memory by cudaFree, which fails after the "
        "fault where nothing can catch it; with the cache the same error is an exception");
  }
  if (contains(run.run.output, "ptrace: Operation not permitted")) {
    report.notes.emplace_back("gdb may not watch programs here; in a container start it with --cap-add=SYS_PTRACE");
  }
}

}  // namespace

DebugRunReading read_debug_run(const DebugOutput& run, const DebugProgram& program, const std::string& program_file) {
  const LogText log = read_log_text(run.output);
  DebugRunReading out;
  out.run = run;
  out.reading = parse_log(log);
  out.stop = parse_host_gdb(log);
  out.error = exception_line(log);
  if (out.error.empty()) out.error = termination_line(log);
  out.frame = out.reading.earliest_user;
  if (out.frame && out.frame->file.ends_with(program_file)) out.place = program.place_of(out.frame->line);
  return out;
}

void judge_debug_runs(const Case& c, DebugReport& report) {
  // The later run of a plan is the closer look.
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    if (!report.runs[i].reading.primary_fault.empty() || report.runs[i].run.timed_out) report.first = i;
  }
  const DebugRunReading& run = report.runs[report.first];
  report.diagnosis = judge(c, outcome_of(run, report.device), nullptr);
  report.failed = tool_failure(run);
  if (run.place && run.place->step >= 0) {
    report.failing_device = device_of_step(c, static_cast<std::size_t>(run.place->step));
    if (report.failing_device) *report.failing_device += report.device.index;
  }
  if (report.fault()) report.advice = advise(c, report.diagnosis);
  add_cascade(run.reading, report.cascade);
  add_notes(report);
}

std::string dsa_text(const LogReading& reading, int device) {
  if (reading.asserts.records.empty()) return "";
  std::string out = std::to_string(reading.asserts.count) + " CUDA device-side assertion failures were found on GPU #" +
                    std::to_string(device) + "!\n";
  const auto triple = [](const Triple& t) {
    return "[" + std::to_string(t[0]) + "," + std::to_string(t[1]) + "," + std::to_string(t[2]) + "]";
  };
  for (std::size_t i = 0; i < reading.asserts.records.size(); ++i) {
    const AssertRecord& record = reading.asserts.records[i];
    out += "Assertion failure " + std::to_string(i) + "\n  GPU assertion failure message = " + record.condition +
           "\n  File containing assertion = " + record.file + ":" + std::to_string(record.line) + "\n";
    if (record.function) out += "  Device function containing assertion = " + *record.function + "\n";
    if (record.thread) out += "  Thread ID that failed assertion = " + triple(*record.thread) + "\n";
    if (record.block) out += "  Block ID that failed assertion = " + triple(*record.block) + "\n";
    out += "  Device that launched kernel = " + std::to_string(device) + "\n";
  }
  return out;
}

}  // namespace dsafuzz
