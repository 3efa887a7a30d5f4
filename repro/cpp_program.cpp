#include "repro/cpp_program.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "repro/api_name.h"
#include "repro/cpp_frame.h"
#include "repro/emit_plan.h"
#include "repro/escape.h"
#include "repro/step_argument.h"

namespace dsafuzz {
namespace {

std::string scalar_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::float32: return "at::kFloat";
    case Dtype::int64: return "at::kLong";
    case Dtype::float64: return "at::kDouble";
    case Dtype::float16: return "at::kHalf";
    case Dtype::bfloat16: return "at::kBFloat16";
    case Dtype::int32: return "at::kInt";
    case Dtype::int16: return "at::kShort";
    case Dtype::int8: return "at::kChar";
    case Dtype::uint8: return "at::kByte";
    case Dtype::boolean: return "at::kBool";
  }
  std::unreachable();
}

std::string integer_text(std::int64_t v) {
  if (v == INT64_MIN) return "INT64_MIN";  // its positive half is no literal
  return std::to_string(v);
}

std::string real_text(double v) {
  if (std::isnan(v)) return "NAN";
  if (std::isinf(v)) return v < 0 ? "-INFINITY" : "INFINITY";
  return decimal(v);
}

std::string number(const Number& n, Dtype dtype) {
  if (is_floating(dtype)) return real_text(as_double(n));
  if (const auto* integer = std::get_if<std::int64_t>(&n)) return integer_text(*integer);
  return real_text(std::get<double>(n));
}

std::string sizes(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> parts;
  for (const std::int64_t size : shape) parts.push_back(std::to_string(size));
  return "{" + joined(parts) + "}";
}

class ProgramWriter {
 public:
  explicit ProgramWriter(const Case& c) : case_(c) {}

  CppProgram program() {
    add_reproduce();
    set_formatted(true);
    return {.text = std::move(out_), .calls_by_name = calls_by_name_};
  }

 private:
  // Lines that are wider than the formatter's are kept from it: broken up they would read worse.
  void add(const std::string& line) {
    const std::size_t indent = static_cast<std::size_t>(indent_) * 2;
    set_formatted(indent + line.size() <= kCppWidth && !line.contains('\n'));
    out_ += line.empty() ? "\n" : std::string(indent, ' ') + line + "\n";
  }

  void set_formatted(bool formatted) {
    if (formatted == formatted_) return;
    formatted_ = formatted;
    out_ += std::string(static_cast<std::size_t>(indent_) * 2, ' ') + "// clang-format " + (formatted ? "on" : "off") +
            "\n";
  }

  void add_reproduce() {
    add("static at::Tensor reproduce(at::Device device) {");
    ++indent_;
    for (const TensorPlan& plan : plan_tensors(case_)) add_tensor(plan);
    add_steps();
    set_formatted(true);
    --indent_;
    add("}");
  }

  void add_tensor(const TensorPlan& plan) {
    const std::string name = names_[plan.name] = identifiers_.make(plan.name);
    const std::string type = scalar_type(plan.dtype);
    std::string value;
    bool typed = true;
    switch (plan.kind) {
      case TensorPlan::Kind::constant:
        value = as_double(plan.constant) == 0 && !std::signbit(as_double(plan.constant))
                    ? "at::zeros(" + sizes(plan.shape) + ", " + type + ")"
                    : "at::full(" + sizes(plan.shape) + ", " + number(plan.constant, plan.dtype) + ", " + type + ")";
        if (plan.constant.index() == 0 && !is_floating(plan.dtype)) {
          const std::string cast = "std::int64_t{" + number(plan.constant, plan.dtype) + "}";
          if (!value.starts_with("at::zeros"))
            value = "at::full(" + sizes(plan.shape) + ", " + cast + ", " + type + ")";
        }
        break;
      case TensorPlan::Kind::arange:
        value = "at::arange(" + std::to_string(element_count(plan.shape)) + ", " + type + ").reshape(" +
                sizes(plan.shape) + ")";
        break;
      case TensorPlan::Kind::literal: {
        const bool real = is_floating(plan.dtype);
        value = std::string("at::tensor(std::vector<") + (real ? "double" : "std::int64_t") + ">{" + list(plan) + "})";
        if (plan.shape.size() != 1) value += ".reshape(" + sizes(plan.shape) + ")";
        typed = plan.dtype == Dtype::float64 || plan.dtype == Dtype::int64;
        break;
      }
      case TensorPlan::Kind::random:
        add("// Too large to write out: drawn here, so these are not the very numbers of the case.");
        add("at::manual_seed(" + std::to_string(case_.seed) + ");");
        value = random_call(plan) + ".to(" + type + ")";
        break;
    }
    if (!typed) value += ".to(" + type + ")";
    std::string place = "device";
    if (plan.device != 0) {
      place = "at::Device(device.type(), device.is_cpu() ? -1 : (device.has_index() ? device.index() : 0) + " +
              std::to_string(plan.device) + ")";
    }
    const std::string to = ".to(" + place + ")";
    const bool plain = plan.layout == Layout::contiguous && plan.set.empty();
    add("at::Tensor " + name + " = " + value + (plain ? to : "") + ";");
    for (const auto& [index, n] : plan.set) {
      add(name + ".view(-1)[" + std::to_string(index) + "].fill_(" + scalar(n, plan.dtype) + ");");
    }
    switch (plan.layout) {
      case Layout::contiguous:
        if (!plain) add(name + " = " + name + to + ";");
        break;
      case Layout::transposed:
        add("// The last two axes are stored swapped.");
        add(name + " = " + name + ".transpose(-1, -2).contiguous()" + to + ".transpose(-1, -2);");
        break;
      case Layout::expanded:
        add("// The first axis has stride 0.");
        add(name + " = " + name + ".narrow(0, 0, 1).contiguous()" + to + ".expand(" + sizes(plan.shape) + ");");
        break;
      case Layout::offset:
        add("// Starts one element into its storage.");
        add(name + " = at::cat({at::zeros({1}, " + type + "), " + name + ".flatten()})" + to + ".narrow(0, 1, " +
            std::to_string(element_count(plan.shape)) + ").view(" + sizes(plan.shape) + ");");
        break;
    }
    if (plan.needs_grad) add(name + ".set_requires_grad(true);");
  }

