// The grammar of one step: [RESULT {, RESULT} =] OPERATOR ( [ARGUMENT {, ARGUMENT}] ); see case_text.h.
#include <charconv>
#include <cmath>
#include <optional>

#include "repro/case_text.h"
#include "repro/yaml_document.h"

namespace dsafuzz {
namespace {

class StepParser {
 public:
  explicit StepParser(std::string_view text) : text_(text) {}

  Result<Step> parse() {
    if (text_.size() > 65536)
      return input_problem("a step of " + std::to_string(text_.size()) + " characters is too long");
    Step step;
    const std::size_t equals = find_assignment();
    if (equals != std::string_view::npos) {
      do {
        std::string name = word();
        if (name.empty()) return bad("expected the name of a result");
        step.results.push_back(std::move(name));
      } while (take(','));
      if (!take('=')) return bad("expected '='");
    }
    step.op = operator_name();
    if (step.op.empty()) return bad("expected an operator");
    if (!take('(')) return bad("expected '(' after the operator");
    if (!take(')')) {
      do {
        step.arguments.push_back(DSAFUZZ_TRY(argument()));
      } while (take(','));
      if (!take(')')) return bad("expected ',' or ')'");
    }
    skip();
    if (at_ != text_.size()) return bad("unexpected text after ')'");
    return step;
  }

 private:
  // The '=' of the assignment stands before the first '('.
  std::size_t find_assignment() const {
    const std::size_t open = text_.find('('), equals = text_.find('=');
    return equals < open ? equals : std::string_view::npos;
  }

  Result<Argument> argument() {
    const std::size_t begin = at_;
    Argument out;
    std::string name = word();
    if (!name.empty() && take('=')) {
      out.name = std::move(name);
    } else {
      at_ = begin;
    }
    out.value = DSAFUZZ_TRY(value(0));
    return out;
  }

  Result<Value> value(int depth) {
    if (depth > 8) return bad("lists are nested too deeply");
    skip();
    if (take('[')) {
      List list;
      if (!take(']')) {
        do {
          list.push_back(DSAFUZZ_TRY(value(depth + 1)));
        } while (take(','));
        if (!take(']')) return bad("expected ',' or ']'");
      }
      return Value{std::move(list)};
    }
    if (take('"')) return quoted();
    const std::size_t begin = at_;
    while (at_ < text_.size() && !std::string_view(",()[]= \"").contains(text_[at_])) ++at_;
    const std::string_view piece = text_.substr(begin, at_ - begin);
    if (piece.empty()) return bad("expected a value");
    if (piece == "none") return Value{};
    if (piece == "true") return Value{true};
    if (piece == "false") return Value{false};
    if (const auto number = parse_number(piece)) {
      return std::visit([](auto n) { return Value{n}; }, *number);
    }
    at_ = begin;
    std::string name = word();
    if (name.size() != piece.size()) {
      at_ = begin;
      return bad("'" + std::string(piece) + "' is not a value");
    }
    return Value{Name{std::move(name)}};
  }

  Result<Value> quoted() {
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_++];
    }
    if (!take('"')) return bad("a quoted text does not end");
    return Value{std::move(out)};
  }

  std::string word() {
    skip();
    std::string out;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' || text_[at_] == '.')) {
      if (out.empty() && (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.')) break;
      out += text_[at_++];
    }
    return out;
  }

  std::string operator_name() {
    skip();
    std::string out;
    while (at_ < text_.size() && text_[at_] != '(' && text_[at_] != ' ') out += text_[at_++];
    return out;
  }

  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::unexpected<Problem> bad(const std::string& why) const {
    return input_problem(why + " at '" + std::string(text_.substr(at_, 24)) + "'", "col " + std::to_string(at_ + 1),
                         "a step is written: result = aten::operator(tensor, name=value)");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

Result<Step> parse_step(std::string_view text) { return StepParser(text).parse(); }

std::string to_text(const Number& number) {
  char buffer[32];
  if (const auto* integer = std::get_if<std::int64_t>(&number)) {
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, *integer).ptr);
  }
  const double value = std::get<double>(number);
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value < 0 ? "-.inf" : ".inf";
  std::string out(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string to_text(const Value& value) {
  struct Writer {
    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return to_text(Number{i}); }
    std::string operator()(double d) const { return to_text(Number{d}); }
    std::string operator()(const std::string& text) const { return quoted(text); }
    std::string operator()(const Name& name) const { return name.text; }
    std::string operator()(const List& list) const {
      std::string out = "[";
      for (const Value& item : list) out += (out.size() > 1 ? ", " : "") + to_text(item);
      return out + "]";
    }
  };
  return std::visit(Writer{}, value.v);
}

std::string to_text(const Step& step) {
  std::string out;
  for (const std::string& result : step.results) out += (out.empty() ? "" : ", ") + result;
  if (!out.empty()) out += " = ";
  out += step.op + "(";
  bool first = true;
  for (const Argument& a : step.arguments) {
    if (!first) out += ", ";
    first = false;
    if (!a.name.empty()) out += a.name + "=";
    out += to_text(a.value);
  }
  return out + ")";
}

}  // namespace dsafuzz
