// The Python reproducer. Aim: a person reads it in half a minute, so the program is flat and has no machinery that the
// bug does not need. Only a bug that ends or stops the process is run in a child of its own.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "repro/emit.h"
#include "repro/emit_plan.h"
#include "repro/escape.h"
#include "repro/python_literal.h"

namespace dsafuzz {
namespace {

using namespace python;

class PythonEmitter {
 public:
  explicit PythonEmitter(const Finding& finding) : finding_(finding), case_(finding.minimal) {}

  std::string text() {
    const Evidence evidence = evidence_of(finding_.signature.verdict);
    for (const std::string& line : headline(finding_)) add("# " + line);
    if (uses_own_operators(case_)) {
      add("# Needs the dsafuzz operators: dsafuzz_vcuda brings them for vcuda; for another device set");
      add("# DSAFUZZ_OPS_LIBRARY to the libraries that register them.");
    }
    if (uses_modules(case_)) add("# Needs the TorchScript file beside this program.");
    const std::string tool = special_tool(finding_);
    if (!tool.empty())
      add("# It takes a tool to see: " + tool + ". On a GPU: compute-sanitizer --tool " + tool + " python ...");
    if (uses_own_operators(case_) || uses_modules(case_) || !tool.empty()) add("import os");
    if (evidence == Evidence::death || evidence == Evidence::timeout) add("import subprocess");
    add("import sys");
    add("import torch");
    add("");
    if (!tool.empty()) add("os.environ[\"DSAFUZZ_VCUDA_TOOL\"] = \"" + tool + "\"");
    add("device = sys.argv[1] if len(sys.argv) > 1 else \"cuda\"");
    switch (evidence) {
      case Evidence::message:
      case Evidence::return_: flat(); break;
      case Evidence::death:
      case Evidence::timeout: in_child(evidence); break;
      case Evidence::difference: against_cpu(); break;
    }
    return out_;
  }

 private:
  void add(const std::string& line) {
    out_ += line.empty() ? "\n" : std::string(static_cast<std::size_t>(indent_) * 4, ' ') + line + "\n";
  }

  void flat() {
    preparation();
    attempt();
    if (finding_.signature.verdict == Verdict::host_reject || !expected_messages(finding_).empty()) {
      add("shows = " + message_test("result"));
    } else {
      add("shows = result == \"returned\"");
    }
    add("print(f\"{device}: {result}\\nthe bug {'shows' if shows else 'does not show'}\")");
    add("sys.exit(1 if shows else 0)");
  }

  // Imports, tensors, and a way out where they cannot be made.
  void preparation() {
    add("try:");
    ++indent_;
    add("if device.startswith(\"vcuda\"):");
    add("    import dsafuzz_vcuda");
    own_libraries();
    add_tensors();
    if (tensors_.empty()) add("torch.empty(0, device=device)");
    --indent_;
    add("except Exception as error:");
    add("    print(f\"cannot run on {device}: {' '.join(str(error).split())}\")");
    add("    sys.exit(125)");
  }

  void attempt() {
    add("try:");
    ++indent_;
    add_steps();
    add("result = \"returned\"");
    --indent_;
    add("except Exception as error:");
    add("    result = f\"{type(error).__name__}: {error}\".splitlines()[0]");
  }

  std::string message_test(const std::string& variable) const {
    const std::vector<std::string> expected = expected_messages(finding_);
    if (expected.size() == 1) return python_string(expected[0]) + " in " + variable;
    std::vector<std::string> parts;
    for (const std::string& text : expected) parts.push_back(python_string(text));
    return parts.empty() ? "False" : "any(text in " + variable + " for text in (" + joined(parts) + "))";
  }

  // The parent starts this file again and judges how the child ends.
  void in_child(Evidence evidence) {
    const bool hang = evidence == Evidence::timeout;
    add("if \"--child\" not in sys.argv:");
    ++indent_;
    add("command = [sys.executable, __file__, device, \"--child\"]");
    add("try:");
    add("    child = subprocess.run(command, capture_output=True, text=True, errors=\"replace\", timeout=60)");
    add("    result = (child.stdout + child.stderr).strip()");
    add("    if child.returncode == 125:");
    add("        print(result)");
    add("        sys.exit(125)");
    if (hang) {
      add("    shows = False");
    } else if (expected_messages(finding_).empty()) {
      add("    shows = child.returncode not in (0, 1)");
    } else {
      add("    shows = " + message_test("result"));
    }
    add("    print(f\"{device}: exit code {child.returncode}: {result.splitlines()[0] if result else ''}\")");
    add("except subprocess.TimeoutExpired:");
    add(std::string("    shows = ") + (hang ? "True" : "False"));
    add("    print(f\"{device}: no end within 60 s\")");
    add("print(\"the bug shows\" if shows else \"the bug does not show\")");
    add("sys.exit(1 if shows else 0)");
    --indent_;
    add("");
    preparation();
    attempt();
    add("print(result)");
  }

