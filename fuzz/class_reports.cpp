#include "fuzz/class_reports.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "repro/case_text.h"
#include "repro/emit_class.h"
#include "repro/read_file.h"

namespace dsafuzz {
namespace {

constexpr std::size_t kFindingBytesLimit = std::size_t{64} << 20;

// Members of the object, empty where they are missing or of another type.
std::string text_in(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}
int number_in(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_integer() ? found->get<int>() : 0;
}
nlohmann::json object_in(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_object() ? *found : nlohmann::json::object();
}

std::optional<ClassMember> member_of(const nlohmann::json& finding) {
  if (!finding.is_object()) return std::nullopt;
  const nlohmann::json signature = object_in(finding, "signature"), confirmation = object_in(finding, "confirmation");
  const auto verdict = parse_verdict(text_in(signature, "verdict"));
  const auto minimal = parse_case(text_in(finding, "minimal"), "finding.json");
  if (!verdict || !minimal) return std::nullopt;
  return ClassMember{
      .signature = {*verdict, text_in(signature, "op"), text_in(signature, "file"), text_in(signature, "kernel"),
                    text_in(signature, "condition")},
      .minimal = *minimal,
      .device = text_in(finding, "device"),
      .cause = text_in(object_in(finding, "advice"), "cause"),
      .cpu_opinion = text_in(finding, "cpu_opinion"),
      .torch = text_in(object_in(object_in(finding, "outcome"), "versions"), "torch"),
      .confirmed = number_in(confirmation, "confirmed"),
      .confirmations = number_in(confirmation, "of"),
  };
}

}  // namespace

Result<std::map<std::string, int>> write_class_reports(Store& store) {
  std::map<std::string, std::vector<ClassMember>> members;  // by the class's name
  for (const std::string& folder : store.findings()) {
    const Result<std::string> content = read_file(store.finding_file(folder, "finding.json"), kFindingBytesLimit);
    if (!content) continue;
    auto member = member_of(nlohmann::json::parse(*content, nullptr, false));
    if (!member) continue;
    const std::string name(missing_check(member->minimal, member->signature).name);
    members[name].push_back(std::move(*member));
  }
  std::map<std::string, int> counts;
  for (auto& [name, all] : members) {
    const MissingCheck& check = *find_missing_check(name);
    counts[std::string(check.title)] = static_cast<int>(all.size());
    if (auto ok = store.write_class_report(name, emit_class_report(check, std::move(all))); !ok) {
      return std::unexpected(ok.error());
    }
  }
  return counts;
}

}  // namespace dsafuzz
