#include "tests/repro/emit_example.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "repro/case_text.h"

namespace dsafuzz {

Ran run(const std::string& command) {
  Ran out;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return out;
  char buffer[4096];
  while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) out.output.append(buffer, n);
  const int status = pclose(pipe);
  out.code = WIFEXITED(status) ? WEXITSTATUS(status) : -2;
  return out;
}

namespace {
// Prints each program's exit code; what it printed lies in the file of its number.
constexpr const char* kRunner = R"(import os, runpy, sys, torch
for number, path in enumerate(sys.argv[2:]):
    child = os.fork()
    if child == 0:
        output = os.open(f"{sys.argv[1]}.{number}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.argv[:] = [path, "cpu"]
        sys.path[0] = os.path.dirname(path)
        runpy.run_path(path, run_name="__main__")
        sys.exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
)";
}  // namespace

std::vector<Ran> run_on_cpu(const std::vector<std::string>& paths) {
  std::string command = python() + " " + write("runner.py", kRunner) + " " + folder() + "/output";
  for (const std::string& path : paths) command += " " + path;
  const Ran all = run(command);
  std::istringstream codes(all.output);
  std::vector<Ran> out(paths.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!(codes >> out[i].code)) {
      ADD_FAILURE() << "the runner of " << paths[i] << " failed: " << all.output;
      break;
    }
    std::ifstream file(folder() + "/output." + std::to_string(i), std::ios::binary);
    out[i].output.assign(std::istreambuf_iterator<char>(file), {});
  }
  return out;
}

std::string folder() { return std::filesystem::temp_directory_path() / ("emit_test_" + std::to_string(getpid())); }

namespace {
class FolderOfThisRun : public ::testing::Environment {
  void TearDown() override { std::filesystem::remove_all(folder()); }
};
const auto* const kFolderOfThisRun = ::testing::AddGlobalTestEnvironment(new FolderOfThisRun);
}  // namespace

std::string write(const std::string& name, const std::string& text) {
  const std::filesystem::path path = folder() + "/" + name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string python() { return std::string(DSAFUZZ_PYTHON); }
bool has_torch() { return std::filesystem::exists(python()); }

Case case_of(const std::string& yaml) {
  auto c = parse_case(yaml, "test");
  if (!c) ADD_FAILURE() << c.error().text() << "\n" << yaml;
  return c.value_or(Case{});
}

Finding classic() {
  Finding f;
  f.signature = {Verdict::device_assert, "aten::cross_entropy_loss", "aten/src/ATen/native/cuda/Loss.cu",
                 "nll_loss_forward_reduce_cuda_kernel_2d", "t >= 0 && t < n_classes"};
  f.minimal = case_of(
      "case: classic\nseed: 0\nshapes: {batch: 1, classes: 1}\ntensors:\n"
      "  logits: {shape: [batch, classes], dtype: float32, fill: 0}\n"
      "  labels: {shape: [batch], dtype: int64, fill: 1}\n"
      "steps:\n  - loss = aten::cross_entropy_loss(logits, labels)\n");
  f.original = f.minimal;
  f.advice.cause = "labels[0] = 1 is not in [0, 1).";
  f.outcome.device = "vcuda";
  f.outcome.end = Outcome::End::threw;
  f.outcome.error_type = "c10::AcceleratorError";
  f.outcome.error = "CUDA error: device-side assert triggered\nmore";
  f.outcome.versions["torch"] = "2.11.0";
  f.confirmed = 3, f.confirmations = 3, f.executions = 21, f.one_minimal = true;
  return f;
}

Finding with_case(const std::string& yaml, Verdict verdict) {
  Finding f = classic();
  f.minimal = f.original = case_of(yaml);
  f.signature.verdict = verdict;
  return f;
}

const std::vector<std::string> kHostile = {
    "",
    "plain",
    "\"",
    "'",
    "\\",
    "ends with a backslash\\",
    "new\nline",
    "\r\n",
    "\"\"\"",
    "'''",
    "*/ code /*",
    "?\?/",
    "?\?/\nint x;",
    "?\?=",
    "`code`",
    "```\nbreak out\n```",
    "````",
    "${HOME}",
    "$(touch x)",
    "@VAR@ ${VAR} ;",
    "%s %n",
    "</script><img src=x>",
    "[link](javascript:0)",
    "\xff\xfe not UTF-8 \xc3",
    std::string("nul\0byte", 8),
    "\x1b[31mred",
    "\xc3\xa9t\xc3\xa9",
    "\xe2\x80\xae right to left",
    "\1"
    "7 digit after an escape",
    std::string(20'000, 'x'),
    "#include </etc/passwd>",
    "__import__('os').system('id')",
};

const std::string kTensors =
    "case: tensors\nseed: 3\nshapes: {n: 3}\ntensors:\n"
    "  a: {shape: [n, 4], dtype: float32, fill: arange, layout: transposed}\n"
    "  b: {shape: [n, 4], dtype: float32, fill: [1.5, .nan, .inf, -.inf], layout: expanded}\n"
    "  c: {shape: [2, n], dtype: int32, fill: arange, layout: offset}\n"
    "  d: {shape: [], dtype: int64, fill: 9223372036854775807}\n"
    "  e: {shape: [2], dtype: int64, fill: -9223372036854775808}\n"
    "  f: {shape: [0, 5], dtype: float16, fill: 1}\n"
    "  g: {shape: [100, n], dtype: bfloat16, fill: 2, set: {7: 0.5, 299: -1}}\n"
    "  h: {shape: [200], dtype: int16, fill: {randint: [-5, n]}}\n"
    "  i: {shape: [n], dtype: bool, fill: [1, 0]}\n"
    "  j: {shape: [40], dtype: int8, fill: arange}\n"
    "  k: {shape: [n], dtype: uint8, fill: 255}\n"
    "  l: {shape: [2, 2], dtype: float64, fill: 1.0e-300}\n"
    "  class: {shape: [300000], dtype: float32, fill: randn, set: {0: .nan}}\n"
    "  m: {shape: [60, 2], dtype: int64, fill: {randint: [0, 9]}}\n"
    "  n.o: {shape: [1], dtype: float32, fill: -0.0}\n"
    "steps:\n"
    "  - s = aten::sum(a)\n"
    "  - t = aten::sum.dim_IntList(b, [1], keepdim=true, dtype=float64)\n"
    "  - u, v = aten::max.dim(c, 1)\n"
    "  - w = aten::add(l, l, alpha=2)\n"
    "  - x = aten::cat([e, e])\n";

}  // namespace dsafuzz
