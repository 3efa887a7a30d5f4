// `dsafuzz coverage`: runs the cases of a folder and says which device asserts they reach.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "fuzz/commands.h"
#include "fuzz/row_counter.h"
#include "fuzz/site_coverage.h"
#include "fuzz/worker_pool.h"
#include "repro/case_bytes.h"
#include "repro/case_text.h"
#include "repro/read_file.h"
#include "repro/yaml_document.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

// Case files are YAML that begins with `case`; in a campaign's corpus (corpus/SCENARIO/CASE_ID) they are bytes.
// nullopt: the file is something else, such as an expectation or a report.
Result<std::optional<Case>> case_in(const fs::path& path) {
  if (path.extension() == ".yaml") {
    const std::string text = DSAFUZZ_TRY(read_file(path.string(), YamlDocument::kSizeLimit));
    const YamlDocument document = DSAFUZZ_TRY(YamlDocument::parse(text, path.string()));
    if (!document.root().IsMap() || !document.root()["case"]) return std::nullopt;
    return DSAFUZZ_TRY(parse_case(text, path.string()));
  }
  if (path.has_extension() || path.parent_path().parent_path().filename() != "corpus") return std::nullopt;
  const std::string bytes = DSAFUZZ_TRY(read_file(path.string(), kCaseBytesLimit));
  return DSAFUZZ_TRY(decode_case({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
}

// All cases below a folder, by path. Reading stops at a file that cannot be read: an incomplete answer would mislead.
Result<std::vector<Case>> cases_below(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  if (fs::is_regular_file(folder, error)) files.emplace_back(folder);
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->is_regular_file()) files.push_back(at->path());
  }
  if (files.empty())
    return input_problem("there is no case here", folder, "an output folder of `dsafuzz fuzz`, or case files");
  std::ranges::sort(files);
  std::vector<Case> cases;
  for (const fs::path& file : files) {
    if (auto c = DSAFUZZ_TRY(case_in(file))) cases.push_back(std::move(*c));
  }
  return cases;
}

}  // namespace

int coverage_command(const CoverageFlags& flags) {
  const auto settings = settings_of(flags.run, true);
  if (!settings) return fail(settings.error());
  const auto catalogue = load_catalogue(shipped_folder("corpus/catalogue"));
  if (!catalogue) return fail(catalogue.error());
  std::vector<Case> cases;
  for (const std::string& folder : flags.folders.empty() ? std::vector{shipped_folder("corpus")} : flags.folders) {
    auto found = cases_below(folder);
    if (!found) return fail(found.error());
    std::ranges::move(*found, std::back_inserter(cases));
  }
  RunSettings wanted = *settings;
  if (wanted.modules.empty()) wanted.modules = shipped_folder("scenarios");
  const auto workers = start_workers(wanted);
  if (!workers) return fail(workers.error());
  SiteCoverage coverage(*catalogue);
  RowCounter counter("coverage", "cases");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto outcome = (*workers)->run(cases[i]);
    if (!outcome) return fail(outcome.error());
    coverage.add(cases[i].scenario, *outcome);
    counter.show(i + 1, cases.size());
  }
  std::fputs((flags.run.json ? coverage_json(coverage) : coverage_text(coverage)).c_str(), stdout);
  return 0;
}

}  // namespace dsafuzz
