// Emitted programs are parsed by Python, and run on the CPU where torch is there: the CPU says with an exception what
// a GPU says with an assert, so a label bug must end with exit code 0 and show the CPU's own words.
#include "repro/emit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "repro/case_text.h"
#include "repro/escape.h"

namespace dsafuzz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Ran {
  int code = -1;
  std::string output;
};

// A command of fixed words and file names made here.
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

std::filesystem::path folder() {
  return std::filesystem::temp_directory_path() / ("emit_test_" + std::to_string(getpid()));
}

class FolderOfThisRun : public ::testing::Environment {
  void TearDown() override { std::filesystem::remove_all(folder()); }
};
const auto* const kFolderOfThisRun = ::testing::AddGlobalTestEnvironment(new FolderOfThisRun);

std::string write(const std::string& name, const std::string& text) {
  const auto path = folder() / name;
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

Finding with_case(const std::string& yaml, Verdict verdict = Verdict::device_assert) {
  Finding f = classic();
  f.minimal = f.original = case_of(yaml);
  f.signature.verdict = verdict;
  return f;
}

const std::string kHostile[] = {
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

TEST(Escape, PythonStringsReadBackAsTheirBytes) {
  if (!has_torch()) GTEST_SKIP() << "no Python at " << python();
  std::string program = "values = [\n", expected = "expected = [\n";
  for (const std::string& text : kHostile) {
    program += python_string(text) + ",\n";
    expected += "bytes([";
    for (const char c : text) expected += std::to_string(static_cast<unsigned char>(c)) + ",";
    expected += "]),\n";
  }
  const std::string path =
      write("strings.py", program + "]\n" + expected +
                              "]\nfor v, e in zip(values, expected):\n    assert v.encode('latin-1') == e, e\n");
  const Ran ran = run(python() + " " + path);
  EXPECT_EQ(ran.code, 0) << ran.output;
}

TEST(Escape, CppStringsReadBackAsTheirBytes) {
  std::string program = "#include <cstring>\nint main() {\n";
  for (const std::string& text : kHostile) {
    program += "{ const char a[] = " + cpp_string(text) + "; const unsigned char b[] = {";
    for (const char c : text) program += std::to_string(static_cast<unsigned char>(c)) + ",";
    program += "0}; if (sizeof a != sizeof b || std::memcmp(a, b, sizeof a)) return 1; }\n";
    program += "// " + comment_text(text) + "\n if (false) return 2;\n";
  }
  const std::string path = write("strings.cpp", program + "return 0; }\n");
  const Ran built = run(std::string(DSAFUZZ_CXX) + " -std=c++14 -trigraphs -w -o " + path + ".exe " + path);
  ASSERT_EQ(built.code, 0) << built.output.substr(0, 2000);
  EXPECT_EQ(run(path + ".exe").code, 0);
}

TEST(Escape, CommentsAndMarkdownStayInTheirPlace) {
  for (const std::string& text : kHostile) {
    SCOPED_TRACE(text.substr(0, 40));
    const std::string comment = comment_text(text);
    EXPECT_TRUE(std::ranges::all_of(comment, [](unsigned char c) { return c >= 0x20 && c < 0x7f; }));
    EXPECT_FALSE(comment.ends_with('\\'));
    EXPECT_FALSE(comment.ends_with("?\?/"));
    EXPECT_LT(comment.size(), 120u);
    EXPECT_THAT(markdown_code(text), Not(HasSubstr("\n")));
    EXPECT_THAT(markdown_text(text), Not(HasSubstr("\n")));
    // The closing fence is the last line, and no line before is a fence as long.
    const std::string block = markdown_block(text);
    const std::string fence = block.substr(0, block.find_first_not_of('`'));
    EXPECT_TRUE(block.ends_with("\n" + fence + "\n"));
    EXPECT_EQ(block.find("\n" + fence), block.size() - fence.size() - 2);
    EXPECT_FALSE(nlohmann::json(as_utf8(text)).dump().empty());  // throws on wrong UTF-8
  }
  EXPECT_EQ(cmake_string("a${b};\"c\"@d@"), "\"a\\${b}\\;\\\"c\\\"\\@d\\@\"");
}

TEST(Identifiers, AreUniqueAndNeverKeywords) {
  for (const auto language : {Identifiers::Language::python, Identifiers::Language::cpp}) {
    Identifiers names(language);
    std::set<std::string> seen;
    for (const char* name : {"a", "a", "a.b", "a_b", "class", "for", "torch", "device", "_", "__x", "at", "int", "call",
                             "9", "\xc3\xa9", "", "None", "print", "a_2"}) {
      const std::string made = names.make(name);
      EXPECT_TRUE(seen.insert(made).second) << made;
      EXPECT_TRUE(std::isalpha(static_cast<unsigned char>(made[0]))) << made;
    }
    for (const char* word : {"class", "for", "device", "int"}) EXPECT_FALSE(seen.contains(word));
  }
}

// --- Python --------------------------------------------------------------------------------------------------------

TEST(EmitPython, TheClassicIsShortAndSaysWhatIsWrong) {
  const std::string text = emit_python(classic());
  EXPECT_LT(std::ranges::count(text, '\n'), 25) << text;
  EXPECT_THAT(text, HasSubstr("# labels[0] = 1 is not in [0, 1)."));
  EXPECT_THAT(text, HasSubstr("logits = torch.zeros((1, 1), device=device)"));
  EXPECT_THAT(text, HasSubstr("labels = torch.tensor([1], device=device)"));
  EXPECT_THAT(text, HasSubstr("loss = torch.ops.aten.cross_entropy_loss(logits, labels)"));
  EXPECT_EQ(text, emit_python(classic()));
}

TEST(EmitPython, ExitCodesTellWhatHappened) {
  if (!has_torch()) GTEST_SKIP() << "no torch at " << python();
  const std::string classic_text = emit_python(classic());
  const std::string path = write("classic.py", classic_text);
  Ran ran = run(python() + " " + path + " cpu");
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_EQ(ran.output, "cpu: IndexError: Target 1 is out of bounds.\nthe bug does not show\n");
  ran = run("env -u PYTHONPATH " + python() + " " + path + " vcuda");
  EXPECT_EQ(ran.code, 125);
  EXPECT_EQ(ran.output, "cannot run on vcuda: No module named 'dsafuzz_vcuda'\n");
  ran = run("env CUDA_VISIBLE_DEVICES= " + python() + " " + path);
  EXPECT_EQ(ran.code, 125);
  EXPECT_EQ(std::ranges::count(ran.output, '\n'), 1) << ran.output;

  // The same program as a finding of the CPU: refused on the host with these words, so it shows.
  Finding host = classic();
  host.signature.verdict = Verdict::host_reject;
  host.outcome.error = "Target 1 is out of bounds.\nframe #0";
  ran = run(python() + " " + write("host.py", emit_python(host)) + " cpu");
  EXPECT_EQ(ran.code, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("the bug shows"));

  // silent: the CPU raises, so it does not show here.
  Finding silent = classic();
  silent.signature.verdict = Verdict::silent;
  EXPECT_EQ(run(python() + " " + write("silent.py", emit_python(silent)) + " cpu").code, 0);
  for (const Verdict verdict : {Verdict::memory_fault, Verdict::crash, Verdict::hang}) {
    Finding other = classic();
    other.signature.verdict = verdict;
    ran = run(python() + " " + write("other.py", emit_python(other)) + " cpu");
    EXPECT_EQ(ran.code, 0) << to_text(verdict) << "\n" << ran.output;
  }
}

constexpr const char* kTensors =
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
    "  - x = aten::cat([d2, d2])\n";

TEST(EmitPython, EveryTensorHasTheCasesContents) {
  if (!has_torch()) GTEST_SKIP() << "no torch at " << python();
  std::string yaml = kTensors;
  yaml.replace(yaml.find("[d2, d2]"), 8, "[e, e]");
  const Finding finding = with_case(yaml, Verdict::ok);
  std::string text = emit_python(finding);
  // Checks written by hand are put before the verdict is printed.
  const std::string checks =
      "assert a.stride() == (1, 3) and a.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]\n"
      "assert b.stride() == (0, 1) and b.shape == (3, 4) and b[2][0] == 1.5 and b[1][1] != b[1][1]\n"
      "assert b[0][2] == float('inf') and b[0][3] == -float('inf')\n"
      "assert c.storage_offset() == 1 and c.dtype == torch.int32 and c.tolist() == [[0, 1, 2], [3, 4, 5]]\n"
      "assert d.item() == 2**63 - 1 and d.dtype == torch.int64 and d.shape == ()\n"
      "assert e.tolist() == [-2**63, -2**63]\n"
      "assert f.shape == (0, 5) and f.dtype == torch.float16\n"
      "assert g.dtype == torch.bfloat16 and g.flatten()[7] == 0.5 and g.flatten()[299] == -1 and g.float().sum() == "
      "595.5\n"
      "assert h.dtype == torch.int16 and h.min() >= -5 and h.max() < 3\n"
      "assert i.tolist() == [True, False, True]\n"
      "assert j.dtype == torch.int8 and j.tolist() == list(range(40))\n"
      "assert k.tolist() == [255] * 3 and k.dtype == torch.uint8\n"
      "assert l.dtype == torch.float64 and l[1][1].item() == 1e-300\n"
      "assert class_2.shape == (300000,) and class_2.isnan().sum() == 1\n"
      "assert m.shape == (60, 2) and m.max() <= 8\n"
      "assert n_o.dtype == torch.float32 and str(n_o.item()) == '-0.0'\n"
      "assert t.dtype == torch.float64 and v.tolist() == [2, 2] and x.shape == (4,)\n";
  text.insert(text.find("shows = "), checks);
  const Ran ran = run(python() + " " + write("tensors.py", text) + " cpu");
  EXPECT_EQ(ran.code, 1) << ran.output << text.substr(0, 4000);
  EXPECT_THAT(ran.output, HasSubstr("the bug shows"));  // an assertion above would end it with 1 too
}

TEST(EmitPython, PrecisionAndBackwardRun) {
  if (!has_torch()) GTEST_SKIP() << "no torch at " << python();
  const std::string body =
      "shapes: {}\ntensors:\n  x: {shape: [2, 3], dtype: float32, fill: 1}\n"
      "  w: {shape: [4, 3], dtype: float32, fill: 2, parameter: true}\nsteps:\n  - y = aten::linear(x, w)\n";
  struct Row {
    const char* modes;
    const char* check;
  };
  const Row rows[] = {
      {"phase: backward\n", "assert w.grad.tolist() == [[2.0] * 3] * 4 and x.grad is None\n"},
      {"precision: half\n", "assert x.dtype == w.dtype == y.dtype == torch.float16\n"},
      {"precision: bfloat16\nphase: backward\n", "assert w.grad.dtype == torch.bfloat16\n"},
      {"precision: autocast_bfloat16\n", "assert x.dtype == torch.float32 and y.dtype == torch.bfloat16\n"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.modes);
    std::string text = emit_python(with_case(std::string("case: modes\n") + row.modes + body, Verdict::ok));
    text.insert(text.find("shows = "), row.check);
    const Ran ran = run(python() + " " + write("modes.py", text) + " cpu");
    EXPECT_EQ(ran.code, 1) << ran.output << text;
    EXPECT_THAT(ran.output, HasSubstr("the bug shows"));
  }
  const Finding wrong = with_case("case: modes\n" + body, Verdict::wrong_result);
  const Ran ran = run(python() + " " + write("wrong.py", emit_python(wrong)) + " cpu");
  EXPECT_EQ(ran.code, 0) << ran.output << emit_python(wrong);
}

TEST(EmitPython, HostileTextIsHarmless) {
  if (!has_torch()) GTEST_SKIP() << "no Python at " << python();
  int number = 0;
  std::string paths;
  for (const std::string& text : kHostile) {
    Finding f = classic();
    f.advice.cause = f.signature.condition = f.signature.kernel = f.outcome.error = text;
    if (text.size() < 1000) f.minimal.steps[0].arguments.push_back({"reduction", {text}});
    f.minimal.tensors[0].name = "import";
    f.minimal.steps[0].arguments[0].value.v = Name{"import"};
    f.signature.verdict = kVerdicts[static_cast<std::size_t>(number) % kVerdicts.size()];
    paths += " " + write("hostile" + std::to_string(number++) + ".py", emit_python(f));
  }
  const Ran ran = run(python() + " -m py_compile" + paths);
  EXPECT_EQ(ran.code, 0) << ran.output.substr(0, 3000);
}

TEST(EmitPython, OwnOperatorsAndModulesSayWhatTheyNeed) {
  const std::string own = emit_python(with_case(
      "case: own\nshapes: {}\ntensors:\n  x: {shape: [2], dtype: float32, fill: 0}\nsteps:\n  - dsafuzz::free(x)\n"));
  EXPECT_THAT(own, HasSubstr("torch.ops.dsafuzz.free(x)"));
  EXPECT_THAT(own, HasSubstr("DSAFUZZ_OPS_LIBRARY"));
  const std::string module =
      emit_python(with_case("case: own\nshapes: {}\ntensors:\n  x: {shape: [2], dtype: float32, fill: 0}\nsteps:\n  - "
                            "y = module:net.pt(x)\n"));
  EXPECT_THAT(module, HasSubstr("torch.jit.load("));
  EXPECT_THAT(module, HasSubstr("beside this program"));
}

// --- C++ -----------------------------------------------------------------------------------------------------------

TEST(EmitCpp, TextHasTheOperatorAndTheValues) {
  const std::string text = emit_cpp(classic());
  EXPECT_THAT(text, HasSubstr("// labels[0] = 1 is not in [0, 1)."));
  EXPECT_THAT(text, HasSubstr("call(\"aten::cross_entropy_loss\", \"\", {logits, labels})"));
  EXPECT_THAT(text, HasSubstr("device-side assert triggered"));
  EXPECT_EQ(text, emit_cpp(classic()));
}

TEST(EmitCpp, BuildsAndRunsOnTheCpu) {
  if (!std::getenv("DSAFUZZ_SLOW_TESTS")) GTEST_SKIP() << "set DSAFUZZ_SLOW_TESTS=1: compiling takes a minute";
  std::string yaml = kTensors;
  yaml.replace(yaml.find("[d2, d2]"), 8, "[e, e]");
  struct Row {
    std::string name;
    Finding finding;
    int code;
    std::string output;
  };
  const Row rows[] = {
      {"classic", classic(), 0, "cpu: Target 1 is out of bounds.\nthe bug does not show\n"},
      {"tensors", with_case(yaml, Verdict::ok), 1, "cpu: returned\nthe bug shows\n"},
      {"crash", with_case(yaml, Verdict::crash), 0, "the bug does not show"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    write(row.name + "/repro.cpp", emit_cpp(row.finding));
    write(row.name + "/CMakeLists.txt", emit_cmake(row.finding));
    const std::string at = folder() / row.name;
    const Ran built = run("cmake -S " + at + " -B " + at + "/b -G Ninja -DCMAKE_CXX_COMPILER=" + DSAFUZZ_CXX +
                          " -DTORCH_DIR=" + DSAFUZZ_TORCH + " && cmake --build " + at + "/b");
    ASSERT_EQ(built.code, 0) << built.output;
    const Ran ran = run(at + "/b/repro cpu");
    EXPECT_EQ(ran.code, row.code) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(row.output));
    EXPECT_EQ(run("env -u DSAFUZZ_VCUDA_LIBRARY " + at + "/b/repro vcuda").code, 125);
  }
}

// --- Report and JSON -----------------------------------------------------------------------------------------------

TEST(EmitReport, SaysWhereItWasFoundAndNeverClaimsAGpu) {
  Finding f = classic();
  f.evidence = {"Loss.cu:250: x: block: [0,0,0] Assertion `t >= 0` failed.", "```", "## not a heading"};
  f.cpu_opinion = "raises IndexError: Target 1 is out of bounds.";
  f.earliest_frame = Frame{"main", "train.py", 12};
  f.advice.guard = "assert labels.max() < classes";
  const std::string text = emit_report(f);
  EXPECT_THAT(text, HasSubstr("Found on vcuda, the virtual CUDA device; not run on a GPU."));
  EXPECT_THAT(text, HasSubstr("3 of 3 fresh processes"));
  EXPECT_THAT(text, HasSubstr("1-minimal"));
  EXPECT_THAT(text, HasSubstr("````text\n"));  // longer than the fence inside
  EXPECT_THAT(text, HasSubstr("train.py:12"));
  EXPECT_THAT(text, HasSubstr("torch: 2.11.0"));
  f.outcome.device = "cuda:0";
  f.outcome.versions["gpu"] = "NVIDIA H200";
  f.one_minimal = false;
  const std::string gpu = emit_report(f);
  EXPECT_THAT(gpu, Not(HasSubstr("not run on a GPU")));
  EXPECT_THAT(gpu, HasSubstr("NVIDIA H200"));
  EXPECT_THAT(gpu, HasSubstr("Not minimal"));
}

TEST(EmitJson, HoldsTheCasesAndSurvivesAnyText) {
  const auto json = nlohmann::json::parse(emit_json(classic()));
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["signature"]["verdict"], "device_assert");
  EXPECT_EQ(json["on_gpu"], false);
  const auto back = parse_case(json["minimal"].get<std::string>(), "json");
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(*back, classic().minimal);
  for (const std::string& text : kHostile) {
    Finding f = classic();
    f.outcome.log = f.outcome.error = f.signature.condition = text;
    f.evidence = {text};
    f.earliest_frame = Frame{text, text, 1};
    f.outcome.versions[text] = text;
    EXPECT_FALSE(nlohmann::json::parse(emit_json(f), nullptr, false).is_discarded());
    EXPECT_FALSE(emit_report(f).empty());
  }
}

}  // namespace
}  // namespace dsafuzz