  static std::string scalar(const Number& n, Dtype dtype) {
    return is_floating(dtype) ? number(n, dtype) : "std::int64_t{" + number(n, dtype) + "}";
  }

  std::string list(const TensorPlan& plan) const {
    std::vector<std::string> parts;
    for (const Number& n : plan.literal) parts.push_back(number(n, plan.dtype));
    return wrapped(parts, static_cast<std::size_t>(indent_) * 2 + 4);
  }

  static std::string random_call(const TensorPlan& plan) {
    const std::string shape = sizes(plan.shape);
    switch (plan.fill.kind) {
      case Fill::Kind::uniform:
        return "at::empty(" + shape + ").uniform_(" + decimal(plan.fill.low) + ", " + decimal(plan.fill.high) + ")";
      case Fill::Kind::randint:
        return "at::randint(" + plan.fill.from.text + ", " + plan.fill.to.text + ", " + shape + ")";
      case Fill::Kind::randn:
      case Fill::Kind::constant:
      case Fill::Kind::arange:
      case Fill::Kind::literal: return "at::randn(" + shape + ")";
    }
    std::unreachable();
  }

  std::string value_text(const Value& value, const std::string& argument) {
    if (std::holds_alternative<std::monostate>(value.v)) return argument == "reduction" ? integer(0) : "at::IValue()";
    if (const auto* flag = std::get_if<bool>(&value.v)) return *flag ? "true" : "false";
    if (const auto* i = std::get_if<std::int64_t>(&value.v)) return integer(*i);
    if (const auto* d = std::get_if<double>(&value.v)) return real_text(*d);
    if (const auto* text = std::get_if<std::string>(&value.v)) return cpp_string(*text);
    if (const auto* name = std::get_if<Name>(&value.v)) return word(name->text, argument);
    return list_text(std::get<List>(value.v), argument);
  }

  static std::string integer(std::int64_t v) { return integer_text(v); }

  // Lists of one sort are typed by their first element; `none` among tensors is an optional one.
  std::string list_text(const List& values, const std::string& argument) {
    // Operators that index take optional tensors always.
    bool tensors = !values.empty(), optional = base_.contains("index"), reals = false;
    for (const Value& v : values) {
      const auto* name = std::get_if<Name>(&v.v);
      const bool none = std::holds_alternative<std::monostate>(v.v);
      tensors = tensors && (none || (name && names_.contains(name->text)));
      optional = optional || none;
      reals = reals || std::holds_alternative<double>(v.v);
    }
    std::vector<std::string> parts;
    for (const Value& v : values) {
      if (tensors) {
        const auto* name = std::get_if<Name>(&v.v);
        parts.push_back(name ? word(name->text, argument) : "std::nullopt");
      } else {
        parts.push_back(value_text(v, argument));
      }
    }
    const std::string element = tensors ? (optional ? "std::optional<at::Tensor>" : "at::Tensor")
                                : reals ? "double"
                                        : "std::int64_t";
    return "c10::List<" + element + ">({" + joined(parts) + "})";
  }

  std::string word(const std::string& text, const std::string& argument) {
    if (const auto known = names_.find(text); known != names_.end()) return known->second;
    if (const auto size = case_.shapes.find(text); size != case_.shapes.end()) return integer(size->second);
    if (argument == "reduction") {
      if (text == "none") return integer(0);
      if (text == "mean") return integer(1);
      if (text == "sum") return integer(2);
    }
    if (text == "device") return "device";
    if (const auto dtype = parse_dtype(text)) return "std::int64_t(" + scalar_type(*dtype) + ")";
    return cpp_string(text);
  }

