#include "fuzz/nightly_config.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <set>

#include "fuzz/own_kernels.h"
#include "repro/read_file.h"
#include "repro/yaml_document.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMost = 1'000'000'000;

class Reader {
 public:
  Reader(const YamlDocument& document, const std::string& file)
      : document_(document), folder_(fs::path(file).parent_path()) {}

  Result<NightlyConfig> read(const std::string& file);

 private:
  using Node = const YAML::Node&;

  std::string path(const std::string& named) const { return (folder_ / named).lexically_normal().string(); }
  Result<void> one(const std::string& key, Node value);
  Result<void> scenarios(Node value);
  Result<void> devices(Node value);
  Result<void> pair(Node value, const std::string& what, const std::array<std::string_view, 2>& keys,
                    const std::function<Result<void>(bool first, Node value)>& use);
  Result<std::string> text_at(Node value, const std::string& what) { return document_.text(value, what); }
  Result<std::vector<std::string>> texts_at(Node value, const std::string& what);
  template <typename T>
  Result<void> whole(Node value, const std::string& what, std::int64_t least, T& out) {
    out = static_cast<T>(DSAFUZZ_TRY(document_.integer(value, what, least, kMost)));
    return {};
  }
  Result<void> seconds(Node value, const std::string& what, double least, double& out);

  const YamlDocument& document_;
  fs::path folder_;
  NightlyConfig config_;
};

Result<NightlyConfig> Reader::read(const std::string& file) {
  config_.file = file;
  config_.devices = {Device{Device::Kind::vcuda, 0}};
  const auto entries = DSAFUZZ_TRY(document_.entries(
      document_.root(), "a nightly run",
      {"nightly", "scenarios",       "devices",     "seconds",  "runs",          "jobs",   "seed",
       "out",     "seeds",           "regressions", "baseline", "confirmations", "redact", "time_limit",
       "modules", "run_reproducers", "coverage",    "matrix",   "report",        "keep"}));
  for (const auto& [key, key_node, value] : entries) DSAFUZZ_CHECK(one(key, value));
  if (config_.name.empty()) return document_.problem(document_.root(), "the run has no name", "nightly: my_model");
  if (config_.scenarios.empty()) {
    return document_.problem(document_.root(), "no scenario is given", "scenarios: [FILE or FOLDER]");
  }
  if (config_.out.empty()) {
    return document_.problem(document_.root(), "there is no folder for what is found", "out: FOLDER");
  }
  if (config_.seconds == 0 && config_.runs == 0) {
    return document_.problem(document_.root(), "the search would never end", "seconds: 3600, or runs: 100000");
  }
  return config_;
}

Result<void> Reader::one(const std::string& key, Node value) {
  NightlyConfig& c = config_;
  if (key == "nightly") c.name = DSAFUZZ_TRY(text_at(value, "the name"));
  if (key == "scenarios") return scenarios(value);
  if (key == "devices") return devices(value);
  if (key == "seconds") return seconds(value, "seconds", 0, c.seconds);
  if (key == "time_limit") return seconds(value, "time_limit", 0.05, c.time_limit);
  if (key == "runs") return whole(value, "runs", 0, c.runs);
  if (key == "jobs") {
    c.jobs = static_cast<std::size_t>(DSAFUZZ_TRY(document_.integer(value, "jobs", 1, 256)));
  }
  if (key == "seed") return whole(value, "the seed", 0, c.seed);
  if (key == "confirmations") {
    c.confirmations = static_cast<int>(DSAFUZZ_TRY(document_.integer(value, "confirmations", 1, 1000)));
  }
  if (key == "out") c.out = path(DSAFUZZ_TRY(text_at(value, "out")));
  if (key == "baseline") c.baseline = path(DSAFUZZ_TRY(text_at(value, "baseline")));
  for (auto [name, at] : {std::pair{"seeds", &c.seeds}, std::pair{"modules", &c.modules}}) {
    if (key != name) continue;
    *at = path(DSAFUZZ_TRY(text_at(value, key)));
    std::error_code ignored;
    if (!fs::is_directory(*at, ignored)) return document_.problem(value, "'" + *at + "' is not a folder");
  }
  if (key == "regressions") {
    for (const std::string& named : DSAFUZZ_TRY(texts_at(value, key))) {
      c.regressions.push_back(path(named));
      std::error_code ignored;
      if (!fs::exists(c.regressions.back(), ignored)) {
        return document_.problem(value, "'" + c.regressions.back() + "' is not there");
      }
    }
  }
  for (auto [name, at] : {std::pair{"redact", &c.redact}, std::pair{"run_reproducers", &c.run_reproducers},
                          std::pair{"coverage", &c.coverage}, std::pair{"matrix", &c.matrix}}) {
    if (key == name) *at = DSAFUZZ_TRY(document_.boolean(value, key));
  }
  if (key == "report") {
    return pair(value, "report", {"html", "markdown"}, [&](bool first, Node file) -> Result<void> {
      (first ? c.html : c.markdown) = path(DSAFUZZ_TRY(text_at(file, "the report's file")));
      return {};
    });
  }
  if (key == "keep") {
    return pair(value, "keep", {"days", "runs"}, [&](bool first, Node number) -> Result<void> {
      return whole(number, first ? "days" : "runs", 0, first ? c.keep.days : c.keep.runs);
    });
  }
  return {};
}

