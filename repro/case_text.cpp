#include "repro/case_text.h"

#include "repro/sugar.h"
#include "repro/tensor_text.h"

namespace dsafuzz {
namespace {

// A step as a YAML scalar: plain where YAML reads it back unchanged, else double quoted.
std::string step_scalar(const Step& step) {
  const std::string text = to_text(step);
  bool plain = text.find(": ") == std::string::npos && text.find(" #") == std::string::npos;
  for (const char c : text) plain = plain && static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
  if (plain) return text;
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

std::string to_yaml(const Case& c) {
  std::string out = "case: " + c.scenario + "\nseed: " + std::to_string(c.seed) + "\n";
  if (c.precision != Precision::none) out += "precision: " + std::string(to_text(c.precision)) + "\n";
  if (c.phase != Phase::forward) out += "phase: " + std::string(to_text(c.phase)) + "\n";
  if (!c.shapes.empty()) {
    out += "shapes: {";
    bool first = true;
    for (const auto& [name, value] : c.shapes) {
      out += (first ? "" : ", ") + name + ": " + std::to_string(value);
      first = false;
    }
    out += "}\n";
  }
  if (!c.tensors.empty()) {
    out += "tensors:\n";
    for (const TensorSpec& t : c.tensors) out += "  " + t.name + ": " + tensor_to_yaml(t) + "\n";
  }
  out += "steps:\n";
  for (const Step& step : c.steps) out += "  - " + step_scalar(step) + "\n";
  return out;
}

Result<Case> parse_case(std::string_view text, const std::string& file) {
  const YamlDocument document = DSAFUZZ_TRY(YamlDocument::parse(text, file));
  Case c;
  static const std::vector<std::string_view> kKeys{"case", "seed", "precision", "phase", "shapes", "tensors", "steps"};
  for (const auto& [key, key_node, value] : DSAFUZZ_TRY(document.entries(document.root(), "a case", kKeys))) {
    if (key == "case") {
      c.scenario = DSAFUZZ_TRY(document.text(value, "the case's name"));
    } else if (key == "seed") {
      c.seed = DSAFUZZ_TRY(read_seed(document, value));
    } else if (key == "precision") {
      const auto precision = parse_precision(DSAFUZZ_TRY(document.text(value, "the precision")));
      if (!precision)
        return document.problem(value, "'" + value.Scalar() + "' is not a precision",
                                "none, autocast_float16, autocast_bfloat16, half or bfloat16");
      c.precision = *precision;
    } else if (key == "phase") {
      const auto phase = parse_phase(DSAFUZZ_TRY(document.text(value, "the phase")));
      if (!phase) return document.problem(value, "'" + value.Scalar() + "' is not a phase", "forward or backward");
      c.phase = *phase;
    } else if (key == "shapes") {
      for (const auto& [name, name_node, size] : DSAFUZZ_TRY(document.entries(value, "shapes"))) {
        c.shapes[name] = DSAFUZZ_TRY(document.integer(size, "'" + name + "'", 0, kElementLimit));
      }
    } else if (key == "tensors") {
      for (const auto& [name, name_node, tensor] : DSAFUZZ_TRY(document.entries(value, "tensors"))) {
        c.tensors.push_back(DSAFUZZ_TRY(read_tensor(document, name, tensor, kTensorKeys)));
      }
    } else if (key == "steps") {
      c.steps = DSAFUZZ_TRY(read_steps(document, value));
      for (Step& step : c.steps) {
        if (std::string op = expand_operator(step.op); !op.empty()) step.op = std::move(op);
      }
    }
  }
  if (auto ok = validate(c); !ok) {
    ok.error().where = file;
    return std::unexpected(ok.error());
  }
  return c;
}

Result<Case> load_case(const std::string& path) {
  const std::string text = DSAFUZZ_TRY(read_file(path, YamlDocument::kSizeLimit));
  return parse_case(text, path);
}

}  // namespace dsafuzz