  void add_steps() {
    const bool autocast =
        case_.precision == Precision::autocast_float16 || case_.precision == Precision::autocast_bfloat16;
    if (case_.phase == Phase::forward) add("const at::NoGradGuard no_grad;");
    if (autocast) {
      add(std::string("at::autocast::set_autocast_dtype(device.type(), ") +
          (case_.precision == Precision::autocast_float16 ? "at::kHalf" : "at::kBFloat16") + ");");
      add("at::autocast::set_autocast_enabled(device.type(), true);");
    }
    for (const Step& step : case_.steps) add_step(step);
    if (autocast) add("at::autocast::set_autocast_enabled(device.type(), false);");
    const std::string last = backward_result(case_);
    if (case_.phase == Phase::backward && !last.empty()) add(names_[last] + ".sum().backward();");
    add("if (!device.is_cpu()) {");
    add("  const c10::impl::VirtualGuardImpl guard(device.type());");
    add("  guard.synchronizeDevice(device.has_index() ? device.index() : guard.getDevice().index());");
    add("}");
    add("return " + (last.empty() ? "at::Tensor()" : names_[last]) + ";");
  }

  // A value as an argument of an `at::` function, where braces and enumerations are understood.
  std::string typed_text(const Value& value, const std::string& parameter) {
    if (parameter == "reduction") {
      std::string word = "None";
      if (const auto* name = std::get_if<Name>(&value.v)) word = name->text;
      if (const auto* number = std::get_if<std::int64_t>(&value.v)) return std::to_string(*number);
      if (word == "mean") return "at::Reduction::Mean";
      if (word == "sum") return "at::Reduction::Sum";
      return "at::Reduction::None";
    }
    if (std::holds_alternative<std::monostate>(value.v)) return "{}";
    if (const auto* name = std::get_if<Name>(&value.v); name && !names_.contains(name->text)) {
      if (const auto dtype = parse_dtype(name->text); dtype && !case_.shapes.contains(name->text)) {
        return scalar_type(*dtype);
      }
    }
    const auto* list = std::get_if<List>(&value.v);
    if (!list) return value_text(value, parameter);
    std::vector<std::string> parts;
    for (const Value& item : *list) parts.push_back(typed_text(item, parameter));
    return "{" + joined(parts) + "}";
  }

  std::string named_call(const Step& step) {
    base_ = base_name(step.op);
    std::vector<std::string> positional, named;
    for (const Argument& a : step.arguments) {
      const std::string text = value_text(a.value, a.name);
      if (a.name.empty()) {
        positional.push_back(text);
      } else {
        named.push_back("{" + cpp_string(a.name) + ", " + text + "}");
      }
    }
    if (step.op.starts_with("module:")) {
      return "std::vector<at::IValue>{torch::jit::load(" + cpp_string(step.op.substr(7)) + ", device).forward({" +
             joined(positional) + "})}";
    }
    calls_by_name_ = true;
    const std::size_t dot = step.op.find('.');
    return "call(" + cpp_string(step.op.substr(0, dot)) + ", " +
           cpp_string(dot == std::string::npos ? "" : step.op.substr(dot + 1)) + ", {" + joined(positional) + "}" +
           (named.empty() ? "" : ", {" + joined(named) + "}") + ")";
  }

  void add_step(const Step& step) {
    const auto text = [this](const Value& value, const std::string& parameter) { return typed_text(value, parameter); };
    const auto api = cpp_api_call(case_, step, text);
    const bool tuple = api && find_api_name(step.op)->returns > 1;
    const std::string right = api ? *api : named_call(step);
    const auto part = [&](const std::string& of, std::size_t i) {
      if (tuple) return "std::get<" + std::to_string(i) + ">(" + of + ")";
      return api ? of : of + "[" + std::to_string(i) + "].toTensor()";
    };
    if (step.results.empty()) {
      add(right + ";");
      return;
    }
    if (step.results.size() == 1) {
      add(declaration(step.results[0]) + part(right, 0) + ";");
      return;
    }
    const std::string all = identifiers_.make(step.results[0] + "_and_more");
    add("const auto " + all + " = " + right + ";");
    for (std::size_t i = 0; i < step.results.size(); ++i) add(declaration(step.results[i]) + part(all, i) + ";");
  }

  std::string declaration(const std::string& result) {
    if (const auto known = names_.find(result); known != names_.end()) return known->second + " = ";
    return "at::Tensor " + (names_[result] = identifiers_.make(result)) + " = ";
  }

  const Case& case_;
  bool formatted_ = true, calls_by_name_ = false;
  std::string_view base_;  // of the step being written
  std::string out_;
  int indent_ = 0;
  Identifiers identifiers_{Identifiers::Language::cpp};
  std::map<std::string, std::string> names_;  // of tensors and results
};

}  // namespace

CppProgram cpp_program(const Case& c) { return ProgramWriter(c).program(); }

}  // namespace dsafuzz
