#include "fuzz/scenario_or_case.h"

#include "repro/case_text.h"
#include "repro/read_file.h"
#include "repro/yaml_document.h"

namespace dsafuzz {

Result<ScenarioOrCase> load_scenario_or_case(const std::string& path) {
  const std::string text = DSAFUZZ_TRY(read_file(path, YamlDocument::kSizeLimit));
  const YamlDocument document = DSAFUZZ_TRY(YamlDocument::parse(text, path));
  ScenarioOrCase out;
  if (document.root().IsMap() && document.root()["scenario"]) {
    out.scenario = DSAFUZZ_TRY(parse_scenario(text, path));
    out.the_case = out.scenario->base;
  } else {
    out.the_case = DSAFUZZ_TRY(parse_case(text, path));
  }
  return out;
}

}  // namespace dsafuzz
