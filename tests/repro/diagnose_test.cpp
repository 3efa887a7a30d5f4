// Outcomes and what they mean.
#include "repro/diagnose.h"

#include <gtest/gtest.h>

namespace dsafuzz {
namespace {

using End = Outcome::End;

constexpr const char* kAssert =
    "/b/aten/src/ATen/native/cuda/Loss.cu:245: nll_kernel: block: [0,0,0], thread: [3,0,0] Assertion `t < n` failed.\n";
constexpr const char* kReport =
    "========= Invalid __global__ write of size 4 bytes\n"
    "=========     at scale_kernel\n"
    "=========     by thread (8,0,0) in block (0,0,0)\n"
    "=========     Address 0x7f20 is out of bounds\n"
    "=========     and is 1 bytes after the nearest allocation at 0x7f00 of size 32 bytes\n"
    "=========\n";
constexpr const char* kFreed =
    "========= Invalid __global__ read of size 4 bytes\n"
    "=========     at late_kernel\n"
    "=========     Access to 0x7f20 is potentially made after memory is freed\n"
    "=========     and is inside the nearest allocation at 0x7f00 of size 64 bytes\n"
    "=========\n";
constexpr const char* kSticky =
    "CUDA error: device-side assert triggered\nSearch for `cudaErrorAssert' in https://docs.nvidia.com/ for more.\n";

Outcome outcome(End end, int code, std::string type, std::string error, std::string log) {
  Outcome o;
  o.end = end;
  o.code = code;
  o.op = "aten::op";
  o.error_type = std::move(type);
  o.error = std::move(error);
  o.log = std::move(log);
  return o;
}

TEST(Diagnose, EachOutcome) {
  struct Row {
    const char* what;
    Outcome outcome;
    Signature signature;
  };
  const Row rows[] = {
      {"returned", outcome(End::returned, 0, "", "", ""), {Verdict::ok, "aten::op", "", "", ""}},
      {"program text alone is no fault",
       outcome(End::returned, 0, "", "", "CUDA error: device-side assert triggered\n"),
       {Verdict::ok, "aten::op", "", "", ""}},
      {"assert",
       outcome(End::threw, 0, "c10::AcceleratorError", kSticky, kAssert),
       {Verdict::device_assert, "aten::op", "aten/src/ATen/native/cuda/Loss.cu", "nll_kernel", "t < n"}},
      {"an assert before the abort is the cause",
       outcome(End::signalled, 6, "", "", kAssert),
       {Verdict::device_assert, "aten::op", "aten/src/ATen/native/cuda/Loss.cu", "nll_kernel", "t < n"}},
      {"an assert before the hang is the cause",
       outcome(End::timed_out, 0, "", "", kAssert),
       {Verdict::device_assert, "aten::op", "aten/src/ATen/native/cuda/Loss.cu", "nll_kernel", "t < n"}},
      {"assert without a line",
       outcome(End::threw, 0, "c10::AcceleratorError", kSticky, ""),
       {Verdict::device_assert, "aten::op", "", "", ""}},
      {"the first fault decides",
       outcome(End::threw, 0, "c10::AcceleratorError", kSticky, std::string(kReport) + kAssert),
       {Verdict::memory_fault, "aten::op", "", "scale_kernel",
        "Invalid __global__ write of size 4 bytes, after the allocation"}},
      {"use after free",
       outcome(End::threw, 0, "c10::AcceleratorError", "CUDA error: an illegal memory access was encountered\n",
               kFreed),
       {Verdict::memory_fault, "aten::op", "", "late_kernel",
        "Invalid __global__ read of size 4 bytes, in a freed allocation"}},
      {"illegal access without a report",
       outcome(End::threw, 0, "c10::AcceleratorError", "CUDA error: an illegal memory access was encountered\n", ""),
       {Verdict::memory_fault, "aten::op", "", "", "an illegal memory access was encountered"}},
      {"launch timeout",
       outcome(End::threw, 0, "c10::AcceleratorError", "CUDA error: the launch timed out and was terminated\n", ""),
       {Verdict::hang, "aten::op", "", "", "the launch timed out and was terminated"}},
      {"clean rejection",
       outcome(End::threw, 0, "c10::IndexError", "Target 7 is out of bounds.", ""),
       {Verdict::host_reject, "aten::op", "", "", "Target # is out of bounds."}},
      {"dtype names stay",
       outcome(End::threw, 0, "c10::Error", "expected scalar type Long but found Float\nException raised from x", ""),
       {Verdict::host_reject, "aten::op", "", "", "expected scalar type Long but found Float"}},
      {"not sticky",
       outcome(End::threw, 0, "c10::AcceleratorError", "CUDA error: invalid argument\n", ""),
       {Verdict::host_reject, "aten::op", "", "", "CUDA error: invalid argument"}},
      {"device memory",
       outcome(End::threw, 0, "c10::OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.25 GiB.", ""),
       {Verdict::out_of_memory, "aten::op", "", "", "CUDA out of memory. Tried to allocate # GiB."}},
      {"host memory",
       outcome(End::threw, 0, "std::bad_alloc", "std::bad_alloc", ""),
       {Verdict::out_of_memory, "aten::op", "", "", "std::bad_alloc"}},
      {"no image",
       outcome(End::threw, 0, "c10::AcceleratorError",
               "CUDA error: no kernel image is available for execution on the device\n", ""),
       {Verdict::setup_failed, "aten::op", "", "",
        "CUDA error: no kernel image is available for execution on the device"}},
      {"no CUDA",
       outcome(End::threw, 0, "c10::Error", "Torch not compiled with CUDA enabled", ""),
       {Verdict::setup_failed, "aten::op", "", "", "Torch not compiled with CUDA enabled"}},
      {"our operators without nvcc",
       outcome(End::threw, 0, "c10::NotImplementedError",
               "Could not run 'dsafuzz::scale' with arguments from the 'CUDA' backend. This could be because", ""),
       {Verdict::setup_failed, "aten::op", "", "",
        "Could not run 'dsafuzz::scale' with arguments from the 'CUDA' backend. This could be because"}},
      {"no such device",
       outcome(End::threw, -1, "c10::AcceleratorError", "CUDA error: invalid device ordinal", ""),
       {Verdict::setup_failed, "aten::op", "", "", "CUDA error: invalid device ordinal"}},
      {"not run",
       outcome(End::not_run, 0, "", "worker 3 could not start", ""),
       {Verdict::setup_failed, "aten::op", "", "", "worker # could not start"}},
      {"hang", outcome(End::timed_out, 0, "", "", ""), {Verdict::hang, "aten::op", "", "", ""}},
      {"signal", outcome(End::signalled, 11, "", "", ""), {Verdict::crash, "aten::op", "", "", "SIGSEGV"}},
      {"rare signal", outcome(End::signalled, 40, "", "", ""), {Verdict::crash, "aten::op", "", "", "signal 40"}},
      {"exit code", outcome(End::exited, 3, "", "", ""), {Verdict::crash, "aten::op", "", "", "exit code 3"}},
      {"abort with a text",
       outcome(End::signalled, 6, "", "", "terminate called after throwing an instance of 'E'\n  what():  bad 7\n"),
       {Verdict::crash, "aten::op", "", "", "SIGABRT: bad #"}},
      {"abort with the sticky error",
       outcome(End::signalled, 6, "", "",
               std::string("terminate called after throwing an instance of 'c10::Error'\n  what():  ") + kSticky),
       {Verdict::device_assert, "aten::op", "", "", ""}},
      {"host sanitizer",
       outcome(End::exited, 1, "", "",
               "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6\nWRITE of size 4 at 0x6 thread T0\n  "
               "  #0 0x5 in n::f(int) /w/kernels/custom/a.cu:3:9\n"),
       {Verdict::memory_fault, "aten::op", "kernels/custom/a.cu", "f", "heap-buffer-overflow, WRITE of size 4"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const Diagnosis d = diagnose(Case{}, row.outcome);
    EXPECT_EQ(to_text(d.signature.verdict), to_text(row.signature.verdict));
    EXPECT_EQ(d.signature.op, row.signature.op);
    EXPECT_EQ(d.signature.file, row.signature.file);
    EXPECT_EQ(d.signature.kernel, row.signature.kernel);
    EXPECT_EQ(d.signature.condition, row.signature.condition);
    EXPECT_LE(d.evidence.size(), 20u);
  }
}

TEST(Diagnose, LineThreadAndPathAreEvidenceOnly) {
  const Outcome a = outcome(End::threw, 0, "c10::AcceleratorError", kSticky, kAssert);
  const Outcome b = outcome(End::threw, 0, "c10::AcceleratorError", kSticky,
                            "C:\\w\\aten\\src\\ATen\\native\\cuda\\Loss.cu:99: nll_kernel: block: [7,0,0], thread: "
                            "[1,0,0] Assertion `t < n` failed.\n");
  EXPECT_EQ(diagnose(Case{}, a).signature, diagnose(Case{}, b).signature);
  EXPECT_NE(diagnose(Case{}, a).evidence, diagnose(Case{}, b).evidence);
}

TEST(Diagnose, EvidenceIsVerbatim) {
  const Diagnosis d = diagnose(Case{}, outcome(End::threw, 0, "c10::AcceleratorError", kSticky, kAssert));
  ASSERT_EQ(d.evidence.size(), 2u);
  EXPECT_EQ(d.evidence[0] + "\n", kAssert);
  EXPECT_EQ(d.evidence[1], "c10::AcceleratorError: CUDA error: device-side assert triggered");
}

TEST(Diagnose, TheOperatorComesFromTheStepIfNotNamed) {
  Case c;
  c.steps.push_back({{"y"}, "aten::relu", {}});
  Outcome o = outcome(End::threw, 0, "c10::Error", "x", "");
  o.op.clear();
  o.step = 0;
  EXPECT_EQ(diagnose(c, o).signature.op, "aten::relu");
  o.step = 1;
  EXPECT_EQ(diagnose(c, o).signature.op, "");
}

TEST(Diagnose, EarliestFrame) {
  const Diagnosis python =
      diagnose(Case{}, outcome(End::threw, 0, "RuntimeError", "x",
                               "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n"));
  EXPECT_EQ(python.earliest_frame, (Frame{"f", "a.py", 3}));
  const Diagnosis cpp =
      diagnose(Case{}, outcome(End::threw, 0, "c10::Error",
                               "x\nframe #0: c10::Error::Error() + 0x1 (0x2 in libc10.so)\n"
                               "frame #1: at::native::embedding(at::Tensor const&) + 0x1 (0x2 in libtorch.so)\n",
                               ""));
  ASSERT_TRUE(cpp.earliest_frame);
  EXPECT_EQ(cpp.earliest_frame->function, "at::native::embedding");
}

TEST(Diagnose, Silent) {
  Outcome device = outcome(End::returned, 0, "", "", "");
  device.device = "vcuda";
  const Outcome cpu =
      outcome(End::threw, 0, "c10::IndexError", "index 9 is out of bounds for dimension 0 with size 4", "");
  const Diagnosis d = diagnose_silent(Case{}, device, cpu);
  EXPECT_EQ(d.signature,
            (Signature{Verdict::silent, "aten::op", "", "", "index # is out of bounds for dimension # with size #"}));
  EXPECT_EQ(d.evidence,
            (std::vector<std::string>{"cpu: c10::IndexError: index 9 is out of bounds for dimension 0 with size 4",
                                      "vcuda: returns"}));
}

TEST(Diagnose, Opinions) {
  EXPECT_EQ(opinion(outcome(End::returned, 0, "", "", "")), "returns");
  EXPECT_EQ(opinion(outcome(End::threw, 0, "c10::IndexError", "Target 5 is out of bounds.\nmore", "")),
            "raises IndexError: Target 5 is out of bounds.");
  EXPECT_EQ(opinion(outcome(End::signalled, 11, "", "", "")), "dies of SIGSEGV");
  EXPECT_EQ(opinion(outcome(End::exited, 3, "", "", "")), "exits with code 3");
  EXPECT_EQ(opinion(outcome(End::timed_out, 0, "", "", "")), "does not end in time");
  EXPECT_EQ(opinion(outcome(End::not_run, 0, "", "no device", "")), "could not be run: no device");
}

}  // namespace
}  // namespace dsafuzz
