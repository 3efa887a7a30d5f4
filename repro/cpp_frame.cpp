#include "repro/cpp_frame.h"

#include <algorithm>
#include <string>
#include <utility>

#include "repro/emit_plan.h"
#include "repro/escape.h"

namespace dsafuzz {
namespace {

constexpr const char* kIncludes = R"(#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
)";

constexpr const char* kCall = R"(
// Calls an operator by name: the first overload that takes these arguments; those left out have their defaults.
static std::vector<at::IValue> call(const std::string& name, const std::string& overload,
                                    const std::vector<at::IValue>& arguments,
                                    const std::unordered_map<std::string, at::IValue>& named = {}) {
  auto& dispatcher = c10::Dispatcher::singleton();
  std::set<std::string> overloads{overload};
  if (overload.empty()) {
    for (const auto& op : dispatcher.getAllOpNames()) {
      if (op.name == name) overloads.insert(op.overload_name);
    }
  }
  for (const std::string& candidate : overloads) {
    const auto op = dispatcher.findSchema({name, candidate});
    if (!op) continue;
    auto stack = arguments;
    try {
      op->schema().checkAndNormalizeInputs(stack, named);
    } catch (const std::exception&) {
      continue;  // another overload's arguments
    }
    op->callBoxed(stack);
    return stack;
  }
  std::cout << "cannot run: no operator " << name << " takes these arguments\n";
  std::_Exit(125);
}
)";

// The device's part of LibTorch: nothing for the CPU.
std::string loading(const Case& c, const std::string& tool) {
  std::string out;
  out += R"(
// False: this machine lacks what the device needs; why is printed.
static bool load_device(const std::string& name) {
)";
  if (!tool.empty()) {
    out += "  // It takes a tool to see the bug. On a GPU: compute-sanitizer --tool " + tool + " PROGRAM\n";
    out += "  setenv(\"DSAFUZZ_VCUDA_TOOL\", \"" + tool + "\", 1);\n";
  }
  out += R"(  std::vector<std::string> libraries;
  if (name.rfind("cuda", 0) == 0) libraries.push_back("libtorch_cuda.so");
  if (name.rfind("vcuda", 0) == 0) {
    const char* path = std::getenv("DSAFUZZ_VCUDA_LIBRARY");
    libraries.push_back(path ? path : "DSAFUZZ_VCUDA_LIBRARY, which is not set");
  }
)";
  if (uses_own_operators(c)) {
    out += R"(  const char* listed = std::getenv("DSAFUZZ_OPS_LIBRARY");
  std::istringstream paths(listed ? listed : "");
  for (std::string path; std::getline(paths, path, ':');) libraries.push_back(path);
)";
  }
  out += R"(  for (const std::string& library : libraries) {
    if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL)) continue;
    std::cout << "cannot run on " << name << ": " << dlerror() << "\n";
    return false;
  }
  try {
    at::empty({0}, at::Device(name));
  } catch (const std::exception& error) {
    const std::string text = error.what();
    std::cout << "cannot run on " << name << ": " << text.substr(0, text.find('\n')) << "\n";
    return false;
  }
  return true;
}
)";
  return out;
}

std::string shows_test(const Finding& finding) {
  std::vector<std::string> parts;
  for (const std::string& text : expected_messages(finding)) {
    parts.push_back("result.find(" + cpp_string(text) + ") != std::string::npos");
  }
  if (parts.empty())
    return evidence_of(finding.signature.verdict) == Evidence::return_ ? "result == \"returned\"" : "false";
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : " || ") + part;
  return out;
}

std::string attempt(const Finding& finding) {
  std::string out;
  out += R"(
// 1: the bug shows; 0: it does not; 125: it cannot be run here.
static int attempt(const std::string& name) {
  if (!load_device(name)) return 125;
  std::string result = "returned";
)";
  if (evidence_of(finding.signature.verdict) == Evidence::difference) {
    out += R"(  bool shows = false;
  try {
    const at::Tensor found = reproduce(at::Device(name)).cpu().to(at::kDouble);
    const at::Tensor expected = reproduce(at::Device("cpu")).to(at::kDouble);
    shows = !at::allclose(found, expected, 1e-3, 1e-3, true);
    result = shows ? "differs from the CPU" : "agrees with the CPU";
  } catch (const std::exception& error) {
    result = error.what();
  }
)";
  } else {
    out += R"(  try {
    reproduce(at::Device(name));
  } catch (const std::exception& error) {
    result = error.what();
  }
)";
    out += "  const bool shows = " + shows_test(finding) + ";\n";
  }
  out += R"(  std::cout << name << ": " << result.substr(0, result.find('\n')) << "\n"
            << (shows ? "the bug shows" : "the bug does not show") << std::endl;
  return shows ? 1 : 0;
}
)";
  return out;
}

std::string main_function(Evidence evidence) {
  std::string out;
  out += "\nint main(int argc, char** argv) {\n  const std::string name = argc > 1 ? argv[1] : \"cuda\";\n";
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

std::string cpp_head(const Finding& finding) {
  std::string out;
  const Evidence evidence = evidence_of(finding.signature.verdict);
  const bool child = evidence == Evidence::death || evidence == Evidence::timeout;
  for (const std::string& line : headline(finding)) out += "// " + line + "\n";
  if (uses_own_operators(finding.minimal)) {
    out += "// Needs the dsafuzz operators: vcuda's library brings them; for another device set DSAFUZZ_OPS_LIBRARY.\n";
  }
  out += kIncludes;
  if (child) out += "#include <sys/wait.h>\n#include <unistd.h>\n";
  if (uses_modules(finding.minimal)) out += "#include <torch/csrc/jit/serialization/import.h>\n";
  out += "\n";
  if (child) out += "#include <chrono>\n";
  out +=
      "#include <cmath>\n#include <cstdint>\n#include <cstdlib>\n#include <iostream>\n#include <set>\n"
      "#include <string>\n";
  if (uses_own_operators(finding.minimal)) out += "#include <sstream>\n";
  if (child) out += "#include <thread>\n";
  out += "#include <unordered_map>\n#include <vector>\n";
  if (std::ranges::any_of(finding.minimal.steps, [](const Step& s) { return !s.op.starts_with("module:"); }))
    out += kCall;
  return out;
}

std::string cpp_frame(const Finding& finding) {
  return loading(finding.minimal, special_tool(finding)) + attempt(finding) +
         main_function(evidence_of(finding.signature.verdict));
}

}  // namespace dsafuzz