Result<void> Reader::scenarios(Node value) {
  for (const std::string& named : DSAFUZZ_TRY(texts_at(value, "scenarios"))) {
    const std::string at = path(named);
    std::error_code error;
    if (!fs::is_directory(at, error)) {
      if (!fs::exists(at, error)) return document_.problem(value, "'" + at + "' is not there");
      config_.scenarios.push_back(at);
      continue;
    }
    std::set<std::string> files;
    for (fs::directory_iterator entry(at, error), end; !error && entry != end; entry.increment(error)) {
      if (entry->path().extension() == ".yaml") files.insert(entry->path().string());
    }
    if (files.empty()) return document_.problem(value, "'" + at + "' holds no scenario", "files that end in .yaml");
    config_.scenarios.insert(config_.scenarios.end(), files.begin(), files.end());
  }
  return {};
}

Result<void> Reader::devices(Node value) {
  config_.devices.clear();
  for (const std::string& named : DSAFUZZ_TRY(texts_at(value, "devices"))) {
    const Device device = DSAFUZZ_TRY(document_.placed(value, parse_device(named)));
    DSAFUZZ_CHECK(document_.placed(value, check_kernels_are_atens(device)));
    if (std::ranges::find(config_.devices, device) != config_.devices.end()) {
      return document_.problem(value, "'" + named + "' is given twice");
    }
    config_.devices.push_back(device);
  }
  if (config_.devices.empty()) return document_.problem(value, "no device is given", "devices: [vcuda]");
  return {};
}

Result<void> Reader::pair(Node value, const std::string& what, const std::array<std::string_view, 2>& keys,
                          const std::function<Result<void>(bool first, Node value)>& use) {
  for (const auto& [key, key_node, inner] : DSAFUZZ_TRY(document_.entries(value, what, {keys[0], keys[1]}))) {
    DSAFUZZ_CHECK(use(key == keys[0], inner));
  }
  return {};
}

// One text, or a list of them.
Result<std::vector<std::string>> Reader::texts_at(Node value, const std::string& what) {
  if (value.IsScalar()) return std::vector{DSAFUZZ_TRY(document_.text(value, what))};
  std::vector<std::string> texts;
  for (const YAML::Node& item : DSAFUZZ_TRY(document_.items(value, what))) {
    texts.push_back(DSAFUZZ_TRY(document_.text(item, what)));
  }
  return texts;
}

Result<void> Reader::seconds(Node value, const std::string& what, double least, double& out) {
  const Number number = DSAFUZZ_TRY(document_.number(value, what));
  out = std::visit([](auto n) { return static_cast<double>(n); }, number);
  if (!(out >= least && out <= static_cast<double>(kMost))) {
    return document_.problem(value, what + " is out of range", "a number of seconds");
  }
  return {};
}

}  // namespace

Result<NightlyConfig> parse_nightly(std::string_view text, const std::string& file) {
  const YamlDocument document = DSAFUZZ_TRY(YamlDocument::parse(text, file));
  return Reader(document, file).read(file);
}

Result<NightlyConfig> load_nightly(const std::string& file) {
  return parse_nightly(DSAFUZZ_TRY(read_file(file, YamlDocument::kSizeLimit)), file);
}

}  // namespace dsafuzz
