// The finding as a regression test for GoogleTest. As its pytest twin it states what should be, and so fails while the
// bug is there. The call is made in a child that starts anew (a death test of style `threadsafe`): after a failed
// device assert nothing more can run in its process.
#include "repro/cpp_frame.h"
#include "repro/cpp_program.h"
#include "repro/cpu_opinion.h"
#include "repro/emit.h"
#include "repro/emit_plan.h"
#include "repro/escape.h"

namespace dsafuzz {
namespace {

std::string_view purpose(Evidence evidence) {
  switch (evidence) {
    case Evidence::message: return "GivesNoSuchError";
    case Evidence::death: return "StaysAlive";
    case Evidence::timeout: return "ComesToAnEnd";
    case Evidence::return_: return "RefusesTheInput";
    case Evidence::difference: return "AgreesWithTheCpu";
  }
  return "";
}

std::string cpu_test(const Finding& finding) {
  const std::string message = cpu_message(finding.cpu_opinion);
  if (message.empty() || finding.signature.verdict == Verdict::host_reject) return {};
  return R"(
TEST(Repro, TheCpuRefusesTheInput) {
  if (!load_device("cpu")) GTEST_SKIP();
)" + cpp_line(1, "const std::string expected = " + cpp_string(message) + ";") +
         R"(  try {
    reproduce(at::Device("cpu"));
    FAIL() << "it returns";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
  }
}
)";
}

std::string device_test(Evidence evidence) {
  return std::string(R"(
TEST(Repro, TheDevice)") +
         std::string(purpose(evidence)) + R"() {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const char* chosen = std::getenv("REPRO_DEVICE");
  const std::string name = chosen ? chosen : "cuda";
  if (!load_device(name)) GTEST_SKIP() << "cannot run on " << name;
  EXPECT_EXIT(
      {
        alarm(60);
        std::_Exit(attempt(name));
      },
      ::testing::ExitedWithCode(0), "");
}
)";
}

}  // namespace

std::string emit_gtest(const Finding& finding) {
  const Evidence evidence = evidence_of(finding.signature.verdict);
  const CppProgram program = cpp_program(finding.minimal);
  CppHead head;
  if (!finding.cpu_opinion.empty()) {
    head.remarks.push_back("The CPU, on the same input: " + comment_text(finding.cpu_opinion, 80));
  }
  head.remarks.emplace_back(
      "REPRO_DEVICE=cpu, vcuda or cuda:N chooses the device (default: cuda). Fails while the bug is there.");
  head.by_name = program.calls_by_name;
  head.in_gtest = true;
  return cpp_head(finding, head) + program.text + cpp_attempt(finding) + cpu_test(finding) + device_test(evidence);
}

}  // namespace dsafuzz
