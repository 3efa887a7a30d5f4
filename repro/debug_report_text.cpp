// A debugging report for people and for scripts.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "repro/debug_report.h"
#include "repro/escape.h"

namespace dsafuzz {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFramesShown = 24;

std::string clean(std::string_view text, std::size_t limit = 400) { return comment_text(text, limit); }

// LibTorch's way from one function to the next, and Python's: true, and of no use to anyone who looks for his own.
bool is_plumbing(std::string_view symbol) {
  constexpr std::string_view kWords[] = {"c10::impl::wrap_kernel_functor",
                                         "std::_Function_handler",
                                         "c10::Error::Error",
                                         "c10::AcceleratorError::",
                                         "_PyEval",
                                         "_PyObject",
                                         "cfunction_call",
                                         "run_eval_code",
                                         "run_mod",
                                         "pyrun_",
                                         "_PyRun",
                                         "pymain_",
                                         "__libc_start",
                                         "_start"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return symbol.starts_with(word); });
}

// The same for what gdb shows: the virtual device between a launch and its kernel, and LibTorch's way to an operator.
bool is_plumbing(const HostGdbFrame& frame) {
  constexpr std::string_view kFiles[] = {"kernels/vcuda/", "core/boxing/", "WrapFunctionIntoRuntimeFunctor.h"};
  return frame.function == "??" ||
         std::ranges::any_of(kFiles, [&](std::string_view file) { return contains(frame.file, file); });
}

std::string triple_text(const Triple& t) {
  return "[" + std::to_string(t[0]) + "," + std::to_string(t[1]) + "," + std::to_string(t[2]) + "]";
}

std::string base_of(const std::string& path) { return path.substr(path.find_last_of("/\\") + 1); }

// Where an error reached the program: "program.py:31, step 2, aten::cross_entropy_loss".
std::string place_text(const DebugRunReading& run, std::size_t steps_from_one) {
  if (!run.frame) return "not seen";
  std::string out = base_of(run.frame->file) + ":" + std::to_string(run.frame->line);
  if (!run.place) return out + (run.frame->function.empty() ? "" : " in " + run.frame->function);
  if (run.place->step >= 0 && run.place->op.find(':') != std::string::npos) {
    out += ", step " + std::to_string(static_cast<std::size_t>(run.place->step) + steps_from_one);
  }
  return out + ", " + run.place->op;
}

void add_fault(const DebugReport& report, std::string& out) {
  const DebugRunReading& run = report.runs[report.first];
  const LogReading& reading = run.reading;
  const Signature& signature = report.diagnosis.signature;
  out += (report.fault() ? "first fault:  " : "no fault:     ") + std::string(to_text(signature.verdict));
  if (!signature.text().empty()) out += " " + clean(signature.text());
  out += "\n";
  std::string where;
  if (!reading.file.empty()) where = reading.file + (reading.line ? ":" + std::to_string(*reading.line) : "");
  if (reading.block && reading.thread) {
    where += (where.empty() ? "" : ", ") + ("block " + triple_text(*reading.block)) + ", thread " +
             triple_text(*reading.thread);
  }
  if (reading.count > 1) where += ", " + std::to_string(reading.count) + " in all";
  if (!where.empty()) out += "  where:      " + clean(where) + "\n";
  if (run.frame) {
    out += "  your line:  " + clean(place_text(run, 1)) + "\n";
    if (run.place) out += "              " + clean(run.place->source) + "\n";
  }
  if (!report.advice.cause.empty()) out += "  cause:      " + clean(report.advice.cause) + "\n";
  if (!report.advice.remedy.empty()) out += "  remedy:     " + clean(report.advice.remedy) + "\n";
}

// The runs of `blocking` in two columns' worth of lines.
void add_sides(const DebugReport& report, std::string& out) {
  out += "where the error surfaced:\n";
  for (const DebugRunReading& run : report.runs) {
    std::string name = "  " + run.run.what + ":";
    name.resize(std::max<std::size_t>(name.size() + 1, 17), ' ');
    out += name + clean(place_text(run, 1)) + "\n";
    if (run.place) out += std::string(17, ' ') + clean(run.place->source) + "\n";
    if (!run.error.empty()) out += std::string(17, ' ') + clean(run.error) + "\n";
  }
  const auto &late = report.runs.front(), &right = report.runs.back();
  if (late.frame && right.frame && late.frame != right.frame) {
    out += "The asynchronous run blames a line that is not at fault: believe the blocking one.\n";
  } else if (late.frame && right.frame) {
    out += "Both name the same line: this error could not surface late.\n";
  }
}

