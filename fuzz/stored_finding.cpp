#include "fuzz/stored_finding.h"

#include <nlohmann/json.hpp>

#include "repro/read_file.h"

namespace dsafuzz {
namespace {

constexpr std::size_t kSizeLimit = std::size_t{8} << 20;

// Null where the key is missing or `json` is no object.
const nlohmann::json& member(const nlohmann::json& json, const char* key) {
  static const nlohmann::json kNull;
  const auto at = json.find(key);
  return at == json.end() ? kNull : *at;
}

std::string text(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }
int number(const nlohmann::json& value) { return value.is_number_integer() ? value.get<int>() : 0; }

}  // namespace

std::optional<StoredFinding> read_stored_finding(const std::string& folder) {
  const auto content = read_file(folder + "/finding.json", kSizeLimit);
  if (!content) return std::nullopt;
  const auto json = nlohmann::json::parse(*content, nullptr, false);
  const nlohmann::json &signature = member(json, "signature"), &confirmation = member(json, "confirmation");
  const auto verdict = parse_verdict(text(member(signature, "verdict")));
  if (member(json, "version") != 1 || !verdict || !member(signature, "condition").is_string()) return std::nullopt;
  StoredFinding out;
  out.signature = {*verdict, text(member(signature, "op")), text(member(signature, "file")),
                   text(member(signature, "kernel")), text(member(signature, "condition"))};
  out.tool = parse_tool(text(member(member(json, "settings"), "tool")));
  out.device = text(member(json, "device"));
  out.confirmed = number(member(confirmation, "confirmed"));
  out.confirmations = number(member(confirmation, "of"));
  out.one_minimal = member(member(json, "reduction"), "one_minimal") == true;
  return out;
}

}  // namespace dsafuzz
