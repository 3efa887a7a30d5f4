// The C++ reproducer. It links torch_cpu and c10 alone: CUDA's part of LibTorch, or vcuda, is loaded at run time.
#include "repro/cpp_frame.h"
#include "repro/cpp_program.h"
#include "repro/emit.h"
#include "repro/emit_plan.h"

namespace dsafuzz {
namespace {

std::string main_function(Evidence evidence) {
  std::string out = "\nint main(int argc, char** argv) {\n  const std::string name = argc > 1 ? argv[1] : \"cuda\";\n";
  switch (evidence) {
    case Evidence::message:
    case Evidence::return_:
    case Evidence::difference:
      // No static destructors after a CUDA error: they would only fail again.
      out += "  std::_Exit(attempt(name));\n}\n";
      return out;
    case Evidence::death:
    case Evidence::timeout: break;
  }
  const bool hang = evidence == Evidence::timeout;
  out += std::string(R"(  // The attempt is made by a child, since the process itself does not survive it.
  const pid_t child = fork();
  if (child == 0) std::_Exit(attempt(name));
  int status = 0;
  for (int tenths = 0; waitpid(child, &status, WNOHANG) == 0; ++tenths) {
    if (tenths == 600) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      std::cout << name << ": no end within 60 s\n";
      return )") +
         (hang ? "1" : "0") + R"(;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 1 || WEXITSTATUS(status) == 125)) {
    return WEXITSTATUS(status);
  }
  std::cout << name << ": the process died\n";
  return )" +
         (hang ? "0" : "1") + ";\n}\n";
  return out;
}

}  // namespace

std::string emit_cpp(const Finding& finding) {
  const Evidence evidence = evidence_of(finding.signature.verdict);
  const CppProgram program = cpp_program(finding.minimal);
  CppHead head;
  head.by_name = program.calls_by_name;
  head.in_child = evidence == Evidence::death || evidence == Evidence::timeout;
  return cpp_head(finding, head) + program.text + cpp_attempt(finding) + main_function(evidence);
}

}  // namespace dsafuzz
