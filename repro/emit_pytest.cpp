// The finding as a regression test for pytest. It states what should be: the device refuses the input with an ordinary
// error or computes what the CPU does, and its context lives on. So it fails while the bug is there. The call is made
// in a process of its own, because a failed device assert takes the whole context, and with it every later test.
#include "repro/cpu_opinion.h"
#include "repro/emit.h"
#include "repro/emit_plan.h"
#include "repro/escape.h"
#include "repro/python_program.h"
#include "repro/python_text.h"

namespace dsafuzz {
namespace {

class PytestEmitter {
 public:
  explicit PytestEmitter(const Finding& finding)
      : finding_(finding), case_(finding.minimal), evidence_(evidence_of(finding.signature.verdict)) {}

  std::string text() {
    head();
    program();
    child();
    tests();
    main();
    return out_.text();
  }

 private:
  void head() {
    for (const std::string& line : headline(finding_)) out_.add("# " + line);
    if (!finding_.cpu_opinion.empty())
      out_.add("# The CPU, on the same input: " + comment_text(finding_.cpu_opinion, 80));
    out_.add("#");
    out_.add(
        "# pytest test_repro.py; REPRO_DEVICE=cpu, vcuda or cuda:N chooses the device (default: cuda). It fails while");
    out_.add(
        "# the bug is there. The call runs in a process of its own: a lost context would take later tests with it.");
    out_.add("import os");
    out_.add("import subprocess");
    out_.add("import sys");
    out_.add("");
    out_.add("import pytest");
    out_.add("");
    out_.add("DEVICE = os.environ.get(\"REPRO_DEVICE\", \"cuda\")");
    out_.add("");
    out_.add("");
  }

  void program() {
    const bool compared = evidence_ == Evidence::difference;
    const PythonProgram lines = python_program(case_, compared ? Unused::dropped_but_result : Unused::dropped);
    out_.begin("def program(device):");
    out_.add(lines.tensors);
    out_.add(lines.steps);
    out_.add(lines.wait);
    if (compared) {
      out_.add("return " + (lines.result.empty() ? "torch.zeros(0)" : lines.result) + ".detach().cpu().double()");
    }
    out_.end();
    out_.add("");
    out_.add("");
  }

  void child() {
    out_.begin("def run_in_child(device):");
    out_.add("command = [sys.executable, __file__, device]");
    if (evidence_ == Evidence::timeout) {
      out_.begin("try:");
      out_.add("child = subprocess.run(command, capture_output=True, text=True, errors=\"replace\", timeout=60)");
      out_.end();
      out_.add("except subprocess.TimeoutExpired:");
      out_.add("    pytest.fail(f\"no end within 60 s on {device}\")");
    } else {
      out_.add("child = subprocess.run(command, capture_output=True, text=True, errors=\"replace\", timeout=120)");
    }
    out_.add("if child.returncode == 125:");
    out_.add("    pytest.skip(child.stdout.strip())");
    if (evidence_ == Evidence::death) {
      out_.add("assert child.returncode in (0, 1), f\"the process died: {child.stdout}{child.stderr}\"");
    }
    out_.add("return child.stdout + child.stderr");
    out_.end();
    out_.add("");
    out_.add("");
  }

  void tests() {
    const std::string message = cpu_message(finding_.cpu_opinion);
    const bool refused = !message.empty() && finding_.signature.verdict != Verdict::host_reject;
    if (refused) {
      out_.begin("def test_cpu_refuses_the_input():");
      out_.add("assert " + python_string(message) + " in run_in_child(\"cpu\")");
      out_.end();
      out_.add("");
      out_.add("");
    }
    out_.begin("def test_device_" + std::string(purpose()) + "():");
    out_.add("said = run_in_child(DEVICE)");
    out_.add("assert " + condition() + ", said");
    out_.end();
    out_.add("");
    out_.add("");
  }

  std::string_view purpose() const {
    switch (evidence_) {
      case Evidence::message: return "gives_no_such_error";
      case Evidence::death: return "stays_alive";
      case Evidence::timeout: return "comes_to_an_end";
      case Evidence::return_: return "refuses_the_input";
      case Evidence::difference: return "agrees_with_the_cpu";
    }
    return "";
  }

  std::string condition() const {
    if (evidence_ == Evidence::difference) return "\"differs from the CPU\" not in said";
    if (evidence_ == Evidence::return_) return "\"returned\" not in said";
    const std::vector<std::string> expected = expected_messages(finding_);
    if (expected.empty()) return "said";
    if (expected.size() == 1) return python_string(expected[0]) + " not in said";
    std::vector<std::string> parts;
    for (const std::string& text : expected) parts.push_back(python_string(text));
    return "not any(text in said for text in (" + joined(parts) + "))";
  }

  void main() {
    out_.begin("if __name__ == \"__main__\":");
    out_.add("import torch");
    out_.add("");
    out_.add("device = sys.argv[1]");
    if (const std::string tool = special_tool(finding_); !tool.empty()) {
      out_.add("os.environ[\"DSAFUZZ_VCUDA_TOOL\"] = \"" + tool + "\"");
    }
    out_.begin("try:");
    out_.add(python_loading(case_));
    out_.add("torch.empty(0, device=device)");
    out_.end();
    out_.add("except Exception as error:");
    out_.add("    print(f\"cannot run on {device}: {' '.join(str(error).split())}\")");
    out_.add("    sys.exit(125)");
    out_.begin("try:");
    if (evidence_ == Evidence::difference) {
      out_.add("same = torch.allclose(program(device), program(\"cpu\"), rtol=1e-3, atol=1e-3, equal_nan=True)");
      out_.add("print(\"agrees with the CPU\" if same else \"differs from the CPU\")");
    } else {
      out_.add("program(device)");
      out_.add("print(\"returned\")");
    }
    out_.end();
    out_.add("except Exception as error:");
    out_.add("    print(f\"{type(error).__name__}: {error}\")");
    out_.end();
  }

  const Finding& finding_;
  const Case& case_;
  const Evidence evidence_;
  PythonText out_;
};

}  // namespace

std::string emit_pytest(const Finding& finding) { return PytestEmitter(finding).text(); }

}  // namespace dsafuzz
