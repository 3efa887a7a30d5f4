#include "fuzz/baseline.h"

#include <filesystem>

#include "repro/read_file.h"
#include "repro/yaml_document.h"

namespace dsafuzz {

Result<Baseline> load_baseline(const std::string& file) {
  Baseline baseline;
  if (std::error_code ignored; file.empty() || !std::filesystem::exists(file, ignored)) return baseline;
  const std::string text = DSAFUZZ_TRY(read_file(file, YamlDocument::kSizeLimit));
  const YamlDocument document = DSAFUZZ_TRY(YamlDocument::parse(text, file));
  const auto top = DSAFUZZ_TRY(document.entries(document.root(), "the baseline", {"accepted"}));
  if (top.empty()) return document.problem(document.root(), "the baseline has no list", "accepted: []");
  for (const YAML::Node& item : DSAFUZZ_TRY(document.items(top[0].value, "accepted"))) {
    std::string name;
    Accepted accepted;
    for (const auto& [key, key_node, value] :
         DSAFUZZ_TRY(document.entries(item, "an accepted finding", {"finding", "bug", "why"}))) {
      (key == "finding" ? name : key == "bug" ? accepted.bug : accepted.why) = DSAFUZZ_TRY(document.text(value, key));
    }
    if (name.empty()) return document.problem(item, "an accepted finding has no name", "finding: device_assert-...");
    baseline[name] = std::move(accepted);
  }
  return baseline;
}

std::string to_yaml(const Baseline& baseline) {
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "accepted" << YAML::Value << YAML::BeginSeq;
  for (const auto& [name, accepted] : baseline) {
    out << YAML::BeginMap << YAML::Key << "finding" << YAML::Value << name;
    out << YAML::Key << "bug" << YAML::Value << YAML::DoubleQuoted << accepted.bug;
    if (!accepted.why.empty()) out << YAML::Key << "why" << YAML::Value << YAML::DoubleQuoted << accepted.why;
    out << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace dsafuzz
