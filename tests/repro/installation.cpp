#include "installation.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void add_files(const fs::path& folder, MachineRecord& record) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name == "expected.json") continue;
    if (std::ranges::find(kRecordItems, name, &RecordItem::name) == kRecordItems.end())
      throw std::runtime_error(entry.path().string() + " is no item of a record");
    record[name] = content_of(entry.path());
  }
}

}  // namespace

std::vector<Installation> read_installations(const std::string& folder) {
  std::vector<Installation> installations;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    const auto expected = nlohmann::json::parse(content_of(entry.path() / "expected.json"));
    Installation one{.name = entry.path().filename().string(),
                     .why = expected.at("why"),
                     .record = {},
                     .faults = expected.at("faults"),
                     .warnings = expected.at("warnings"),
                     .notes = expected.at("notes")};
    if (expected.contains("base")) add_files(fs::path(folder) / expected["base"].get<std::string>(), one.record);
    if (expected.contains("without")) {
      for (const std::string name : expected["without"]) one.record.erase(name);
    }
    add_files(entry.path(), one.record);
    installations.push_back(std::move(one));
  }
  std::ranges::sort(installations, {}, &Installation::name);
  return installations;
}

}  // namespace dsafuzz
