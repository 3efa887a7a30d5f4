#include "repro/expected.h"

#include "repro/yaml_document.h"

namespace dsafuzz {

std::optional<std::string> Expected::unmet(const Signature& seen) const {
  if (seen.verdict == verdict && (signature.empty() || seen.text() == signature)) return std::nullopt;
  return std::string(to_text(verdict)) + (signature.empty() ? "" : " " + signature);
}

Result<Expected> parse_expected(std::string_view text, const std::string& file) {
  const YamlDocument document = DSAFUZZ_TRY(YamlDocument::parse(text, file));
  Expected out;
  bool has_verdict = false;
  for (const auto& [key, key_node, value] : DSAFUZZ_TRY(
           document.entries(document.root(), "an expectation", {"verdict", "signature", "tool", "device", "skip"}))) {
    const std::string word = DSAFUZZ_TRY(document.text(value, key));
    if (key == "signature") {
      out.signature = word;
      continue;
    }
    if (key == "skip") {
      if (word.empty()) return document.problem(value, "skip needs a reason");
      out.skip = word;
      continue;
    }
    if (key == "device") {
      auto device = parse_device(word);
      if (!device) return document.problem(value, device.error().what, device.error().remedy);
      out.device = *device;
      continue;
    }
    if (key == "tool") {
      out.tool = parse_tool(word);
      if (!out.tool) return document.problem(value, "'" + word + "' is not a tool", kToolWords);
      continue;
    }
    const auto verdict = parse_verdict(word);
    if (!verdict)
      return document.problem(value, "'" + word + "' is not a verdict",
                              "ok, host_reject, device_assert, memory_fault, ...");
    out.verdict = *verdict;
    has_verdict = true;
  }
  if (!has_verdict && out.skip.empty()) return document.problem(document.root(), "there is no verdict");
  return out;
}

Result<Expected> load_expected(const std::string& path) {
  const std::string text = DSAFUZZ_TRY(read_file(path, std::size_t{64} << 10));
  return parse_expected(text, path);
}

}  // namespace dsafuzz
