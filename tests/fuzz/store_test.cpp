// The store: whole or not there, whatever happens to the process or the disk.
#include "fuzz/store.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fake_executor.h"
#include "fuzz/atomic_file.h"
#include "fuzz/write_ahead.h"
#include "repro/case_bytes.h"
#include "temporary_folder.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

Candidate some_candidate(std::uint64_t sequence = 7) {
  Case c = classic_scenario().base;
  c.seed = sequence;
  return {.kind = Candidate::Kind::failed,
          .signature = {.verdict = Verdict::device_assert,
                        .op = "aten::nll_loss",
                        .file = "aten/Loss.cu",
                        .kernel = "k",
                        .condition = "t >= 0"},
          .the_case = c,
          .outcome = {.end = Outcome::End::threw,
                      .step = 0,
                      .op = "aten::nll_loss",
                      .error_type = "E",
                      .error = "said \"so\"\n",
                      .log = "log\n",
                      .device = "vcuda"},
          .engine = 2,
          .sequence = sequence};
}

int files_under(const std::string& folder) {
  int n = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) n += entry.is_regular_file();
  return n;
}

TEST(Store, CandidatesReadBackInOrderOfExamination) {
  const TemporaryFolder folder;
  Store store = *Store::open(folder.path(), Store::Access::exclusive);
  for (std::uint64_t sequence : {30, 10, 20}) ASSERT_TRUE(store.add_candidate(some_candidate(sequence)).value());
  EXPECT_FALSE(store.add_candidate(some_candidate(10)).value()) << "the same case is no new candidate";
  const auto all = store.candidates();
  ASSERT_EQ(all.size(), 3u);
  for (const auto& [place, sequence] : {std::pair{0, 10}, {1, 20}, {2, 30}}) {
    Candidate expected = some_candidate(static_cast<std::uint64_t>(sequence));
    expected.stored_as = expected.name();
    EXPECT_EQ(all[static_cast<std::size_t>(place)], expected);
  }
  store.remove_candidate(all[0]);
  ASSERT_TRUE(store.set_aside(all[1], "did not fail again"));
  EXPECT_EQ(store.candidate_count(), 1u);
  EXPECT_EQ(*read_whole(folder.path() + "/unconfirmed/" + all[1].name() + "/why.txt", 100), "did not fail again\n");
}

TEST(Store, ADamagedCandidateIsSetAside) {
  const TemporaryFolder folder;
  Store store = *Store::open(folder.path(), Store::Access::exclusive);
  for (const char* damage : {"", "{", "[]", "{\"version\": 1}", "{\"version\": 1, \"kind\": 3, \"signature\": 4}"}) {
    SCOPED_TRACE(damage);
    ASSERT_TRUE(store.add_candidate(some_candidate()).value());
    std::ofstream(folder.path() + "/candidates/" + some_candidate().name() + "/candidate.json") << damage;
    EXPECT_TRUE(store.candidates().empty());
    EXPECT_EQ(store.candidate_count(), 0u);
    remove_all(folder.path() + "/unconfirmed");
    fs::create_directory(folder.path() + "/unconfirmed");
  }
}

TEST(Store, OneCampaignAtATime) {
  const TemporaryFolder folder;
  {
    const Store first = *Store::open(folder.path(), Store::Access::exclusive);
    const auto second = Store::open(folder.path(), Store::Access::exclusive);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, Problem::Kind::environment);
    EXPECT_NE(second.error().what.find(std::to_string(::getpid())), std::string::npos) << second.error().text();
    EXPECT_TRUE(Store::open(folder.path(), Store::Access::shared)) << "engines share it";
  }
  EXPECT_TRUE(Store::open(folder.path(), Store::Access::exclusive)) << "released with the store";
  // The lock of a killed campaign is nobody's.
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = Store::open(folder.path(), Store::Access::exclusive);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(Store::open(folder.path(), Store::Access::exclusive));
}

TEST(Store, NamesCannotLeaveTheFolder) {
  const TemporaryFolder folder;
  Store store = *Store::open(folder.path() + "/out", Store::Access::exclusive);
  for (const char* name : {"../evil", "a/b", "", ".", "..", "A", "a b", "-\n"}) {
    SCOPED_TRACE(name);
    Case c = classic_scenario().base;
    c.scenario = name;
    EXPECT_FALSE(store.add_to_corpus(c));
    EXPECT_FALSE(store.corpus(name));
    EXPECT_FALSE(store.additions({name, 0}));
  }
  for (const auto& entry : fs::directory_iterator(folder.path())) EXPECT_EQ(entry.path().filename(), "out");
}

