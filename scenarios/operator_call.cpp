#include "scenarios/operator_call.h"

#include <algorithm>
#include <unordered_map>

#include "repro/case_text.h"

namespace dsafuzz {
namespace {

class Binder {
 public:
  Binder(const Step& step, const Values& values, const Shapes& shapes, c10::Device device)
      : step_(step), values_(values), shapes_(shapes), device_(device) {}

  Result<std::vector<c10::IValue>> bind(const c10::FunctionSchema& schema) const {
    const auto& arguments = schema.arguments();
    std::vector<const Value*> given(arguments.size(), nullptr);
    std::size_t position = 0;
    for (const Argument& a : step_.arguments) {
      std::size_t index = position;
      if (a.name.empty()) {
        ++position;
        if (index >= arguments.size() || arguments[index].kwarg_only()) {
          return bad("'" + step_.op + "' takes fewer arguments by position", "its schema: " + to_string(schema));
        }
      } else {
        const auto found = std::ranges::find(arguments, a.name, [](const c10::Argument& x) { return x.name(); });
        if (found == arguments.end())
          return bad("'" + step_.op + "' has no argument '" + a.name + "'", "its schema: " + to_string(schema));
        index = static_cast<std::size_t>(found - arguments.begin());
      }
      if (given[index]) return bad("'" + step_.op + "' is given '" + arguments[index].name() + "' twice");
      given[index] = &a.value;
    }
    std::vector<c10::IValue> stack;
    stack.reserve(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (given[i]) {
        stack.push_back(
            DSAFUZZ_TRY(convert(*given[i], arguments[i].type(), arguments[i].real_type(), arguments[i].name())));
      } else if (arguments[i].default_value()) {
        stack.push_back(*arguments[i].default_value());
      } else if (arguments[i].type()->kind() == c10::TypeKind::OptionalType) {
        stack.emplace_back();
      } else {
        return bad("'" + step_.op + "' needs '" + arguments[i].name() + "'", "its schema: " + to_string(schema));
      }
    }
    return stack;
  }

 private:
  static std::string to_string(const c10::FunctionSchema& schema) {
    std::ostringstream out;
    out << schema;
    return out.str();
  }
  static std::unexpected<Problem> bad(std::string what, std::string remedy = {}) {
    return input_problem(std::move(what), {}, std::move(remedy));
  }

  Result<c10::IValue> convert(const Value& value, const c10::TypePtr& type, const c10::TypePtr& real,
                              const std::string& argument) const {
    const auto mismatch = [&] {
      return bad("argument '" + argument + "' of '" + step_.op + "' is " + to_text(value),
                 "its type is " + type->str());
    };
    const auto* name = std::get_if<Name>(&value.v);
    switch (type->kind()) {
      case c10::TypeKind::OptionalType: {
        if (std::holds_alternative<std::monostate>(value.v)) return c10::IValue();
        const auto inner = type->castRaw<c10::OptionalType>()->getElementType();
        const auto inner_real =
            real->kind() == c10::TypeKind::OptionalType ? real->castRaw<c10::OptionalType>()->getElementType() : inner;
        return convert(value, inner, inner_real, argument);
      }
      case c10::TypeKind::TensorType:
        if (name) {
          const auto found = values_.find(name->text);
          if (found != values_.end() && found->second.isTensor()) return found->second;
          return bad("argument '" + argument + "' of '" + step_.op + "': no tensor '" + name->text + "'");
        }
        return mismatch();
      case c10::TypeKind::IntType:
      case c10::TypeKind::SymIntType:
      case c10::TypeKind::ScalarTypeType:
      case c10::TypeKind::LayoutType:
      case c10::TypeKind::MemoryFormatType:
        if (const auto* i = std::get_if<std::int64_t>(&value.v)) return c10::IValue(*i);
        if (const auto* b = std::get_if<bool>(&value.v)) return c10::IValue(static_cast<std::int64_t>(*b));
        if (name) return word_as_integer(name->text, argument);
        // `reduction=none` is a word like mean and sum, though `none` elsewhere is the absent value.
        if (std::holds_alternative<std::monostate>(value.v)) return word_as_integer("none", argument);
        return mismatch();
      case c10::TypeKind::FloatType:
        if (const auto* d = std::get_if<double>(&value.v)) return c10::IValue(*d);
        if (const auto* i = std::get_if<std::int64_t>(&value.v)) return c10::IValue(static_cast<double>(*i));
        return mismatch();
      case c10::TypeKind::BoolType:
        if (const auto* b = std::get_if<bool>(&value.v)) return c10::IValue(*b);
        return mismatch();
      case c10::TypeKind::NumberType:
        if (const auto* d = std::get_if<double>(&value.v)) return c10::IValue(*d);
        if (const auto* i = std::get_if<std::int64_t>(&value.v)) return c10::IValue(*i);
        if (const auto* b = std::get_if<bool>(&value.v)) return c10::IValue(*b);
        if (name) return word_as_integer(name->text, argument);
        return mismatch();
      case c10::TypeKind::StringType:
        if (const auto* text = std::get_if<std::string>(&value.v)) return c10::IValue(*text);
        if (name) return c10::IValue(name->text);
        return mismatch();
      case c10::TypeKind::DeviceObjType:
        if (name && name->text == "device") return c10::IValue(device_);
        return bad("argument '" + argument + "' of '" + step_.op + "' is a device",
                   "write the word device: the run's own");
      case c10::TypeKind::ListType: return convert_list(value, type, argument);
      default:
        return bad("argument '" + argument + "' of '" + step_.op +
                   "' has a type that cases cannot hold: " + type->str());
    }
  }

