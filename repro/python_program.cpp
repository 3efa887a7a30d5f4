// The lines of a Python program that a case becomes: its tensors, its steps, and the wait for the device.
#include "repro/python_program.h"

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "repro/api_name.h"
#include "repro/emit_plan.h"
#include "repro/escape.h"
#include "repro/python_literal.h"

namespace dsafuzz {
namespace {

using namespace python;

class ProgramWriter {
 public:
  ProgramWriter(const Case& c, Unused unused, Calls calls) : case_(c), calls_(calls) {
    if (unused == Unused::bound) return;
    drops_unused_ = true;
    for (const Step& step : case_.steps) {
      for (const Argument& argument : step.arguments) note_names(argument.value);
    }
    if (unused == Unused::dropped_but_result || case_.phase == Phase::backward) used_.insert(backward_result(case_));
  }

  PythonProgram program() {
    PythonProgram out;
    add_tensors();
    out.tensors = std::exchange(lines_, {});
    add_steps();
    out.steps = std::exchange(lines_, {});
    out.wait = {"if device != \"cpu\":", "    getattr(torch, device.split(\":\")[0]).synchronize(device)"};
    const std::string last = backward_result(case_);
    out.result = last.empty() ? "" : names_[last];
    return out;
  }

 private:
  void add(const std::string& line) {
    lines_.push_back(std::string(static_cast<std::size_t>(indent_) * 4, ' ') + line);
  }

  void note_names(const Value& value) {
    if (const auto* name = std::get_if<Name>(&value.v)) used_.insert(name->text);
    if (const auto* list = std::get_if<List>(&value.v)) {
      for (const Value& item : *list) note_names(item);
    }
  }
  bool is_bound(const std::string& name) const { return !drops_unused_ || used_.contains(name); }

  // --- tensors -------------------------------------------------------------------------------------------------

  void add_tensors() {
    for (const TensorPlan& plan : plan_tensors(case_))
      add_tensor(plan, names_[plan.name] = identifiers_.make(plan.name));
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
      add((is_bound(plan.name) ? name + " = " : "") + value + dtype + ", device=" + place + ")" + reshape + grad(plan));
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
      ProgramWriter& writer;
      const std::string& argument;
      std::string operator()(std::monostate) const { return argument == "reduction" ? "0" : "None"; }
      std::string operator()(bool v) const { return v ? "True" : "False"; }
      std::string operator()(std::int64_t v) const { return std::to_string(v); }
      std::string operator()(double v) const { return number(v, Dtype::float64); }
      std::string operator()(const std::string& v) const { return python_string(v); }
      std::string operator()(const Name& v) const { return writer.word(v.text, argument); }
      std::string operator()(const List& list) const {
        std::vector<std::string> parts;
        for (const Value& item : list) parts.push_back(writer.value_text(item, argument));
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

  std::string call(const Step& step) {
    const auto text = [this](const Value& value, const std::string& parameter) { return value_text(value, parameter); };
    if (calls_ == Calls::of_users) {
      if (const auto api = python_api_call(case_, step, text)) return *api;
    }
    std::vector<std::string> arguments;
    for (const Argument& a : step.arguments) {
      arguments.push_back((a.name.empty() ? "" : a.name + "=") + value_text(a.value, a.name));
    }
    if (step.op.starts_with("module:")) {
      return "torch.jit.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), " +
             python_string(step.op.substr(7)) + "), map_location=device)(" + joined(arguments) + ")";
    }
    return python_operator(step) + "(" + joined(arguments) + ")";
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
      // Of several results all are named, so that what is unpacked is what the operator returns.
      const bool drop = step.results.size() == 1 && !is_bound(step.results[0]);
      for (const std::string& result : step.results) {
        if (drop) continue;
        auto known = names_.find(result);
        if (known == names_.end()) known = names_.emplace(result, identifiers_.make(result)).first;
        left.push_back(known->second);
      }
      add((left.empty() ? "" : joined(left) + " = ") + right);
    }
    if (!autocast.empty()) --indent_;
    const std::string last = backward_result(case_);
    if (case_.phase == Phase::backward && !last.empty()) add(names_[last] + ".sum().backward()");
  }

  const Case& case_;
  const Calls calls_;
  std::vector<std::string> lines_;
  int indent_ = 0;
  Identifiers identifiers_{Identifiers::Language::python};
  std::map<std::string, std::string> names_;  // of tensors and results
  std::set<std::string> used_;                // by steps, as the case names them; kept only where the rest is dropped
  bool drops_unused_ = false;
};

}  // namespace

std::string python_operator(const Step& step) {
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

PythonProgram python_program(const Case& c, Unused unused, Calls calls) {
  return ProgramWriter(c, unused, calls).program();
}

}  // namespace dsafuzz