// One line: what a frame's arguments or locals are, each cut to a length that leaves room for the others.
void add_values(const char* title, const std::vector<HostGdbValue>& values, std::string& out) {
  std::vector<std::string> words;
  for (const HostGdbValue& each : values) words.push_back(each.name + " = " + clean(each.value, 60));
  if (!words.empty()) out += title + clean(joined(words), 1000) + "\n";
}

void add_stack(const DebugReport& report, const DebugRunReading& run, std::string& out) {
  if (!run.stop.frames.empty()) {
    out += &run == &report.runs.front() ? "the failing thread" : "the same in " + run.run.what;
    if (run.stop.block && run.stop.thread) {
      out += ", block " + triple_text(*run.stop.block) + ", thread " + triple_text(*run.stop.thread);
    }
    out += ":\n";
    // Above the kernel is only the virtual device, as it notices.
    const HostGdbFrame* const kernel = run.stop.kernel();
    bool launched = false;  // what launches a kernel has values of its own
    for (const HostGdbFrame& frame : run.stop.frames) {
      launched = launched || contains(frame.function, "vcuda::detail::run_thread");
      if (&frame < kernel || is_plumbing(frame)) continue;
      out += std::string(&frame == kernel ? "> #" : "  #") + std::to_string(frame.number) + " " +
             clean(frame.function, 140);
      if (!frame.file.empty()) out += "  " + clean(base_of(frame.file)) + ":" + std::to_string(frame.line);
      out += "\n";
      if (frame.in_kernel() && !frame.source.empty()) out += "        " + clean(frame.source) + "\n";
      if (launched || !frame.in_kernel()) continue;
      add_values("        arguments: ", frame.arguments, out);
      add_values("        locals: ", frame.locals, out);
    }
  }
  const auto& cpp = run.reading.frames.cpp;
  if (cpp.empty() || run.stop.stopped) return;  // gdb's frames look like these
  out += "C++ stack, innermost first:\n";
  std::size_t shown = 0;
  for (const CppFrame& frame : cpp) {
    if (is_plumbing(frame.symbol) || ++shown > kFramesShown) continue;
    out += "  #" + std::to_string(frame.number) + " " + clean(frame.symbol.empty() ? "?" : frame.symbol, 140);
    const std::string& where = frame.file.empty() ? frame.library : frame.file;
    if (!where.empty() && where != "??") out += "  " + clean(base_of(where));
    if (frame.line > 0) out += ":" + std::to_string(frame.line);
    out += "\n";
  }
}

Json json_of(const std::optional<Triple>& triple) { return triple ? Json(*triple) : Json(); }
Json json_of(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json json_of(const std::optional<Frame>& frame) {
  if (!frame) return Json();
  return {{"file", frame->file}, {"line", frame->line}, {"function", frame->function}};
}

Json fault_json(const DebugReport& report) {
  const LogReading& reading = report.runs[report.first].reading;
  if (!report.fault() && reading.primary_fault.empty()) return Json();
  return {{"fault", reading.primary_fault.empty() ? std::string(to_text(report.diagnosis.signature.verdict))
                                                  : reading.primary_fault},
          {"kind", to_text(reading.kind)},
          {"file", json_of(reading.file)},
          {"line", reading.line ? Json(*reading.line) : Json()},
          {"kernel", json_of(reading.kernel.value_or(""))},
          {"condition", json_of(reading.condition.value_or(""))},
          {"block", json_of(reading.block)},
          {"thread", json_of(reading.thread)},
          {"count", reading.count},
          {"evidence", reading.evidence}};
}

Json json_of(const std::vector<HostGdbValue>& values) {
  Json out = Json::object();
  for (const HostGdbValue& each : values) out[each.name] = each.value;
  return out;
}

Json stack_json(const DebugRunReading& run) {
  Json out = Json::array();
  for (const HostGdbFrame& frame : run.stop.frames) {
    out.push_back({{"function", frame.function},
                   {"file", json_of(frame.file)},
                   {"line", frame.line},
                   {"source", json_of(frame.source)},
                   {"arguments", json_of(frame.arguments)},
                   {"locals", json_of(frame.locals)},
                   {"kernel", frame.in_kernel()}});
  }
  if (run.stop.stopped) return out;
  for (const CppFrame& frame : run.reading.frames.cpp) {
    out.push_back({{"function", json_of(frame.symbol)},
                   {"file", json_of(frame.file.empty() ? frame.library : frame.file)},
                   {"line", frame.line},
                   {"source", Json()},
                   {"arguments", Json::object()},
                   {"locals", Json::object()},
                   {"kernel", false}});
  }
  return out;
}

}  // namespace

