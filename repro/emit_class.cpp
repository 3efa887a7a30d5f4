#include "repro/emit_class.h"

#include <algorithm>
#include <map>
#include <set>

#include "repro/emit_words.h"
#include "repro/escape.h"
#include "repro/simpler.h"

namespace dsafuzz {
namespace {

// A cell of a table: a bar in it would end it.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : markdown_code(text)) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string names_of(const std::set<std::string>& names) {
  std::vector<std::string> parts;
  for (const std::string& name : names) parts.push_back(markdown_code(name));
  return joined(parts);
}

}  // namespace

std::string emit_class_report(const MissingCheck& check, std::vector<ClassMember> members) {
  std::ranges::sort(members, [](const ClassMember& a, const ClassMember& b) { return a.signature < b.signature; });
  std::set<std::string> operators, devices, versions;
  for (const ClassMember& m : members) {
    operators.insert(user_name(m.signature.op));
    devices.insert(m.device);
    if (!m.torch.empty()) versions.insert(m.torch);
  }
  std::string out = "# " + std::string(check.title) + "\n\n";
  out += std::to_string(members.size()) + (members.size() == 1 ? " finding" : " findings") + " in " +
         std::to_string(operators.size()) + (operators.size() == 1 ? " operator: " : " operators: ") +
         names_of(operators) + ".\n\nExpected: " + std::string(check.wanted) + "\n\n";

  const auto simplest = std::ranges::min_element(
      members, [](const ClassMember& a, const ClassMember& b) { return simpler(a.minimal, b.minimal); });
  out += "## The simplest\n\n";
  if (!simplest->cause.empty()) out += markdown_text(simplest->cause) + "\n\n";
  out += markdown_block(python_snippet(simplest->minimal, simplest->device.starts_with("cpu")), "python") + "\n";
  if (!simplest->cpu_opinion.empty()) {
    out += "The CPU, on the same input: " + markdown_code(simplest->cpu_opinion) + ".\n\n";
  }

  out += "## All\n\n| operator | verdict | where | confirmed | folder |\n|---|---|---|---|---|\n";
  for (const ClassMember& m : members) {
    const std::string folder = m.signature.folder_name();
    out += "| " + cell(user_name(m.signature.op)) + " | " + std::string(to_text(m.signature.verdict)) + " | " +
           cell(m.signature.text()) + " | " + std::to_string(m.confirmed) + " of " + std::to_string(m.confirmations) +
           " | [" + folder + "](../findings/" + folder + "/finding.md) |\n";
  }
  out += "\nFound by a fuzzer, dsafuzz, on " + names_of(devices) +
         (versions.empty() ? "" : " with torch " + names_of(versions)) + ".";
  if (std::ranges::any_of(devices, [](const std::string& d) { return d.starts_with("vcuda"); })) {
    out += " vcuda is a virtual device: what was found on it alone was not run on a GPU.";
  }
  return out + "\n";
}

}  // namespace dsafuzz
