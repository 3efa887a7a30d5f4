#include "repro/python_text.h"

#include "repro/emit_plan.h"
#include "repro/escape.h"
#include "repro/python_program.h"

namespace dsafuzz {
namespace {

constexpr std::size_t kWidth = 120;

}  // namespace

void PythonText::add(std::string_view line) {
  if (line.empty()) {
    text_ += '\n';
    return;
  }
  const std::size_t indent = static_cast<std::size_t>(level_) * 4;
  const std::size_t from = text_.size();
  text_.append(indent, ' ');
  for (const char c : line) {
    text_ += c;
    if (c == '\n') text_.append(indent, ' ');
  }
  const bool comment = line.substr(line.find_first_not_of(' ')).starts_with('#');
  const bool wide = text_.size() - from > kWidth || line.contains('\n');
  text_ += wide && !comment ? "  # fmt: skip\n" : "\n";
}

void PythonText::add(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) add(line);
}

std::vector<std::string> python_loading(const Case& c) {
  std::vector<std::string> out{"if device.startswith(\"vcuda\"):", "    import dsafuzz_vcuda  # noqa: F401"};
  if (!uses_own_operators(c)) return out;
  out.emplace_back("for library in filter(None, os.environ.get(\"DSAFUZZ_OPS_LIBRARY\", \"\").split(os.pathsep)):");
  out.emplace_back("    torch.ops.load_library(library)");
  // Looked up here, so that a missing library is "cannot run" and not a bug that does not show.
  for (const Step& step : c.steps) {
    if (step.op.starts_with("dsafuzz::")) out.push_back(python_operator(step));
  }
  return out;
}

std::string python_message_test(const Finding& finding, const std::string& variable) {
  const std::vector<std::string> expected = expected_messages(finding);
  if (expected.size() == 1) return python_string(expected[0]) + " in " + variable;
  std::vector<std::string> parts;
  for (const std::string& text : expected) parts.push_back(python_string(text));
  return parts.empty() ? "False" : "any(text in " + variable + " for text in (" + joined(parts) + "))";
}

}  // namespace dsafuzz
