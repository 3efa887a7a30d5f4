// Debugging runs as far as they are pure: the program that runs, and what is read from the tools' output.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "repro/case_text.h"
#include "repro/debug_report.h"
#include "repro/parse_dsa.h"

namespace dsafuzz {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Case classic(Phase phase = Phase::forward, Precision precision = Precision::none) {
  auto c = parse_case(
      "case: linear_cross_entropy\n"
      "shapes: {batch: 2, classes: 3}\n"
      "tensors:\n"
      "  labels: {shape: [batch], dtype: int64, fill: 3}\n"
      "  logits: {shape: [batch, classes], dtype: float32, fill: 0}\n"
      "steps:\n"
      "  - scaled = aten::mul(logits, 2.0)\n"
      "  - loss = aten::cross_entropy_loss(scaled, labels)\n",
      "classic.yaml");
  EXPECT_TRUE(c) << c.error().text();
  c->phase = phase;
  c->precision = precision;
  return *c;
}

std::string log_sample(const std::string& name) {
  std::ostringstream out;
  out << std::ifstream(std::string(DSAFUZZ_LOG_SAMPLES) + "/" + name + ".log", std::ios::binary).rdbuf();
  EXPECT_FALSE(out.str().empty()) << name;
  return out.str();
}

// The number of the program's line that holds `text`.
int line_with(const DebugProgram& program, const std::string& text) {
  std::istringstream in(program.text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find(text) != std::string::npos) return number;
  }
  ADD_FAILURE() << text << " is not in\n" << program.text;
  return 0;
}

