// Second opinions: who wins when the device, the CPU and the contract disagree.
#include "repro/judge.h"

#include <gtest/gtest.h>

#include "repro/case_text.h"

namespace dsafuzz {
namespace {

Case embedding_of(std::int64_t token) {
  return *parse_case("case: c\ntensors:\n  weight: {shape: [4, 2]}\n  tokens: {shape: [2], dtype: int64, fill: [0, " +
                         std::to_string(token) + "]}\nsteps:\n  - y = aten::embedding(weight, tokens)\n",
                     "c.yaml");
}

TEST(Judge, WhoWins) {
  Outcome returned, refused, dead;
  refused.end = Outcome::End::threw;
  refused.op = "aten::embedding";
  refused.error_type = "c10::IndexError";
  refused.error = "index out of range in self";
  Outcome missing = refused;
  missing.error = "\"embedding\" not implemented for 'Half'";
  dead.end = Outcome::End::signalled;
  dead.code = 11;
  struct Row {
    const char* what;
    std::int64_t token;
    Outcome device;
    const Outcome* cpu;
    Verdict verdict;
    std::string condition;
  };
  const std::string contract = "indices: not in [0, rows)";
  const Row rows[] = {
      {"legal everywhere", 3, returned, &returned, Verdict::ok, ""},
      {"legal, nobody asked", 3, returned, nullptr, Verdict::ok, ""},
      {"the contract comes before the CPU's words", 4, returned, &refused, Verdict::silent, contract},
      {"the CPU refuses what the contract allows", 3, returned, &refused, Verdict::silent,
       "index out of range in self"},
      {"the CPU accepts it too", 4, returned, &returned, Verdict::silent, contract},
      {"the CPU dies of it", -1, returned, &dead, Verdict::silent, contract},
      {"the CPU has no such operator", 4, returned, &missing, Verdict::silent, contract},
      {"a missing operator says nothing", 3, returned, &missing, Verdict::ok, ""},
      {"nobody asked", 4, returned, nullptr, Verdict::silent, contract},
      {"the device refuses it", 4, refused, &refused, Verdict::host_reject, "index out of range in self"},
      {"the device dies", 4, dead, &refused, Verdict::crash, "SIGSEGV"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const Diagnosis d = judge(embedding_of(row.token), row.device, row.cpu);
    EXPECT_EQ(d.signature.verdict, row.verdict);
    EXPECT_EQ(d.signature.condition, row.condition);
    if (row.verdict == Verdict::silent) EXPECT_EQ(d.signature.op, "aten::embedding");
  }
}

}  // namespace
}  // namespace dsafuzz