TEST(Store, AFindingAppearsAtOnceAndReplacesTheOlder) {
  const TemporaryFolder folder;
  Store store = *Store::open(folder.path(), Store::Access::exclusive);
  const Signature signature = some_candidate().signature;
  {
    StagedFinding dropped = *store.stage(signature);
    ASSERT_TRUE(dropped.write("case.yaml", "old"));
    EXPECT_FALSE(store.has_finding(signature));
  }
  EXPECT_EQ(files_under(folder.path() + "/findings"), 0);
  for (const char* content : {"first", "second"}) {
    StagedFinding staged = *store.stage(signature);
    ASSERT_TRUE(staged.write("case.yaml", content));
    std::ofstream(staged.folder() + "/left-by-a-build") << "x";
    const auto place = staged.publish();
    ASSERT_TRUE(place);
    EXPECT_EQ(*read_whole(*place + "/case.yaml", 100), content);
    EXPECT_EQ(files_under(folder.path() + "/findings"), 1);
  }
  EXPECT_EQ(store.findings(), std::set{signature.folder_name()});
}

TEST(Store, CorpusIsJoinedFromWhatEnginesAdded) {
  const TemporaryFolder folder;
  Store store = *Store::open(folder.path(), Store::Access::exclusive);
  const Case base = classic_scenario().base;
  Case other = base;
  other.seed = 5;
  ASSERT_TRUE(store.add_to_corpus(base));
  const std::string additions = *store.additions({"classic", 0});
  for (const Case& c : {base, other}) {
    const auto bytes = encode(c);
    std::ofstream(additions + "/" + case_id(c) + "aa")
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
  }
  std::ofstream(additions + "/cut") << "\xa3";
  EXPECT_EQ(*store.absorb_additions(), 1);
  EXPECT_EQ(store.corpus("classic")->size(), 2u);
  EXPECT_FALSE(fs::exists(additions));
}

TEST(Store, AnInterruptedRunBecomesACandidate) {
  const TemporaryFolder folder;
  const EngineName engine{"classic", 3};
  const Case c = classic_scenario().base;
  std::string file;
  {
    Store store = *Store::open(folder.path(), Store::Access::exclusive);
    file = store.running_file(engine);
  }
  const auto killed_while = [&](bool running) {
    const pid_t child = ::fork();
    if (child == 0) {
      WriteAhead ahead = *WriteAhead::open(file);
      ahead.begin(encode(c), 41);
      if (!running) ahead.end();
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
  };
  Store store = *Store::open(folder.path(), Store::Access::exclusive);
  killed_while(false);
  EXPECT_EQ(*store.recover_interrupted(), 0);
  killed_while(true);
  EXPECT_EQ(*store.recover_interrupted(), 1);
  const auto candidates = store.candidates();
  ASSERT_EQ(candidates.size(), 1u);
  EXPECT_EQ(candidates[0].kind, Candidate::Kind::interrupted);
  EXPECT_EQ(candidates[0].the_case, c);
  EXPECT_EQ(candidates[0].engine, 3u);
  EXPECT_EQ(candidates[0].sequence, 41u);
  EXPECT_EQ(*store.recover_interrupted(), 0) << "once";
}

// A full disk, as far as one process can see it: no file may grow beyond a limit.
TEST(Store, AFullDiskIsOneProblemAndLeavesNothingHalf) {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    Store store = *Store::open(folder.path(), Store::Access::exclusive);
    Candidate large = some_candidate();
    large.outcome.log.assign(100'000, 'x');
    const rlimit limit{10'000, 10'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto refused = store.add_candidate(large);
    const bool as_promised = !refused && refused.error().kind == Problem::Kind::environment &&
                             refused.error().remedy.find("space") != std::string::npos &&
                             store.candidate_count() == 0 && files_under(folder.path() + "/candidates") == 0;
    const bool small_fits = store.add_candidate(some_candidate()).value_or(false);
    ::_exit(as_promised && small_fits ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// Killed at any moment, a writer leaves candidates that all read back, and no temporary survives the next opening.
TEST(Store, KilledWhileWriting) {
  const TemporaryFolder folder;
  std::size_t complete = 0;
  for (int round = 0; round < 12; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      Store store = *Store::open(folder.path(), Store::Access::exclusive);
      for (std::uint64_t i = 0;; ++i)
        (void)store.add_candidate(some_candidate(1000u * static_cast<unsigned>(round) + i));
    }
    ::usleep(static_cast<useconds_t>(20'000 + 11'300 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    const Store store = *Store::open(folder.path(), Store::Access::exclusive);
    const std::size_t there = store.candidate_count();
    EXPECT_EQ(store.candidates().size(), there) << "one did not read back";
    EXPECT_GE(there, complete);
    complete = there;
    EXPECT_EQ(files_under(folder.path() + "/candidates"), static_cast<int>(4 * there));
  }
  EXPECT_GT(complete, 0u);
}

TEST(Store, AFolderThatCannotBeWritten) {
  EXPECT_FALSE(Store::open("", Store::Access::exclusive));
  const auto refused = Store::open("/proc/no-such-place", Store::Access::exclusive);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().exit_code(), 3);
}

}  // namespace
}  // namespace dsafuzz
