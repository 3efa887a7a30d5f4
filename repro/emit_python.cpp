// The Python reproducer. Aim: a person reads it in half a minute, so the program is flat and has no machinery that the
// bug does not need. Only a bug that ends or stops the process is run in a child of its own.
#include <utility>

#include "repro/emit.h"
#include "repro/emit_plan.h"
#include "repro/escape.h"
#include "repro/python_program.h"
#include "repro/python_text.h"

namespace dsafuzz {
namespace {

class PythonEmitter {
 public:
  explicit PythonEmitter(const Finding& finding)
      : finding_(finding), case_(finding.minimal), evidence_(evidence_of(finding.signature.verdict)) {}

  std::string text() {
    head();
    switch (evidence_) {
      case Evidence::message:
      case Evidence::return_: flat(); break;
      case Evidence::death:
      case Evidence::timeout: in_child(); break;
      case Evidence::difference: against_cpu(); break;
    }
    return out_.text();
  }

 private:
  void head() {
    for (const std::string& line : headline(finding_)) out_.add("# " + line);
    if (uses_own_operators(case_)) {
      out_.add("# Needs the dsafuzz operators: dsafuzz_vcuda brings them for vcuda; for another device set");
      out_.add("# DSAFUZZ_OPS_LIBRARY to the libraries that register them.");
    }
    if (uses_modules(case_)) out_.add("# Needs the TorchScript file beside this program.");
    const std::string tool = special_tool(finding_);
    if (!tool.empty()) {
      out_.add("# It takes a tool to see: " + tool + ". On a GPU: compute-sanitizer --tool " + tool + " python ...");
    }
    if (uses_own_operators(case_) || uses_modules(case_) || !tool.empty()) out_.add("import os");
    if (evidence_ == Evidence::death || evidence_ == Evidence::timeout) out_.add("import subprocess");
    out_.add("import sys");
    out_.add("import torch");
    out_.add("");
    if (!tool.empty()) out_.add("os.environ[\"DSAFUZZ_VCUDA_TOOL\"] = \"" + tool + "\"");
    out_.add("device = sys.argv[1] if len(sys.argv) > 1 else \"cuda\"");
  }

  void flat() {
    const PythonProgram program = python_program(case_);
    preparation(program.tensors);
    attempt(program);
    if (finding_.signature.verdict == Verdict::host_reject || !expected_messages(finding_).empty()) {
      out_.add("shows = " + python_message_test(finding_, "result"));
    } else {
      out_.add("shows = result == \"returned\"");
    }
    out_.add("print(f\"{device}: {result}\\nthe bug {'shows' if shows else 'does not show'}\")");
    out_.add("sys.exit(1 if shows else 0)");
  }

  // Imports, tensors, and a way out where they cannot be made.
  void preparation(const std::vector<std::string>& tensors) {
    out_.begin("try:");
    out_.add(python_loading(case_));
    out_.add(tensors);
    if (tensors.empty()) out_.add("torch.empty(0, device=device)");
    out_.end();
    out_.add("except Exception as error:");
    out_.add("    print(f\"cannot run on {device}: {' '.join(str(error).split())}\")");
    out_.add("    sys.exit(125)");
  }

  void attempt(const PythonProgram& program) {
    out_.begin("try:");
    out_.add(program.steps);
    out_.add(program.wait);
    out_.add("result = \"returned\"");
    out_.end();
    out_.add("except Exception as error:");
    out_.add("    result = f\"{type(error).__name__}: {error}\".splitlines()[0]");
  }

  // The parent starts this file again and judges how the child ends.
  void in_child() {
    const bool hang = evidence_ == Evidence::timeout;
    out_.begin("if \"--child\" not in sys.argv:");
    out_.add("command = [sys.executable, __file__, device, \"--child\"]");
    out_.begin("try:");
    out_.add("child = subprocess.run(command, capture_output=True, text=True, errors=\"replace\", timeout=60)");
    out_.add("result = (child.stdout + child.stderr).strip()");
    out_.add("if child.returncode == 125:");
    out_.add("    print(result)");
    out_.add("    sys.exit(125)");
    if (hang) {
      out_.add("shows = False");
    } else if (expected_messages(finding_).empty()) {
      out_.add("shows = child.returncode not in (0, 1)");
    } else {
      // On a CPU an access outside all memory ends the process without a word.
      out_.add("shows = child.returncode < 0 or " + python_message_test(finding_, "result"));
    }
    out_.add("print(f\"{device}: exit code {child.returncode}: {result.splitlines()[0] if result else ''}\")");
    out_.end();
    out_.add("except subprocess.TimeoutExpired:");
    out_.add(std::string("    shows = ") + (hang ? "True" : "False"));
    out_.add("    print(f\"{device}: no end within 60 s\")");
    out_.add("print(\"the bug shows\" if shows else \"the bug does not show\")");
    out_.add("sys.exit(1 if shows else 0)");
    out_.end();
    out_.add("");
    const PythonProgram program = python_program(case_);
    preparation(program.tensors);
    attempt(program);
    out_.add("print(result)");
  }

  void against_cpu() {
    const PythonProgram program = python_program(case_, Unused::dropped_but_result);
    out_.add("");
    out_.add("");
    out_.begin("def run(device):");
    out_.add(program.tensors);
    out_.add(program.steps);
    out_.add(program.wait);
    out_.add("return " + (program.result.empty() ? "torch.zeros(0)" : program.result) + ".detach().cpu().double()");
    out_.end();
    out_.add("");
    out_.add("");
    out_.begin("try:");
    out_.add(python_loading(case_));
    out_.add("torch.empty(0, device=device)");
    out_.end();
    out_.add("except Exception as error:");
    out_.add("    print(f\"cannot run on {device}: {' '.join(str(error).split())}\")");
    out_.add("    sys.exit(125)");
    out_.begin("try:");
    out_.add("shows = not torch.allclose(run(device), run(\"cpu\"), rtol=1e-3, atol=1e-3, equal_nan=True)");
    out_.add("print(f\"{device}: {'differs from' if shows else 'agrees with'} the CPU\")");
    out_.end();
    out_.add("except Exception as error:");
    out_.add("    shows = False");
    out_.add("    print(f\"{device}: {type(error).__name__}: {error}\".splitlines()[0])");
    out_.add("print(\"the bug shows\" if shows else \"the bug does not show\")");
    out_.add("sys.exit(1 if shows else 0)");
  }

  const Finding& finding_;
  const Case& case_;
  const Evidence evidence_;
  PythonText out_;
};

}  // namespace

std::string emit_python(const Finding& finding) { return PythonEmitter(finding).text(); }

}  // namespace dsafuzz