  void against_cpu() {
    add("");
    add("def run(device):");
    ++indent_;
    add_tensors();
    add_steps();
    const std::string last = backward_result(case_);
    add("return " + (last.empty() ? "torch.zeros(0)" : names_[last]) + ".detach().cpu().double()");
    --indent_;
    add("");
    add("try:");
    ++indent_;
    add("if device.startswith(\"vcuda\"):");
    add("    import dsafuzz_vcuda");
    own_libraries();
    add("torch.empty(0, device=device)");
    --indent_;
    add("except Exception as error:");
    add("    print(f\"cannot run on {device}: {' '.join(str(error).split())}\")");
    add("    sys.exit(125)");
    add("try:");
    add("    shows = not torch.allclose(run(device), run(\"cpu\"), rtol=1e-3, atol=1e-3, equal_nan=True)");
    add("    print(f\"{device}: {'differs from' if shows else 'agrees with'} the CPU\")");
    add("except Exception as error:");
    add("    shows = False");
    add("    print(f\"{device}: {type(error).__name__}: {error}\".splitlines()[0])");
    add("print(\"the bug shows\" if shows else \"the bug does not show\")");
    add("sys.exit(1 if shows else 0)");
  }

  void own_libraries() {
    if (!uses_own_operators(case_)) return;
    add("for library in filter(None, os.environ.get(\"DSAFUZZ_OPS_LIBRARY\", \"\").split(os.pathsep)):");
    add("    torch.ops.load_library(library)");
    // Looked up here, so that a missing library is "cannot run" and not a bug that does not show.
    for (const Step& step : case_.steps) {
      if (step.op.starts_with("dsafuzz::")) add(operator_name(step));
    }
  }

  // --- tensors -------------------------------------------------------------------------------------------------

  void add_tensors() {
    tensors_ = plan_tensors(case_);
    for (const TensorPlan& plan : tensors_) add_tensor(plan, names_[plan.name] = identifiers_.make(plan.name));
  }

  void add_tensor(const TensorPlan& plan, const std::string& name) {
    // dtypes that torch infers by itself are left out.
    std::string dtype = ", dtype=" + torch_dtype(plan.dtype);
    if (plan.dtype == Dtype::float32) dtype.clear();
    std::string value, reshape;
    bool host_only = false;
    switch (plan.kind) {
      case TensorPlan::Kind::constant:
        if (as_double(plan.constant) == 0 && !std::signbit(as_double(plan.constant))) {
          value = "torch.zeros(" + sizes(plan.shape);
        } else {
          value = "torch.full(" + (plan.shape.size() == 1 ? "(" + sizes(plan.shape) + ",)" : sizes(plan.shape)) + ", " +
                  number(plan.constant, plan.dtype);
        }
        break;
      case TensorPlan::Kind::arange:
        value = "torch.arange(" + std::to_string(element_count(plan.shape));
        dtype = plan.dtype == Dtype::int64 ? "" : ", dtype=" + torch_dtype(plan.dtype);
        reshape = plan.shape.size() == 1 ? "" : ".reshape" + tuple(plan.shape);
        break;
      case TensorPlan::Kind::literal: {
        const std::string list = literal_list(plan, indent_);
        value = "torch.tensor(" + list;
        // Booleans and whole numbers are recognised; so are floats.
        if (plan.dtype == Dtype::int64 || plan.dtype == Dtype::boolean) dtype.clear();
        if (list.contains('\n') && plan.shape.size() != 1) reshape = ".reshape" + tuple(plan.shape);
        break;
      }
      case TensorPlan::Kind::random:
        add("# Too large to write out: drawn here, so these are not the very numbers of the case.");
        add("torch.manual_seed(" + std::to_string(case_.seed) + ")");
        value = random_call(plan.fill, plan.shape);
        host_only = true;
        break;
    }
    const bool plain = plan.layout == Layout::contiguous && plan.set.empty() && !host_only;
    const std::string place = plan.device == 0 ? "device" : other_device(plan.device);
    if (plain) {
      add(name + " = " + value + dtype + ", device=" + place + ")" + reshape + grad(plan));
      return;
    }
    add(name + " = " + value + (host_only ? ").to(" + torch_dtype(plan.dtype) : dtype) + ")" + reshape);
    for (const auto& [index, n] : plan.set) {
      add(name + "[" + index_text(index, plan.shape) + "] = " + number(n, plan.dtype));
    }
    switch (plan.layout) {
      case Layout::contiguous: add(name + " = " + name + ".to(" + place + ")" + grad(plan)); break;
      case Layout::transposed:
        add("# The last two axes are stored swapped.");
        add(name + " = " + name + ".transpose(-1, -2).contiguous().to(" + place + ").transpose(-1, -2)" + grad(plan));
        break;
      case Layout::expanded:
        add("# The first axis has stride 0.");
        add(name + " = " + name + "[:1].contiguous().to(" + place + ").expand" + tuple(plan.shape) + grad(plan));
        break;
      case Layout::offset:
        add("# Starts one element into its storage.");
        add(name + " = torch.cat([" + name + ".new_zeros(1), " + name + ".flatten()]).to(" + place + ")[1:].view" +
            (plan.shape.empty() ? "(())" : tuple(plan.shape)) + grad(plan));
        break;
    }
  }

