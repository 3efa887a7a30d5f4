// A case on disk with what is known of it: a file of its own, a scenario, which stands for its default case, or a
// folder with case.yaml and what the case must show, in expect.yaml or, for a finding, in finding.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fuzz/stored_finding.h"
#include "repro/case.h"
#include "repro/expected.h"
#include "repro/run_settings.h"
#include "repro/scenario.h"

namespace dsafuzz {

struct CaseFile {
  std::string path;                      // of the YAML file
  Case the_case;                         // without meaning where the expectation says skip
  std::optional<Scenario> scenario;      // where the file is one
  std::optional<Expected> expected;      // of expect.yaml
  std::optional<StoredFinding> finding;  // of finding.json
};

// `path` is a case file, a scenario or a folder with case.yaml. Problem: the case or its expectation cannot be read.
Result<CaseFile> load_case_file(const std::string& path);
// Problem (input): also a case that its expectation says to skip.
Result<CaseFile> load_runnable_case(const std::string& path);

// How to run it: as the flags say, with what they leave open taken from the scenario, the expectation or the
// finding (the tool, the device), and from where the file lies (TorchScript modules).
RunSettings settings_for(const CaseFile& file, RunSettings flags);

struct CasePath {
  std::string path;  // a case file, or a folder with case.yaml
  std::string name;  // what it is called: the path from the folder that was given on; with several of these, the whole
  friend bool operator==(const CasePath&, const CasePath&) = default;
};

// All cases in the folders and below, by path, each once: folders with case.yaml or expect.yaml, where no other file
// counts, and elsewhere `.yaml` files that are cases by their first key or cannot be read. A file that is given itself
// counts whatever is in it. Problem: a folder that is not there or cannot be searched, or no case at all.
Result<std::vector<CasePath>> find_cases(const std::vector<std::string>& given);

}  // namespace dsafuzz
