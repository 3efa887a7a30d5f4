#include "repro/judge.h"

#include "repro/breach.h"

namespace dsafuzz {
namespace {

Diagnosis diagnose_breach(const Breach& breach, const Outcome& device, const Outcome* cpu) {
  Diagnosis d;
  d.signature = {
      .verdict = Verdict::silent, .op = breach.use.step->op, .file = {}, .kernel = {}, .condition = breach.condition()};
  d.evidence.push_back("contract: " + breach.text());
  if (cpu) d.evidence.push_back("cpu: " + opinion(*cpu));
  d.evidence.push_back((device.device.empty() ? "device" : device.device) + ": " + opinion(device));
  return d;
}

}  // namespace

bool refuses_values(const Outcome& cpu) {
  return cpu.end == Outcome::End::threw && cpu.error.find("not implemented") == std::string::npos;
}

Diagnosis judge(const Case& c, const Outcome& device, const Outcome* cpu) {
  Diagnosis own = diagnose(c, device);
  if (own.signature.verdict != Verdict::ok || device.end != Outcome::End::returned) return own;
  // The contract is read off the case alone. The CPU's words may follow from memory that its kernel has overwritten
  // (max_pool2d's gradient writes to any index), and then differ from run to run.
  if (const auto breach = first_breach(c)) return diagnose_breach(*breach, device, cpu);
  if (cpu && refuses_values(*cpu)) return diagnose_silent(c, device, *cpu);
  return own;
}

}  // namespace dsafuzz
