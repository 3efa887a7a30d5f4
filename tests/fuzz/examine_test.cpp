// From candidates to findings, over a fake device: what each kind of candidate becomes.
#include "fuzz/examine.h"

#include <gtest/gtest.h>

#include "fake_executor.h"
#include "fuzz/atomic_file.h"
#include "repro/diagnose.h"
#include "temporary_folder.h"

namespace dsafuzz {
namespace {

constexpr Device kVcuda{.kind = Device::Kind::vcuda};
constexpr Device kCpu{.kind = Device::Kind::cpu};

Case case_with_label(std::int64_t label) {
  Case c = classic_scenario().base;
  c.find_tensor("labels")->set[9] = label;
  return c;
}

struct ExamineTest : testing::Test {
  TemporaryFolder folder;
  Store store = *Store::open(folder.path(), Store::Access::exclusive);
  FakeExecutor cpu{{}, kCpu};
  std::map<std::string, Scenario> scenarios{{"classic", classic_scenario()}};

  Candidate candidate(const Case& c, FakeBugs met_with, Candidate::Kind kind = Candidate::Kind::failed) {
    FakeExecutor device(met_with, kVcuda);
    const Outcome outcome = *device.run(c);
    Candidate made{.kind = kind, .signature = diagnose(c, outcome).signature, .the_case = c, .outcome = outcome};
    if (kind != Candidate::Kind::failed)
      made.signature = {.verdict = Verdict::silent, .condition = "suspect: labels at the end"};
    EXPECT_TRUE(store.add_candidate(made).value());
    return made;
  }
  Examination examine(const Candidate& c, FakeBugs bugs, ExamineOptions options = {}, bool with_cpu = true) {
    FakeExecutor device(bugs, kVcuda);
    Examiner examiner(store, device, with_cpu ? &cpu : nullptr, nullptr, scenarios, options);
    auto result = examiner.examine(c);
    EXPECT_TRUE(result) << result.error().text();
    return result.value_or(Examination{});
  }
};

TEST_F(ExamineTest, TheSameCandidateGivesTheSameBytes) {
  std::string first;
  for (int i = 0; i < 2; ++i) {
    const Examination e = examine(candidate(case_with_label(77), {}), {});
    ASSERT_EQ(e.end, Examination::End::confirmed) << e.why;
    EXPECT_TRUE(e.one_minimal);
    EXPECT_EQ(e.minimal.shapes, (Shapes{{"batch", 1}, {"classes", 1}}));
    EXPECT_EQ(store.candidate_count(), 0u);
    const std::string bytes = *read_whole(e.folder + "/case.yaml", 1 << 20);
    if (i == 0) first = bytes;
    EXPECT_EQ(bytes, first);
    remove_all(e.folder);
  }
}

TEST_F(ExamineTest, ASecondCandidateOfAKnownBugIsADuplicate) {
  ASSERT_EQ(examine(candidate(case_with_label(77), {}), {}).end, Examination::End::confirmed);
  EXPECT_EQ(examine(candidate(case_with_label(-5), {}), {}).end, Examination::End::duplicate);
  EXPECT_EQ(store.candidate_count(), 0u);
  EXPECT_EQ(store.findings().size(), 1u);
}

TEST_F(ExamineTest, WhatDoesNotFailAloneIsSetAside) {
  const Examination e = examine(candidate(case_with_label(77), {}), {.label_asserts = false});
  EXPECT_EQ(e.end, Examination::End::not_confirmed);
  EXPECT_EQ(store.candidate_count(), 0u);
  EXPECT_TRUE(store.findings().empty());
}

TEST_F(ExamineTest, AnotherBugMetOnTheWayBecomesACandidate) {
  const FakeBugs two{.lone_label_crashes = true};
  const Examination e = examine(candidate(case_with_label(77), two), two);
  ASSERT_EQ(e.end, Examination::End::confirmed) << e.why;
  EXPECT_EQ(e.signature.verdict, Verdict::device_assert);
  EXPECT_EQ(e.minimal.shapes.at("batch"), 2) << "a batch of 1 is the other bug";
  const auto slips = store.candidates();
  ASSERT_EQ(slips.size(), 1u);
  EXPECT_EQ(slips[0].kind, Candidate::Kind::slip);
  EXPECT_EQ(slips[0].signature.verdict, Verdict::crash);
  EXPECT_EQ(examine(slips[0], two).end, Examination::End::confirmed);
  EXPECT_EQ(store.findings().size(), 2u);
}

TEST_F(ExamineTest, SuspectsAreForTheCpuAndTheContractToDecide) {
  const FakeBugs accepts{.label_asserts = false};
  struct Row {
    const char* name;
    std::int64_t label;
    bool with_cpu;
    Examination::End expected;
  };
  for (const Row& row : {Row{"the CPU refuses it", 5, true, Examination::End::confirmed},
                         Row{"the CPU accepts it", 4, true, Examination::End::harmless},
                         Row{"only the contract to ask", 5, false, Examination::End::confirmed},
                         Row{"nobody objects", 4, false, Examination::End::harmless}}) {
    SCOPED_TRACE(row.name);
    const Candidate suspect = candidate(case_with_label(row.label), accepts, Candidate::Kind::suspect);
    const Examination e = examine(suspect, accepts, {}, row.with_cpu);
    EXPECT_EQ(e.end, row.expected) << e.why;
    EXPECT_EQ(store.candidate_count(), 0u);
    EXPECT_TRUE(store.answered().contains(suspect.signature.folder_name())) << "it is not raised again";
    for (const std::string& name : store.findings()) remove_all(folder.path() + "/findings/" + name);
  }
}

TEST_F(ExamineTest, AnInterruptedCaseThatRunsWellIsForgotten) {
  EXPECT_EQ(examine(candidate(case_with_label(3), {}, Candidate::Kind::interrupted), {}).end,
            Examination::End::harmless);
  EXPECT_EQ(examine(candidate(case_with_label(99), {}, Candidate::Kind::interrupted), {}).end,
            Examination::End::confirmed);
}

TEST_F(ExamineTest, StoppedLeavesTheCandidate) {
  const Candidate waiting = candidate(case_with_label(77), {});
  // Stopped at every moment in turn, until it is left alone to the end.
  for (int moment = 0;; ++moment) {
    int asked = 0;
    const Examination e = examine(waiting, {}, {.stop = [&] { return asked++ >= moment; }});
    if (e.end == Examination::End::confirmed) break;
    ASSERT_EQ(e.end, Examination::End::stopped) << moment;
    ASSERT_EQ(store.candidate_count(), 1u);
    ASSERT_TRUE(store.findings().empty());
    ASSERT_LT(moment, 1000);
  }
  EXPECT_EQ(store.candidate_count(), 0u);
}

}  // namespace
}  // namespace dsafuzz
