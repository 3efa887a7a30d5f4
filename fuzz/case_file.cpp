#include "fuzz/case_file.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "fuzz/scenario_or_case.h"
#include "repro/read_file.h"
#include "repro/yaml_document.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

bool is_case_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path / "case.yaml", ignored) || fs::exists(path / "expect.yaml", ignored);
}

// A file whose kind cannot be told may be a case: leaving it out would hide that it is broken.
bool may_be_case(const fs::path& path) {
  if (path.extension() != ".yaml") return false;
  const auto text = read_file(path.string(), YamlDocument::kSizeLimit);
  if (!text) return true;
  const auto document = YamlDocument::parse(*text, path.string());
  return !document || (document->root().IsMap() && document->root()["case"]);
}

// "a/b/" and "./a/b" are "a/b".
fs::path plain(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

Result<std::vector<fs::path>> cases_below(const std::string& folder) {
  std::error_code error;
  if (is_case_folder(folder)) return std::vector<fs::path>{folder};
  std::vector<fs::path> out;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) {
      if (!is_case_folder(at->path())) continue;
      at.disable_recursion_pending();
      out.push_back(at->path());
    } else if (at->is_regular_file(ignored) && may_be_case(at->path())) {
      out.push_back(at->path());
    }
  }
  if (error) return input_problem("cannot be searched for cases: " + error.message(), folder);
  return out;
}

}  // namespace

Result<CaseFile> load_case_file(const std::string& path) {
  std::error_code ignored;
  const bool folder = fs::is_directory(path, ignored);
  CaseFile out{.path = folder ? path + "/case.yaml" : path, .the_case = {}};
  const std::string expectation = path + "/expect.yaml";
  if (folder && fs::exists(expectation, ignored)) out.expected = DSAFUZZ_TRY(load_expected(expectation));
  if (out.expected && !out.expected->skip.empty() && !fs::exists(out.path, ignored)) return out;
  ScenarioOrCase loaded = DSAFUZZ_TRY(load_scenario_or_case(out.path));
  out.the_case = std::move(loaded.the_case);
  out.scenario = std::move(loaded.scenario);
  if (folder) out.finding = read_stored_finding(path);
  return out;
}

Result<CaseFile> load_runnable_case(const std::string& path) {
  CaseFile file = DSAFUZZ_TRY(load_case_file(path));
  if (file.expected && !file.expected->skip.empty()) {
    return input_problem("the case is not to be run: " + file.expected->skip, path);
  }
  return file;
}

RunSettings settings_for(const CaseFile& file, RunSettings flags) {
  if (!flags.tool && file.scenario) flags.tool = file.scenario->tool;
  if (!flags.tool && file.expected) flags.tool = file.expected->tool;
  if (file.expected && file.expected->device) flags.device = *file.expected->device;
  if (!flags.tool && file.finding) flags.tool = file.finding->tool;
  if (flags.modules.empty()) {
    const fs::path parent = fs::path(file.path).parent_path();
    flags.modules = parent.empty() ? "." : parent.string();
  }
  return flags;
}

Result<std::vector<CasePath>> find_cases(const std::vector<std::string>& given) {
  std::vector<CasePath> out;
  std::set<fs::path> known;
  for (const std::string& folder : given) {
    std::error_code error;
    const fs::path root = plain(folder);
    std::vector<fs::path> paths{root};
    if (!fs::exists(folder, error)) return input_problem("is neither a folder nor a case file", folder);
    if (fs::is_directory(folder, error)) paths = DSAFUZZ_TRY(cases_below(root.string()));
    for (const fs::path& path : paths) {
      if (!known.insert(path).second) continue;
      fs::path name = given.size() > 1 ? path : path.lexically_relative(root);
      if (name == ".") name = path.filename();
      out.push_back({path.string(), name.string()});
    }
  }
  if (out.empty())
    return input_problem("there is no case here", given.empty() ? "" : given.front(),
                         "folders with case.yaml and expect.yaml, or case files");
  std::ranges::sort(out, {}, &CasePath::path);
  return out;
}

}  // namespace dsafuzz