  static std::string grad(const TensorPlan& plan) { return plan.needs_grad ? ".requires_grad_()" : ""; }

  static std::string other_device(int offset) {
    return "torch.device(device.split(\":\")[0], (torch.device(device).index or 0) + " + std::to_string(offset) + ")";
  }

  // --- steps ---------------------------------------------------------------------------------------------------

  std::string value_text(const Value& value, const std::string& argument) {
    struct Visitor {
      PythonEmitter& emitter;
      const std::string& argument;
      std::string operator()(std::monostate) const { return argument == "reduction" ? "0" : "None"; }
      std::string operator()(bool v) const { return v ? "True" : "False"; }
      std::string operator()(std::int64_t v) const { return std::to_string(v); }
      std::string operator()(double v) const { return number(v, Dtype::float64); }
      std::string operator()(const std::string& v) const { return python_string(v); }
      std::string operator()(const Name& v) const { return emitter.word(v.text, argument); }
      std::string operator()(const List& list) const {
        std::vector<std::string> parts;
        for (const Value& item : list) parts.push_back(emitter.value_text(item, argument));
        return "[" + joined(parts) + "]";
      }
    };
    return std::visit(Visitor{*this, argument}, value.v);
  }

  std::string word(const std::string& text, const std::string& argument) {
    if (const auto known = names_.find(text); known != names_.end()) return known->second;
    if (const auto size = case_.shapes.find(text); size != case_.shapes.end()) return std::to_string(size->second);
    if (argument == "reduction") {
      if (text == "none") return "0";
      if (text == "mean") return "1";
      if (text == "sum") return "2";
    }
    if (text == "device") return "device";
    if (const auto dtype = parse_dtype(text)) return torch_dtype(*dtype);
    return python_string(text);
  }

  // aten::sum.dim_IntList is torch.ops.aten.sum.dim_IntList; anything that is no identifier is reached by getattr.
  std::string operator_name(const Step& step) {
    const std::size_t colons = step.op.find("::");
    std::string out = "torch.ops." + step.op.substr(0, colons);
    std::string name = step.op.substr(colons + 2);
    while (!name.empty()) {
      const std::size_t dot = name.find('.');
      const std::string part = name.substr(0, dot);
      const bool plain = Identifiers(Identifiers::Language::python).make(part) == part || part == "set" ||
                         part == "float" || part == "int" || part == "abs" || part == "str" || part == "type";
      out = plain ? out + "." + part : "getattr(" + out + ", " + python_string(part) + ")";
      name = dot == std::string::npos ? "" : name.substr(dot + 1);
    }
    return out;
  }

  std::string call(const Step& step) {
    std::vector<std::string> arguments;
    for (const Argument& a : step.arguments) {
      arguments.push_back((a.name.empty() ? "" : a.name + "=") + value_text(a.value, a.name));
    }
    if (step.op.starts_with("module:")) {
      return "torch.jit.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), " +
             python_string(step.op.substr(7)) + "), map_location=device)(" + joined(arguments) + ")";
    }
    return operator_name(step) + "(" + joined(arguments) + ")";
  }

  void add_steps() {
    std::string autocast;
    if (case_.precision == Precision::autocast_float16) autocast = "torch.float16";
    if (case_.precision == Precision::autocast_bfloat16) autocast = "torch.bfloat16";
    if (!autocast.empty()) {
      add("with torch.autocast(device.split(\":\")[0], dtype=" + autocast + "):");
      ++indent_;
    }
    for (const Step& step : case_.steps) {
      const std::string right = call(step);
      std::vector<std::string> left;
      for (const std::string& result : step.results) {
        auto known = names_.find(result);
        if (known == names_.end()) known = names_.emplace(result, identifiers_.make(result)).first;
        left.push_back(known->second);
      }
      add((left.empty() ? "" : joined(left) + " = ") + right);
    }
    if (!autocast.empty()) --indent_;
    const std::string last = backward_result(case_);
    if (case_.phase == Phase::backward && !last.empty()) add(names_[last] + ".sum().backward()");
    add("if device != \"cpu\":");
    add("    getattr(torch, device.split(\":\")[0]).synchronize(device)");
  }

  const Finding& finding_;
  const Case& case_;
  std::string out_;
  int indent_ = 0;
  Identifiers identifiers_{Identifiers::Language::python};
  std::map<std::string, std::string> names_;  // of tensors and results
  std::vector<TensorPlan> tensors_;
};

}  // namespace

std::string emit_python(const Finding& finding) { return PythonEmitter(finding).text(); }

}  // namespace dsafuzz
