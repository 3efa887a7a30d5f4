// A scenario: a program with defaults, what may vary, what is legal, and what is expected. It is a Case (the defaults)
// plus domains. Written in YAML; scenarios/SCHEMA.md documents the format.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "repro/case.h"
#include "repro/finding.h"
#include "repro/run_settings.h"

namespace dsafuzz {

struct ShapeRange {
  std::int64_t least = 0, most = 0;  // inclusive
};

// Which values of a tensor its operator accepts: [from, to), or one of `also` (ignore_index).
struct LegalValues {
  Extent from, to;
  std::vector<std::int64_t> also;
  bool real = false;  // a floating interval instead: [real_from, real_to]
  double real_from = 0, real_to = 0;
};

struct Expectation {
  Verdict verdict = Verdict::ok;
  std::string signature;  // Signature::text(); empty: any
  Shapes minimal_shapes;  // what the minimal case must have, as far as named
  std::map<std::string, std::vector<Number>> minimal_values;

  // As far as one run shows: the verdict, and the signature if one is named.
  bool is_met_by(const Signature& met) const {
    return met.verdict == verdict && (signature.empty() || met.text() == signature);
  }
};

// What may be mutated. For attributes: the step's first result and the argument's name.
struct Variation {
  std::vector<std::string> shapes, values, dtypes, layouts;
  std::vector<std::pair<std::string, std::string>> attributes;
  bool precision = false, phase = false;
};

struct Scenario {
  std::string name, claim, file;
  Case base;                                         // the defaults
  std::map<std::string, ShapeRange> ranges;          // variables without one are fixed
  std::map<std::string, LegalValues> legal;          // by tensor
  std::map<std::string, std::vector<Dtype>> dtypes;  // by tensor: what it may become
  std::vector<Precision> precisions{Precision::none};
  std::vector<Phase> phases{Phase::forward};
  Variation vary;
  std::optional<Tool> tool;       // that finds what is expected; empty: any
  bool only_legal = false;        // a healthy twin: mutate within `legal` only
  std::vector<Verdict> findings;  // verdicts that count as findings, beyond is_bug
  Expectation expect;

  bool is_finding(Verdict v) const;
};

Result<Scenario> parse_scenario(std::string_view text, const std::string& file);
Result<Scenario> load_scenario(const std::string& path);
// Problem: also two of one name, which would share a corpus.
Result<std::vector<Scenario>> load_scenarios(const std::vector<std::string>& paths);

}  // namespace dsafuzz
