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

}  // namespace

std::optional<StoredFinding> read_stored_finding(const std::string& folder) {
  const auto text = read_file(folder + "/finding.json", kSizeLimit);
  if (!text) return std::nullopt;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  const nlohmann::json& signature = member(json, "signature");
  const nlohmann::json &verdict = member(signature, "verdict"), &words = member(signature, "text");
  if (member(json, "version") != 1 || !verdict.is_string() || !words.is_string()) return std::nullopt;
  const nlohmann::json& tool = member(member(json, "settings"), "tool");
  return StoredFinding{verdict.get<std::string>(), words.get<std::string>(),
                       tool.is_string() ? parse_tool(tool.get<std::string>()) : std::nullopt};
}

}  // namespace dsafuzz