  Result<c10::IValue> convert_list(const Value& value, const c10::TypePtr& type, const std::string& argument) const {
    const auto element = type->castRaw<c10::ListType>()->getElementType();
    const auto* list = std::get_if<List>(&value.v);
    // A single number for a list of sizes means a list of one, as in Python.
    const List one{value};
    if (!list) list = &one;
    c10::impl::GenericList out(element);
    out.reserve(list->size());
    for (const Value& item : *list) out.push_back(DSAFUZZ_TRY(convert(item, element, element, argument)));
    return c10::IValue(std::move(out));
  }

  Result<c10::IValue> word_as_integer(const std::string& word, const std::string& argument) const {
    if (const auto found = shapes_.find(word); found != shapes_.end()) return c10::IValue(found->second);
    if (argument == "reduction") {
      static constexpr std::array<std::string_view, 3> kReductions{"none", "mean", "sum"};
      const auto found = std::ranges::find(kReductions, word);
      if (found != kReductions.end()) return c10::IValue(static_cast<std::int64_t>(found - kReductions.begin()));
    }
    if (const auto dtype = parse_dtype(word)) return c10::IValue(static_cast<std::int64_t>(to_scalar_type(*dtype)));
    return bad("argument '" + argument + "' of '" + step_.op + "': '" + word + "' is no number here",
               "a number, a shape variable, a dtype, or mean, sum, none for reduction");
  }

  const Step& step_;
  const Values& values_;
  const Shapes& shapes_;
  c10::Device device_;
};

bool writes_out(const c10::FunctionSchema& schema) {
  return std::ranges::any_of(schema.arguments(), [](const c10::Argument& a) { return a.is_out(); });
}

// The names of all overloads by the operator's name without overload, in alphabetical order.
const std::unordered_map<std::string, std::vector<std::string>>& overload_names() {
  static const auto& index = *new auto([] {
    std::unordered_map<std::string, std::vector<std::string>> out;
    for (const c10::OperatorName& op : c10::Dispatcher::singleton().getAllOpNames())
      out[op.name].push_back(op.overload_name);
    for (auto& [name, overloads] : out) std::ranges::sort(overloads);
    return out;
  }());
  return index;
}

// The overloads of an operator by its name without overload; looked up once.
const std::vector<c10::OperatorHandle>& overloads_of(const std::string& name) {
  static auto& cache = *new std::unordered_map<std::string, std::vector<c10::OperatorHandle>>();
  if (const auto found = cache.find(name); found != cache.end()) return found->second;
  std::vector<c10::OperatorHandle> out;
  if (const auto names = overload_names().find(name); names != overload_names().end()) {
    for (const std::string& overload : names->second) {
      const auto handle = c10::Dispatcher::singleton().findSchema({name, overload});
      if (handle && !writes_out(handle->schema())) out.push_back(*handle);
    }
  }
  return cache.emplace(name, std::move(out)).first->second;
}

}  // namespace

void index_operators() { overload_names(); }

Result<OperatorCall> bind_operator(const Step& step, const Values& values, const Shapes& shapes, c10::Device device) {
  const std::size_t colons = step.op.find("::");
  const std::size_t dot = step.op.find('.', colons);
  const Binder binder(step, values, shapes, device);
  if (dot != std::string::npos) {
    const auto handle = c10::Dispatcher::singleton().findSchema({step.op.substr(0, dot), step.op.substr(dot + 1)});
    if (!handle) return input_problem("this LibTorch has no operator '" + step.op + "'");
    return OperatorCall{*handle, DSAFUZZ_TRY(binder.bind(handle->schema()))};
  }
  const auto& overloads = overloads_of(step.op);
  if (overloads.empty()) return input_problem("this LibTorch has no operator '" + step.op + "'");
  std::optional<Problem> first;
  for (const c10::OperatorHandle& handle : overloads) {
    auto stack = binder.bind(handle.schema());
    if (stack) return OperatorCall{handle, std::move(*stack)};
    if (!first) first = stack.error();
  }
  return std::unexpected(*first);
}

c10::ScalarType to_scalar_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::float32: return c10::kFloat;
    case Dtype::int64: return c10::kLong;
    case Dtype::float64: return c10::kDouble;
    case Dtype::float16: return c10::kHalf;
    case Dtype::bfloat16: return c10::kBFloat16;
    case Dtype::int32: return c10::kInt;
    case Dtype::int16: return c10::kShort;
    case Dtype::int8: return c10::kChar;
    case Dtype::uint8: return c10::kByte;
    case Dtype::boolean: return c10::kBool;
  }
  std::unreachable();
}

std::optional<Dtype> to_dtype(c10::ScalarType type) {
  for (const Dtype d : kDtypes) {
    if (to_scalar_type(d) == type) return d;
  }
  return std::nullopt;
}

}  // namespace dsafuzz
