#include "repro/debug_program.h"

#include <algorithm>

#include "repro/emit_plan.h"
#include "repro/escape.h"
#include "repro/python_program.h"
#include "repro/python_text.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

int next_line(const PythonText& text) { return static_cast<int>(std::ranges::count(text.text(), '\n')) + 1; }

}  // namespace

DebugProgram debug_program(const Case& c) {
  DebugProgram out;
  PythonText text;
  text.add("# " + comment_text(c.scenario) + ": nothing is caught here, so that the traceback names the line.");
  if (uses_own_operators(c) || uses_modules(c)) text.add("import os");
  text.add("import sys");
  text.add("import torch");
  text.add("");
  text.add("device = sys.argv[1] if len(sys.argv) > 1 else \"cuda\"");
  text.begin("try:");
  text.add(python_loading(c));
  text.add("torch.empty(0, device=device)");
  text.end();
  text.add("except Exception as error:");
  text.add("    print(f\"" + std::string(kCannotRun) + "{device}: {' '.join(str(error).split())}\")");
  text.add("    sys.exit(125)");

  const auto add = [&](const std::string& line, int step, const std::string& op) {
    out.parts.push_back({next_line(text), step, op});
    text.add(line);
  };
  const PythonProgram program = python_program(c);
  for (const std::string& line : program.tensors) add(line, -1, "inputs");
  // One element a step, in order; before the first one a line that opens autocast, behind the last one backward.
  const bool autocast = c.precision == Precision::autocast_float16 || c.precision == Precision::autocast_bfloat16;
  const int steps = static_cast<int>(c.steps.size());
  int step = autocast ? -1 : 0;
  for (const std::string& line : program.steps) {
    const bool known = step >= 0 && step < steps;
    add(line, step, step < 0 ? "inputs" : known ? c.steps[static_cast<std::size_t>(step)].op : "backward");
    ++step;
  }
  for (const std::string& line : program.wait) add(line, steps, "synchronize");
  add("print(f\"{device}: returned\")", steps, "synchronize");
  out.text = text.text();
  return out;
}

std::optional<DebugProgram::Place> DebugProgram::place_of(int line) const {
  std::size_t begin = 0;
  for (int i = 1; i < line && begin != std::string::npos; ++i) {
    begin = text.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (line < 1 || begin == std::string::npos || begin >= text.size()) return std::nullopt;
  const std::string_view rest = std::string_view(text).substr(begin);
  std::string_view source = trimmed(rest.substr(0, rest.find('\n')));
  if (constexpr std::string_view kMark = "  # fmt: skip"; source.ends_with(kMark)) source.remove_suffix(kMark.size());
  Place place{.step = -1, .op = "inputs", .source = std::string(source)};
  for (const Part& part : parts) {
    if (part.first_line > line) break;
    place.step = part.step;
    place.op = part.op;
  }
  return place;
}

}  // namespace dsafuzz
