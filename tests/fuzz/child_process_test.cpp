// Children that do not end as one would wish.
#include "fuzz/child_process.h"

#include <gtest/gtest.h>

#include <chrono>

namespace dsafuzz {
namespace {

using namespace std::chrono_literals;

ChildResult shell(const char* text, std::chrono::milliseconds limit = 20s) {
  return run_child({"sh", "-c", text}, {}, limit);
}

TEST(ChildProcess, SaysHowItEnded) {
  const ChildResult ended = shell("echo out; echo err >&2; exit 7");
  EXPECT_TRUE(ended.started);
  EXPECT_EQ(ended.exit_code, 7);
  EXPECT_EQ(ended.output, "out\nerr\n");
  const ChildResult killed = shell("kill -9 $$");
  EXPECT_EQ(killed.exit_code, -1);
  EXPECT_NE(killed.output.find("signal 9"), std::string::npos) << killed.output;
  EXPECT_FALSE(run_child({"/nowhere/no program"}, {}, 1s).started);
}

TEST(ChildProcess, TheDeadlineHoldsForOneThatClosedItsOutput) {
  const ChildResult child = shell("echo hi; exec >/dev/null 2>&1; sleep 60", 300ms);
  EXPECT_TRUE(child.timed_out);
  EXPECT_EQ(child.output, "hi\n");
}

TEST(ChildProcess, AGrandchildThatKeepsTheOutputIsNotWaitedFor) {
  const ChildResult child = shell("sleep 60 & echo hi");
  EXPECT_FALSE(child.timed_out);
  EXPECT_EQ(child.exit_code, 0);
  EXPECT_EQ(child.output, "hi\n");
}

TEST(ChildProcess, OutputIsBounded) {
  const ChildResult child = run_child({"sh", "-c", "head -c 1000000 /dev/zero"}, {}, 20s, 1000);
  EXPECT_EQ(child.exit_code, 0);
  EXPECT_EQ(child.output.size(), 1000u);
}

}  // namespace
}  // namespace dsafuzz
