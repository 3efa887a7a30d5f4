// Judges a machine: rules over its facts, each with what it means and what mends it. The rules are data
// (corpus/versions/doctor_rules.tsv, explained in its README); this applies them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "repro/condition.h"
#include "repro/machine_facts.h"
#include "repro/result.h"

namespace dsafuzz {

enum class Health : std::uint8_t { ok, warning, fault };  // the worst is the largest
std::string_view to_text(Health health);

struct DoctorRule {
  std::string id;     // a conflict of known_conflicts.tsv, or a name of its own
  std::string topic;  // driver, gpu, torch, ...: the report is grouped by it
  Health level = Health::ok;
  bool is_statement = false;  // level `seen`: says what is there, and that this is well
  Condition when;
  std::string says,
      mends;  // {fact} stands for its value; [what is in brackets] falls away if a fact in it is not known

  friend bool operator==(const DoctorRule&, const DoctorRule&) = default;
};

// Problem (input): a bad column, level, condition or text; a warning or fault without anything that mends it.
Result<std::vector<DoctorRule>> parse_doctor_rules(std::string_view text, const std::string& path);

// A conflict that a machine's facts cannot show.
struct NotCheckable {
  std::string conflict, reason;
};
Result<std::vector<NotCheckable>> parse_not_checkable(std::string_view text, const std::string& path);

struct DoctorLine {
  Health level = Health::ok;
  std::string id, topic, says, mends;
  std::vector<std::string> gpus;  // numbers of the GPUs it is about; empty: the machine

  friend bool operator==(const DoctorLine&, const DoctorLine&) = default;
};

// Of the rules with one id, the first whose condition holds speaks; a rule about GPUs is applied to each GPU, and GPUs
// of which it says the same share a line. An `ok` rule is silent where a warning or fault has the same topic and GPU,
// since it would soothe. In the order of the rules' topics, worst first within each.
std::vector<DoctorLine> judge_machine(const MachineFacts& facts, const std::vector<DoctorRule>& rules);

// The text with its placeholders filled.
std::string filled(std::string_view text, const MachineFacts& facts, const FactValues* gpu);

// As people read it, and as one JSON object.
std::string doctor_text(const std::vector<DoctorLine>& lines, const std::vector<NotCheckable>& not_checkable);
std::string doctor_json(const std::vector<DoctorLine>& lines, const std::vector<NotCheckable>& not_checkable,
                        const MachineFacts& facts);

}  // namespace dsafuzz