std::string debug_text(const DebugReport& report) {
  const DebugRunReading& run = report.runs[report.first];
  std::string out = "case:         " + clean(report.case_file) + "\ndevice:       " + report.device.text() +
                    "\ntool:         " + std::string(to_text(report.tool)) + "\n";
  for (const DebugRunReading& each : report.runs) out += "ran:          " + as_utf8(each.run.command) + "\n";
  out += "\n";
  if (report.fault() || !run.error.empty()) {
    add_fault(report, out);
  } else {
    out += "nothing wrong was seen (" + std::string(to_text(report.diagnosis.signature.verdict)) + ")\n";
  }
  if (!report.cascade.empty()) {
    out += "what follows from it:\n";
    for (const std::string& line : report.cascade) out += "  " + clean(line) + "\n";
  }
  const bool surfaced = std::ranges::any_of(report.runs, [](const DebugRunReading& r) { return r.frame.has_value(); });
  if (report.tool == DebugTool::blocking && surfaced) add_sides(report, out);
  if (report.tool == DebugTool::dsa) {
    const std::string text = dsa_text(run.reading, report.failing_device.value_or(report.device.index));
    if (!text.empty() && report.device.kind == Device::Kind::vcuda) {
      out += "what PyTorch's own report would say of it:\n" + as_utf8(text);
    }
  }
  for (const DebugRunReading& each : report.runs) add_stack(report, each, out);
  for (const std::string& note : report.notes) out += "note: " + clean(note) + "\n";
  if (!report.core.empty()) out += "core dump:    " + as_utf8(report.core) + "\n";
  out += "folder:       " + as_utf8(report.folder) + "\n";
  return out;
}

std::string debug_json(const DebugReport& report) {
  const DebugRunReading& best = report.runs[report.first];
  const Signature& signature = report.diagnosis.signature;
  Json surfaced = Json::array(), runs = Json::array(), stack = Json::array();
  for (const DebugRunReading& run : report.runs) {
    surfaced.push_back({{"run", run.run.what},
                        {"frame", json_of(run.frame)},
                        {"step", run.place ? Json(run.place->step) : Json()},
                        {"operator", run.place ? Json(run.place->op) : Json()},
                        {"source", run.place ? Json(run.place->source) : Json()},
                        {"error", json_of(run.error)}});
    runs.push_back({{"what", run.run.what},
                    {"command", run.run.command},
                    {"environment", run.run.environment},
                    {"exit_code", run.run.exit_code},
                    {"timed_out", run.run.timed_out}});
    for (Json& frame : stack_json(run)) stack.push_back(std::move(frame));
  }
  Json dsa;
  if (report.tool == DebugTool::dsa && report.device.kind == Device::Kind::vcuda) {
    dsa = json_of(dsa_text(best.reading, report.failing_device.value_or(report.device.index)));
  }
  const Json out{{"format", "dsafuzz-debug"},
                 {"version", 1},
                 {"case", report.case_file},
                 {"case_id", report.id},
                 {"device", report.device.text()},
                 {"tool", to_text(report.tool)},
                 {"verdict", to_text(signature.verdict)},
                 {"signature", signature.text()},
                 {"operator", json_of(signature.op)},
                 {"first_fault", fault_json(report)},
                 {"cascade", report.cascade},
                 {"earliest_frame", json_of(best.frame)},
                 {"surfaced", std::move(surfaced)},
                 {"stack", std::move(stack)},
                 {"dsa", std::move(dsa)},
                 {"cause", json_of(report.advice.cause)},
                 {"remedy", json_of(report.advice.remedy)},
                 {"notes", report.notes},
                 {"runs", std::move(runs)},
                 {"core", json_of(report.core)},
                 {"folder", report.folder}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dsafuzz
