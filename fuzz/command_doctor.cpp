// `dsafuzz doctor`: looks at this machine, or at the record of another, and says what is wrong and what mends it.
#include <algorithm>
#include <cstdio>

#include "fuzz/commands.h"
#include "fuzz/look_at_machine.h"
#include "fuzz/machine_folder.h"
#include "fuzz/private_names.h"
#include "repro/doctor.h"
#include "repro/read_machine.h"

namespace dsafuzz {
namespace {

Result<MachineRecord> record_of(const DoctorFlags& flags) {
  if (!flags.from.empty()) return read_machine_folder(flags.from);
  MachineRecord record = DSAFUZZ_TRY(look_at_machine({.python = flags.python, .libraries = flags.libraries}));
  if (!flags.record.empty()) DSAFUZZ_CHECK(write_machine_folder(flags.record, redacted(record, private_names())));
  return record;
}

Result<bool> report(const DoctorFlags& flags) {
  const MachineRecord record = DSAFUZZ_TRY(record_of(flags));
  const VersionTables tables = DSAFUZZ_TRY(VersionTables::built_in());
  const auto rules = DSAFUZZ_TRY(parse_doctor_rules(kDoctorRulesText, "doctor_rules.tsv"));
  const auto not_checkable = DSAFUZZ_TRY(parse_not_checkable(kNotCheckableText, "not_checkable.tsv"));
  const MachineFacts facts = read_machine(record, tables);
  const std::vector<DoctorLine> lines = judge_machine(facts, rules);
  std::fputs((flags.json ? doctor_json(lines, not_checkable, facts) : doctor_text(lines, not_checkable)).c_str(),
             stdout);
  if (!flags.record.empty()) std::fprintf(stderr, "recorded in %s\n", flags.record.c_str());
  return std::ranges::any_of(lines, [](const DoctorLine& line) { return line.level == Health::fault; });
}

}  // namespace

int doctor_command(const DoctorFlags& flags) {
  const auto faults = report(flags);
  if (!faults) return fail(faults.error());
  return *faults ? 1 : 0;
}

}  // namespace dsafuzz