TEST(DebugProgram, LinesBelongToSteps) {
  struct Row {
    std::string text;
    int step;
    std::string op;
  };
  for (const Precision precision : {Precision::none, Precision::autocast_float16}) {
    const DebugProgram program = debug_program(classic(Phase::backward, precision));
    const Row rows[] = {{"import torch", -1, "inputs"},
                        {"labels = ", -1, "inputs"},
                        {"scaled = ", 0, "aten::mul"},
                        {"loss = ", 1, "aten::cross_entropy_loss"},
                        {"loss.sum().backward()", 2, "backward"},
                        {".synchronize(device)", 2, "synchronize"}};
    for (const Row& row : rows) {
      SCOPED_TRACE(row.text);
      const auto place = program.place_of(line_with(program, row.text));
      ASSERT_TRUE(place);
      EXPECT_EQ(place->step, row.step);
      EXPECT_EQ(place->op, row.op);
      EXPECT_THAT(place->source, HasSubstr(row.text));
      EXPECT_THAT(place->source, Not(testing::StartsWith(" ")));
    }
    EXPECT_FALSE(program.place_of(0));
    EXPECT_FALSE(program.place_of(10'000));
  }
}

// As gdb 13 prints it, of a kernel with barriers, whose threads have stacks of their own.
constexpr const char* kGdbLog = R"(Catchpoint 1 (load)
Breakpoint 2 at 0x7fff3cfd24f0: file /src/kernels/vcuda/launch.cpp, line 256.

Thread 1 "python" hit Breakpoint 2, fail () at /src/kernels/vcuda/launch.cpp:256
256	void fail(const AssertSite& site) {

[dsafuzz] stopped in the kernel: block (2,0,1), thread (17,3,0)
#0  fail () at /src/kernels/vcuda/launch.cpp:256
256	void fail(const AssertSite& site) {
#1  0x00007fff3cff4ad2 in nll_loss_forward_reduce_cuda_kernel_2d<float, long> () at /src/kernels/loss/nll_loss.cu:84
84	      ASSERT_LABEL(245, "nll_loss_forward_reduce_cuda_kernel_2d", t, n_classes);
#2  0x00007fff3cff40b5 in operator() () at /src/kernels/loss/nll_loss.cu:209
209	/src/kernels/loss/nll_loss.cu: No such file or directory.
#3  0x00007ffff6ccb23f in ?? () from /lib/x86_64-linux-gnu/libboost_context.so.1.74.0
/pytorch/aten/src/ATen/native/cuda/Loss.cu:245: nll_loss_forward_reduce_cuda_kernel_2d: block: [2,0,1], thread: [17,3,0] Assertion `t >= 0 && t < n_classes` failed.
#9  a later stop is not looked at
)";

TEST(ParseHostGdb, ReadsTheStopInAKernel) {
  const HostGdbStop stop = parse_host_gdb(read_log_text(kGdbLog));
  EXPECT_TRUE(stop.stopped);
  EXPECT_EQ(stop.block, (Triple{2, 0, 1}));
  EXPECT_EQ(stop.thread, (Triple{17, 3, 0}));
  ASSERT_EQ(stop.frames.size(), 4);
  ASSERT_TRUE(stop.kernel());
  EXPECT_EQ(stop.kernel()->function, "nll_loss_forward_reduce_cuda_kernel_2d<float, long>");
  EXPECT_EQ(stop.kernel()->file, "/src/kernels/loss/nll_loss.cu");
  EXPECT_EQ(stop.kernel()->line, 84);
  EXPECT_THAT(stop.kernel()->source, HasSubstr("ASSERT_LABEL(245"));
  EXPECT_EQ(stop.frames[2].function, "operator()");
  EXPECT_EQ(stop.frames[3].function, "??");
}

// gdb 13 again: what was stopped in, a kernel and what launched it; a frame without debug information prints nothing.
TEST(ParseHostGdb, ReadsArgumentsAndLocals) {
  const HostGdbStop stop = parse_host_gdb(
      read_log_text("[dsafuzz] stopped in the kernel: block (0,0,0), thread (1,0,0)\n"
                    "#0  0x7f in fail () at /src/kernels/vcuda/launch.cpp:264\n"
                    "#1  0x7f in k<float> (output=..., n=..., input=...) at /src/kernels/loss/k.cu:91\n"
                    "#2  0x7f in launch_k (n=...) at /src/kernels/loss/k.cu:120\n"
                    "\n[dsafuzz] arguments\n"
                    "#1  0x7f in k<float> (output=..., n=..., input=...) at /src/kernels/loss/k.cu:91\n"
                    "output = 0x700000000a00\nn = 3\ninput = <optimized out>\n"
                    "#2  0x7f in launch_k (n=...) at /src/kernels/loss/k.cu:120\nn = 4\n"
                    "\n[dsafuzz] locals\n"
                    "#1  0x7f in k<float> (output=..., n=..., input=...) at /src/kernels/loss/k.cu:91\n"
                    "t = 5\nt = 7\nlosses = {1.5, 0 <repeats 31 times>}\n"
                    "total = <error reading variable total (That operation is not available.)>\n"
                    "kSite = {file = 0x1 <str> \"a = b\"}\n"
                    "#9  0x7f in unknown () at /src/a.cpp:1\nx = 1\n"
                    "#2  0x7f in launch_k (n=...) at /src/kernels/loss/k.cu:120\ny = 2\n"
                    "/pytorch/aten/Loss.cu:245: k: block: [0,0,0], thread: [1,0,0] Assertion `t < n` failed.\n"
                    "printed = later\n"));
  using Values = std::vector<HostGdbValue>;
  ASSERT_EQ(stop.frames.size(), 3);
  EXPECT_EQ(stop.frames[0].arguments, Values{});
  EXPECT_EQ(stop.frames[1].function, "k<float>");
  EXPECT_EQ(stop.frames[1].arguments, (Values{{"output", "0x700000000a00"}, {"n", "3"}}));
  EXPECT_EQ(stop.frames[1].locals, (Values{{"t", "5"}, {"losses", "{1.5, 0 <repeats 31 times>}"}}));
  EXPECT_EQ(stop.frames[2].arguments, (Values{{"n", "4"}}));
  EXPECT_EQ(stop.frames[2].locals, (Values{{"y", "2"}}));
}

// A source that was edited after the build.
TEST(ParseHostGdb, WarningsBetweenFramesEndNothing) {
  const HostGdbStop stop =
      parse_host_gdb(read_log_text("[dsafuzz] stopped in the kernel\n#0  fail () at /src/kernels/vcuda/launch.cpp:257\n"
                                   "warning: Source file is more recent than executable.\n257\t  if (in_kernel()) {\n"
                                   "#1  0x7f in k () at /src/kernels/loss/nll_loss.cu:84\n"));
  ASSERT_EQ(stop.frames.size(), 2);
  EXPECT_EQ(stop.frames[0].source, "if (in_kernel()) {");
  EXPECT_TRUE(stop.kernel());
}

TEST(ParseHostGdb, FindsNothingInOtherTexts) {
  for (const std::string text : {"", "#0  main () at a.cpp:1\n1\tint main() {\n", "[dsafuzz]", "No symbol table."}) {
    const HostGdbStop stop = parse_host_gdb(read_log_text(text));
    EXPECT_FALSE(stop.stopped) << text;
    EXPECT_TRUE(stop.frames.empty()) << text;
  }
}

TEST(Dsa, TextIsReadBackAsTheSameRecord) {
  const LogReading reading = parse_log(
      "/pytorch/aten/src/ATen/native/cuda/Loss.cu:245: nll_loss_forward_reduce_cuda_kernel_2d: block: [2,0,1], thread: "
      "[17,3,0] Assertion `t >= 0 && t < n_classes` failed.\n");
  const AssertReading back = parse_dsa(read_log_text(dsa_text(reading, 1)));
  ASSERT_EQ(back.records.size(), 1);
  const AssertRecord &was = reading.asserts.records[0], &is = back.records[0];
  EXPECT_EQ(is.file, was.file);
  EXPECT_EQ(is.line, was.line);
  EXPECT_EQ(is.function, was.function);
  EXPECT_EQ(is.condition, was.condition);
  EXPECT_EQ(is.block, was.block);
  EXPECT_EQ(is.thread, was.thread);
  EXPECT_EQ(back.count, 1);
  EXPECT_EQ(dsa_text(parse_log("nothing"), 0), "");
}

DebugOutput ran(const std::string& what, int exit_code, const std::string& output) {
  DebugOutput out;
  out.what = what;
  out.exit_code = exit_code;
  out.output = output;
  return out;
}

DebugReport report_of(const Case& c, DebugTool tool, const std::vector<DebugOutput>& outputs) {
  DebugReport report;
  report.case_file = "case.yaml";
  report.tool = tool;
  report.device = *parse_device("cuda:0");
  const DebugProgram program = debug_program(c);
  for (const DebugOutput& output : outputs) report.runs.push_back(read_debug_run(output, program, "program.py"));
  judge_debug_runs(c, report);
  return report;
}

std::string traceback(int line, const std::string& error) {
  return "Traceback (most recent call last):\n  File \"/o/program.py\", line " + std::to_string(line) +
         ", in <module>\n    x\n" + error + "\n";
}

TEST(DebugReport, PutsTheLateErrorBesideTheTrueOne) {
  const Case c = classic(Phase::backward);
  const DebugProgram program = debug_program(c);
  const std::string line =
      "/pytorch/aten/src/ATen/native/cuda/Loss.cu:245: nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], "
      "thread: [1,0,0] Assertion `t >= 0 && t < n_classes` failed.\n";
  const std::string error = "torch.AcceleratorError: CUDA error: device-side assert triggered";
  const DebugReport report =
      report_of(c, DebugTool::blocking,
                {ran("asynchronous", 1, line + traceback(line_with(program, ".backward()"), error)),
                 ran("blocking", 1, line + traceback(line_with(program, "loss = "), error))});
  EXPECT_EQ(report.first, 1);
  EXPECT_EQ(report.diagnosis.signature.verdict, Verdict::device_assert);
  EXPECT_EQ(report.diagnosis.signature.op, "aten::cross_entropy_loss");
  EXPECT_THAT(report.advice.cause, HasSubstr("labels"));
  EXPECT_THAT(debug_text(report), HasSubstr("believe the blocking one"));
  EXPECT_THAT(report.cascade, ElementsAre(HasSubstr("device-side assert triggered")));
  const auto json = nlohmann::json::parse(debug_json(report));
  EXPECT_EQ(json["surfaced"][0]["operator"], "backward");
  EXPECT_EQ(json["surfaced"][1]["operator"], "aten::cross_entropy_loss");
  EXPECT_EQ(json["surfaced"][1]["step"], 1);
  EXPECT_EQ(json["first_fault"]["thread"], (std::vector{1, 0, 0}));
}

// PyTorch without its cache, on a GPU: cudaFree fails after the fault, in a destructor. faulthandler then has the line.
TEST(DebugReport, AnAbortedProcessStillHasItsLine) {
  const Case c = classic();
  const std::string line = std::to_string(line_with(debug_program(c), "loss = "));
  const DebugReport report =
      report_of(c, DebugTool::blocking,
                {ran("blocking", -1,
                     "terminate called after throwing an instance of 'c10::AcceleratorError'\n"
                     "  what():  CUDA error: an illegal memory access was encountered\n\n"
                     "Fatal Python error: Aborted\n\nCurrent thread 0x00007fb09510fb80 (most recent call first):\n"
                     "  File \"/v/lib/python3.11/site-packages/torch/nn/functional.py\", line 3 in cross_entropy\n"
                     "  File \"/o/program.py\", line " +
                         line + " in <module>\n\nended by signal 6")});
  EXPECT_EQ(report.diagnosis.signature.verdict, Verdict::memory_fault);
  EXPECT_EQ(report.diagnosis.signature.op, "aten::cross_entropy_loss");
  EXPECT_EQ(report.runs[0].error, "c10::AcceleratorError: CUDA error: an illegal memory access was encountered");
  EXPECT_THAT(debug_text(report), HasSubstr("program.py:" + line + ", step 2"));
  EXPECT_THAT(report.notes, testing::Contains(HasSubstr("cudaFree")));
}

TEST(DebugReport, DsaNamesTheDeviceThatFailed) {
  struct Row {
    std::string steps;
    int device;
  };
  const Row rows[] = {{"  - loss = aten::cross_entropy_loss(there, labels)\n", 1},
                      {"  - a = aten::mul(there, 2.0)\n  - loss = aten::cross_entropy_loss(a, labels)\n", 1},
                      {"  - a = aten::to.other(here, there)\n  - loss = aten::cross_entropy_loss(a, labels)\n", 1},
                      {"  - loss = aten::cross_entropy_loss(here, labels)\n", 0}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.steps);
    const auto c = parse_case(
        "case: two_devices\nshapes: {n: 2}\ntensors:\n"
        "  here: {shape: [n, 3], dtype: float32, fill: 0}\n"
        "  there: {shape: [n, 3], dtype: float32, fill: 0, device: 1}\n"
        "  labels: {shape: [n], dtype: int64, fill: 3, device: " +
            std::to_string(row.device) + "}\nsteps:\n" + row.steps,
        "two.yaml");
    ASSERT_TRUE(c) << c.error().text();
    const DebugReport report = report_of(
        *c, DebugTool::dsa,
        {ran("run", 1, traceback(line_with(debug_program(*c), "loss = "), "torch.AcceleratorError: CUDA error: x"))});
    EXPECT_EQ(report.failing_device, row.device);
  }
}

TEST(DebugReport, FirstFaultAndCascadeOfRecordedLogs) {
  struct Row {
    const char* log;
    DebugTool tool;
    Verdict verdict;
    std::string kernel;  // part of it
    std::size_t cascade_at_least;
  };
  // What the logs hold is in the .expected.json files beside them.
  const Row rows[] = {
      {"e02_memcheck_2024_two_line_frames", DebugTool::memcheck, Verdict::memory_fault, "", 0},
      {"e14_racecheck_analysis", DebugTool::racecheck, Verdict::memory_fault, "", 0},
      {"e18_synccheck", DebugTool::synccheck, Verdict::memory_fault, "", 0},
      {"f02_gdb_illegal_address", DebugTool::cuda_gdb, Verdict::memory_fault, "cell_fill", 0},
      {"f08_cudacore_assert", DebugTool::coredump, Verdict::device_assert, "indexSelectSmallIndex", 0},
      {"m28_pytorch_and_sanitizer_and_gdb_in_one", DebugTool::memcheck, Verdict::device_assert, "", 1},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.log);
    const DebugReport report = report_of(classic(), row.tool, {ran("run", 1, log_sample(row.log))});
    EXPECT_EQ(report.diagnosis.signature.verdict, row.verdict);
    EXPECT_THAT(report.diagnosis.signature.kernel, HasSubstr(row.kernel));
    EXPECT_GE(report.cascade.size(), row.cascade_at_least);
    const auto json = nlohmann::json::parse(debug_json(report));
    EXPECT_FALSE(json["first_fault"].is_null());
    EXPECT_THAT(debug_text(report), HasSubstr("first fault:  " + std::string(to_text(row.verdict))));
  }
}

TEST(DebugReport, ACleanRunIsNoFault) {
  Case healthy = classic();
  healthy.tensors[0].fill.constant = std::int64_t{2};
  const DebugReport report = report_of(healthy, DebugTool::memcheck, {ran("run", 0, log_sample("e26_clean"))});
  EXPECT_FALSE(report.fault());
  EXPECT_THAT(debug_text(report), HasSubstr("nothing wrong was seen"));
  EXPECT_THAT(debug_text(report_of(healthy, DebugTool::blocking, {ran("asynchronous", 0, ""), ran("blocking", 0, "")})),
              Not(HasSubstr("surfaced")));
  EXPECT_TRUE(nlohmann::json::parse(debug_json(report))["first_fault"].is_null());
}

TEST(DebugReport, AnIllegalLabelThatNoToolSawIsSilent) {
  const DebugReport report = report_of(classic(), DebugTool::memcheck, {ran("run", 0, log_sample("e26_clean"))});
  EXPECT_EQ(report.diagnosis.signature.verdict, Verdict::silent);
  EXPECT_EQ(report.diagnosis.signature.op, "aten::cross_entropy_loss");
}

TEST(DebugReport, ADebuggersExitCodeIsNotTheProgramS) {
  struct Row {
    std::string output;
    Verdict verdict;
    bool failed;
  };
  // gdb ends with 1 whenever a command of its script failed, as those behind the program's end do.
  const Row rows[] = {
      {"[Inferior 1 (process 7) exited normally]\nNo registers.\n", Verdict::ok, false},
      {"[Inferior 1 (process 7) exited with code 0175]\n", Verdict::crash, false},
      {"Thread 1 \"python\" received signal SIGSEGV, Segmentation fault.\n", Verdict::crash, false},
      {"warning: x\nptrace: Operation not permitted.\n", Verdict::ok, true},
      {"", Verdict::ok, true},
  };
  Case healthy = classic();
  healthy.tensors[0].fill.constant = std::int64_t{2};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.output);
    DebugOutput output = ran("under gdb", 1, row.output);
    output.debugger = true;
    const DebugReport report = report_of(healthy, DebugTool::cuda_gdb, {output});
    EXPECT_EQ(report.diagnosis.signature.verdict, row.verdict);
    EXPECT_EQ(!report.failed.empty(), row.failed) << report.failed;
  }
}

