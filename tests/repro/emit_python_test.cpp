// Emitted programs are parsed by Python, and run on the CPU where torch is there: the CPU says with an exception what
// a GPU says with an assert, so a label bug must end with exit code 0 and show the CPU's own words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "repro/emit.h"
#include "tests/repro/emit_example.h"

namespace dsafuzz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(EmitPython, TheClassicIsShortAndSaysWhatIsWrong) {
  const std::string text = emit_python(classic());
  EXPECT_LT(std::ranges::count(text, '\n'), 25) << text;
  EXPECT_THAT(text, HasSubstr("# labels[0] = 1 is not in [0, 1)."));
  EXPECT_THAT(text, HasSubstr("logits = torch.zeros((1, 1), device=device)"));
  EXPECT_THAT(text, HasSubstr("labels = torch.tensor([1], device=device)"));
  EXPECT_THAT(text, HasSubstr("loss = torch.nn.functional.cross_entropy(logits, labels)"));
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

  // The same program as a finding of the CPU, refused on the host with these words, shows there. What other devices
  // show does not: the CPU raises.
  std::vector<std::string> paths;
  const std::vector<Verdict> verdicts{Verdict::host_reject, Verdict::silent, Verdict::memory_fault, Verdict::crash,
                                      Verdict::hang};
  for (const Verdict verdict : verdicts) {
    Finding f = classic();
    f.signature.verdict = verdict;
    if (verdict == Verdict::host_reject) f.outcome.error = "Target 1 is out of bounds.\nframe #0";
    paths.push_back(write(std::string(to_text(verdict)) + ".py", emit_python(f)));
  }
  // No process owns what lies 8 GB behind ten numbers, so the CPU dies of the access that is the fault.
  const Finding fault = with_case(
      "case: fault\nshapes: {}\ntensors:\n  x: {shape: [50, 1, 10], dtype: float32, fill: -2.3}\n"
      "  labels: {shape: [1], dtype: int64, fill: 2147483647}\n"
      "steps:\n  - loss = aten::ctc_loss.IntList(x, labels, [1], [1])\n",
      Verdict::memory_fault);
  paths.push_back(write("fault.py", emit_python(fault)));
  const std::vector<Ran> runs = run_on_cpu(paths);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    SCOPED_TRACE(paths[i] + "\n" + runs[i].output);
    const bool shows = i >= verdicts.size() || verdicts[i] == Verdict::host_reject;
    EXPECT_EQ(runs[i].code, shows ? 1 : 0);
    EXPECT_THAT(runs[i].output, HasSubstr(shows ? "the bug shows" : "the bug does not show"));
  }
}

TEST(EmitPython, EveryTensorHasTheCasesContents) {
  if (!has_torch()) GTEST_SKIP() << "no torch at " << python();
  const Finding finding = with_case(kTensors, Verdict::ok);
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
      "assert l_2.dtype == torch.float64 and l_2[1][1].item() == 1e-300\n"
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
  std::vector<std::string> paths;
  for (const Row& row : rows) {
    std::string text = emit_python(with_case(std::string("case: modes\n") + row.modes + body, Verdict::ok));
    text.insert(text.find("shows = "), row.check);
    paths.push_back(write("modes" + std::to_string(paths.size()) + ".py", text));
  }
  const Finding wrong = with_case("case: modes\n" + body, Verdict::wrong_result);
  paths.push_back(write("wrong.py", emit_python(wrong)));
  const std::vector<Ran> runs = run_on_cpu(paths);
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    SCOPED_TRACE(rows[i].modes + runs[i].output);
    EXPECT_EQ(runs[i].code, 1);
    EXPECT_THAT(runs[i].output, HasSubstr("the bug shows"));  // a failed assertion ends it with 1 too
  }
  EXPECT_EQ(runs.back().code, 0) << runs.back().output;
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

}  // namespace
}  // namespace dsafuzz
