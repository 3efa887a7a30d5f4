#include "repro/cpp_frame.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "repro/emit_plan.h"
#include "repro/escape.h"

namespace dsafuzz {
namespace {

constexpr const char* kCall =
    R"(// Calls an operator by name: the first overload that takes these arguments; those left out have their defaults.
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
  std::cout << "cannot run: no operator " << name << " takes these arguments" << std::endl;
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

// Lines that set `shows`.
std::string shows_test(const Finding& finding) {
  const std::vector<std::string> expected = expected_messages(finding);
  if (expected.empty()) {
    const bool returns = evidence_of(finding.signature.verdict) == Evidence::return_;
    return cpp_line(1, std::string("const bool shows = ") + (returns ? "result == \"returned\";" : "false;"));
  }
  if (expected.size() == 1) {
    return cpp_line(1, "const bool shows = result.find(" + cpp_string(expected[0]) + ") != std::string::npos;");
  }
  std::vector<std::string> texts;
  for (const std::string& text : expected) texts.push_back(cpp_string(text));
  return cpp_line(1, "const char* const messages[] = {" + joined(texts) + "};") + cpp_line(1, "bool shows = false;") +
         cpp_line(1, "for (const char* message : messages) {") +
         cpp_line(2, "shows = shows || result.find(message) != std::string::npos;") + cpp_line(1, "}");
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
    out += shows_test(finding);
  }
  out += R"(  std::cout << name << ": " << result.substr(0, result.find('\n')) << "\n"
            << (shows ? "the bug shows" : "the bug does not show") << std::endl;
  return shows ? 1 : 0;
}
)";
  return out;
}

}  // namespace

std::string cpp_head(const Finding& finding, const CppHead& head) {
  std::string out;
  for (const std::string& line : headline(finding)) out += "// " + line + "\n";
  for (const std::string& line : head.remarks) out += "// " + line + "\n";
  if (uses_own_operators(finding.minimal)) {
    out += "// Needs the dsafuzz operators: vcuda's library brings them; for another device set DSAFUZZ_OPS_LIBRARY.\n";
  }
  std::vector<std::string> system{"ATen/ATen.h", "c10/core/impl/VirtualGuardImpl.h", "dlfcn.h"};
  std::vector<std::string> standard{"cmath", "cstdint", "cstdlib", "string", "vector"};
  if (finding.minimal.phase == Phase::forward) system.emplace_back("ATen/core/grad_mode.h");
  if (head.by_name) {
    system.emplace_back("ATen/core/dispatch/Dispatcher.h");
    standard.insert(standard.end(), {"set", "unordered_map"});
  }
  if (finding.minimal.precision == Precision::autocast_float16 ||
      finding.minimal.precision == Precision::autocast_bfloat16) {
    system.emplace_back("ATen/autocast_mode.h");
  }
  if (uses_modules(finding.minimal)) system.emplace_back("torch/csrc/jit/serialization/import.h");
  standard.emplace_back("iostream");
  if (uses_own_operators(finding.minimal)) standard.emplace_back("sstream");
  if (head.in_child) {
    system.insert(system.end(), {"sys/wait.h", "unistd.h"});
    standard.insert(standard.end(), {"chrono", "thread"});
  }
  if (head.in_gtest) {
    system.insert(system.end(), {"gtest/gtest.h", "unistd.h"});
  }
  const auto add = [&](std::vector<std::string>& names) {
    std::ranges::sort(names);
    for (const std::string& name : names) out += "#include <" + name + ">\n";
    out += "\n";
  };
  add(system);
  add(standard);
  return out + (head.by_name ? std::string(kCall) : std::string());
}

std::string cpp_line(int level, const std::string& line) {
  const std::string indent(static_cast<std::size_t>(level) * 2, ' ');
  const std::string whole = indent + line + "\n";
  if (whole.size() <= kCppWidth + 1 && !line.contains('\n')) return whole;
  return indent + "// clang-format off\n" + whole + indent + "// clang-format on\n";
}

std::string wrapped(const std::vector<std::string>& parts, std::size_t indent) {
  std::string out, line;
  for (const std::string& part : parts) {
    if (!line.empty() && line.size() + part.size() > 100) {
      out += line + ",\n" + std::string(indent, ' ');
      line.clear();
    }
    line += (line.empty() ? "" : ", ") + part;
  }
  return out + line;
}

std::string cpp_attempt(const Finding& finding) {
  return loading(finding.minimal, special_tool(finding)) + attempt(finding);
}

}  // namespace dsafuzz