TEST(DebugReport, AStackLeadsFromTheKernelToTheOperator) {
  DebugOutput output = ran("under gdb", 1,
                           "[dsafuzz] stopped in the kernel: block (0,0,0), thread (0,0,0)\n"
                           "#0  vcuda::end_grid()@plt ()\n#1  k () at /s/kernels/custom/k.cu:11\n"
                           "#2  run_grid () at /s/kernels/vcuda/launch.cpp:192\n"
                           "#3  f () at /s/kernels/aten/custom.cpp:43\n"
                           "#4  call () at /v/include/ATen/core/boxing/impl/a.h:9\n");
  output.debugger = true;
  const std::string text = debug_text(report_of(classic(), DebugTool::cuda_gdb, {output}));
  EXPECT_THAT(text, HasSubstr("thread [0,0,0]:\n> #1 k  k.cu:11\n  #3 f  custom.cpp:43\n"));
}

TEST(DebugReport, AFailingThreadShowsItsValuesAndNotItsLaunchers) {
  DebugOutput output =
      ran("under gdb", 1,
          "[dsafuzz] stopped in the kernel: block (0,0,0), thread (0,0,0)\n"
          "#1  at (i=...) at /s/kernels/indexing/at.h:7\n#2  k (n=...) at /s/kernels/custom/k.cu:11\n"
          "#3  vcuda::detail::run_threads<K>(void const*) (closure=...) at /s/kernels/vcuda/launch.h:1\n"
          "#4  launch_k (n=...) at /s/kernels/custom/k.cu:20\n"
          "[dsafuzz] arguments\n#1  at (i=...) at /s/kernels/indexing/at.h:7\ni = 5\n"
          "#2  k (n=...) at /s/kernels/custom/k.cu:11\nn = 4\nx = 0x7\n"
          "#4  launch_k (n=...) at /s/kernels/custom/k.cu:20\nn = 4\n"
          "[dsafuzz] locals\n#2  k (n=...) at /s/kernels/custom/k.cu:11\nstep = 2\n");
  output.debugger = true;
  const DebugReport report = report_of(classic(), DebugTool::cuda_gdb, {output});
  EXPECT_THAT(debug_text(report), HasSubstr("> #1 at  at.h:7\n        arguments: i = 5\n"
                                            "  #2 k  k.cu:11\n        arguments: n = 4, x = 0x7\n"
                                            "        locals: step = 2\n  #4 launch_k  k.cu:20\n"));
  const auto json = nlohmann::json::parse(debug_json(report));
  EXPECT_EQ(json["stack"][1]["arguments"], (nlohmann::json{{"n", "4"}, {"x", "0x7"}}));
  EXPECT_EQ(json["stack"][1]["locals"], (nlohmann::json{{"step", "2"}}));
  EXPECT_EQ(json["stack"][0]["locals"], nlohmann::json::object());
}

