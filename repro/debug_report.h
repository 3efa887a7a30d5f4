// What a debugging run showed, put in order: the first fault, what only follows from it, where it reached the user's
// own program, and where it belongs. Pure: outputs come in, text and JSON go out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "repro/debug_plan.h"
#include "repro/debug_program.h"
#include "repro/diagnose.h"
#include "repro/parse_host_gdb.h"
#include "repro/parse_log.h"

namespace dsafuzz {

// What became of a DebugRun.
struct DebugOutput {
  std::string what;                      // as planned
  std::string command;                   // as one types it, with the variables that matter
  std::vector<std::string> environment;  // those variables
  bool debugger = false;                 // as planned
  bool timed_out = false;
  int exit_code = 0;  // -1: ended by a signal
  std::string output;
};

struct DebugRunReading {
  DebugOutput run;
  LogReading reading;
  HostGdbStop stop;                          // of gdb on the virtual device
  std::string error;                         // the exception as Python, or C++ as it aborts, printed it; empty: none
  std::optional<Frame> frame;                // the earliest frame of the user's own, where the error reached him
  std::optional<DebugProgram::Place> place;  // and that line, if it is the case's program
};

struct DebugReport {
  std::string case_file, case_name, id;  // id: case_id()
  DebugTool tool = DebugTool::blocking;
  Device device;
  std::string folder, core;  // of what was written; core is empty if there is no dump
  std::vector<DebugRunReading> runs;
  std::size_t first = 0;  // the run that shows the fault best
  Diagnosis diagnosis;    // of that run
  Advice advice;
  std::optional<int> failing_device;  // the number of the one on which that operator ran; nullopt: not known
  std::vector<std::string> cascade;   // what follows from the first fault, or only repeats it
  std::vector<std::string> notes;     // what the tool could not show, and why
  std::string failed;                 // the tool itself could not do its work, and this is why; else empty
  bool fault() const { return is_bug(diagnosis.signature.verdict); }
};

// One run's output, read. `program_file` is the program's name in tracebacks.
DebugRunReading read_debug_run(const DebugOutput& run, const DebugProgram& program, const std::string& program_file);

// Fills all that the runs decide. Requires: at least one run.
void judge_debug_runs(const Case& c, DebugReport& report);

// The assert of a reading in the form of PyTorch's device-side assertion report, with the fields that are known;
// empty if there is no assert.
std::string dsa_text(const LogReading& reading, int device);

std::string debug_text(const DebugReport& report);
// Version 1 of the format "dsafuzz-debug": {case, case_id, device, tool, verdict, signature, operator, first_fault:
// {fault, file, line, kernel, condition, block, thread, count, evidence}, cascade, surfaced: [{run, frame, step,
// operator, source, error}], stack: [{function, file, line, source, arguments: {NAME: VALUE}, locals}], advice, notes,
// runs: [{what, command, environment, exit_code, timed_out}], folder, core}. What is not known is null.
std::string debug_json(const DebugReport& report);

}  // namespace dsafuzz
