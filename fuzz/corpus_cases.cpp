#include "fuzz/corpus_cases.h"

#include <algorithm>
#include <filesystem>
#include <optional>

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

}  // namespace

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

}  // namespace dsafuzz