TEST(DebugReport, AToolThatNeverSawTheProgramHasFailed) {
  const DebugReport report =
      report_of(classic(), DebugTool::memcheck, {ran("run", 255, log_sample("e24_no_driver_observed"))});
  EXPECT_THAT(report.failed, HasSubstr("Error: "));
}

TEST(DebugReport, ADeathWithoutARecordIsACrash) {
  const DebugReport report = report_of(classic(), DebugTool::stacks, {ran("run", -1, "...\nended by signal 11")});
  EXPECT_EQ(report.diagnosis.signature.verdict, Verdict::crash);
  EXPECT_EQ(report.diagnosis.signature.condition, "SIGSEGV");
}

TEST(DebugReport, AnOrdinaryErrorIsNoFaultOfTheDevice) {
  const Case c = classic();
  const DebugReport report = report_of(
      c, DebugTool::stacks,
      {ran("run", 1, traceback(line_with(debug_program(c), "loss = "), "IndexError: Target 3 is out of bounds."))});
  EXPECT_FALSE(report.fault());
  EXPECT_EQ(report.diagnosis.signature.verdict, Verdict::host_reject);
  EXPECT_EQ(report.diagnosis.signature.op, "aten::cross_entropy_loss");
  EXPECT_THAT(debug_text(report), HasSubstr("no fault:     host_reject"));
}

TEST(DebugReport, ForeignTextStaysText) {
  const DebugReport report = report_of(
      classic(), DebugTool::memcheck,
      {ran("run", 1, "a.cu:1: k\x1b[2J: block: [0,0,0], thread: [0,0,0] Assertion `\xff\x1b]0;x\a` failed.\n")});
  for (const std::string& text : {debug_text(report), debug_json(report)}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\a")));
  }
}

}  // namespace
}  // namespace dsafuzz
