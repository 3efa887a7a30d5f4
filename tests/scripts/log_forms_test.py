"""Runs `dsafuzz explain - --json` on forms of log text that the samples in corpus/logs do not have: one row a rule.

Arguments: the program dsafuzz and the project's folder. A row is a name, a text (or bytes), and what must be read;
keys that a row leaves out are not compared. The expected values come from the grammars of the tools, not from us.
"""

import json
import os
import subprocess
import sys
import unittest

PROGRAM, ROOT = sys.argv[1:3]

INDEX = ("/pytorch/aten/src/ATen/native/cuda/IndexKernel.cu:111: operator(): block: [{b},0,0], thread: [{t},0,0] "
         "Assertion `-sizes[i] <= index && index < sizes[i] && \"index out of bounds\"` failed.\n")
CONDITION = '-sizes[i] <= index && index < sizes[i] && "index out of bounds"'
ASYNC = ("CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be "
         "incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\n")
COMPILE = "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n\n"
TRACE = 'Traceback (most recent call last):\n  File "/w/fit.py", line 40, in <module>\n    go()\n'
LOSS = "Loss.cu:245: nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], thread: [3,0,0] Assertion `t >= 0 && t < n_classes` failed.\n"
HERE = {"kind": "device_assert", "line": 111, "condition": CONDITION}


def index(block=0, thread=0):
    return INDEX.format(b=block, t=thread)


def site(prefix, path="aten/src/ATen/native/cuda/IndexKernel.cu"):
    """The same line from another build's path."""
    return index(0, 5).replace("/pytorch/" + "aten/src/ATen/native/cuda/IndexKernel.cu", prefix + path)


ATEN = "aten/src/ATen/native/cuda/IndexKernel.cu"
AT = {**HERE, "file": ATEN, "origin": "aten", "block": [0, 0, 0], "thread": [5, 0, 0], "count": 1}

ROWS = [
    # a.3 where the file stands
    ("pip 1.11 to 2.4", site("../"), AT),
    ("conda", site("/opt/conda/conda-bld/pytorch_1712345678901/work/"), AT),
    ("source in tmp", site("/tmp/pip-req-build-abcdefgh/"), AT),
    ("home with a blank", site("/home/ada/my pytorch/"), AT),
    ("ngc", site("/opt/pytorch/pytorch/"), AT),
    ("old windows", site("C:/w/b/windows/pytorch/").replace(" operator():", ""), {**AT, "kernel": None}),
    ("windows wheel", site("C:\\actions-runner\\_work\\pytorch\\pytorch\\builder\\windows\\pytorch\\",
                           "aten\\src\\ATen\\native\\cuda\\IndexKernel.cu").replace(" operator():", ""),
     {**AT, "kernel": None}),
    ("thc", index(1, 2).replace("/pytorch/aten/src/ATen/native/cuda/IndexKernel.cu", "/pytorch/aten/src/THC/THCTensorIndex.cu"),
     {"file": "aten/src/THC/THCTensorIndex.cu", "origin": "thc", "block": [1, 0, 0]}),
    ("extension, relative", "csrc/scan.cu:9: void scan(int *, int): block: [0,0,0], thread: [1,0,0] Assertion `i < n` failed.\n",
     {"file": "csrc/scan.cu", "line": 9, "kernel": "void scan(int *, int)", "condition": "i < n", "origin": "extension"}),
    # a.4 functions
    ("no name", site("/pytorch/").replace("operator()", "(null)"), {**AT, "kernel": None}),
    ("functor", site("/pytorch/").replace("operator()", "void WrapIndexOp::operator()(long *, long *)"),
     {**AT, "kernel": "void WrapIndexOp::operator()(long *, long *)"}),
    ("lambda", site("/pytorch/").replace("operator()", "lambda [](int)->auto::operator()(int)->auto"),
     {**AT, "kernel": "lambda [](int)->auto::operator()(int)->auto"}),
    ("nvcc 13", "/b/seg.cuh:77: __nv_bool ns::seg<i_t, f_t, REQ>::put(__nv_bool) [with ns::E r = ns::E::P; __nv_bool "
     "<anonymous> = true; i_t = int]: block: [2,0,0], thread: [7,0,0] Assertion `a::b(x) == 1` failed.\n",
     {"file": "/b/seg.cuh", "line": 77, "condition": "a::b(x) == 1",
      "kernel": "__nv_bool ns::seg<i_t, f_t, REQ>::put(__nv_bool) [with ns::E r = ns::E::P; __nv_bool <anonymous> = true; i_t = int]"}),
    # a.5 conditions
    ("empty", site("/pytorch/").replace(CONDITION, ""), {**AT, "condition": ""}),
    ("colons and brackets", site("/pytorch/").replace(CONDITION, 'x[i]: y] && "a: [b]"'), {**AT, "condition": 'x[i]: y] && "a: [b]"'}),
    ("back quotes at the end", site("/pytorch/").replace(CONDITION, "needs `a` and `b`"), {**AT, "condition": "needs `a` and `b`"}),
    ("the word failed inside", site("/pytorch/").replace(CONDITION, "check failed. && y"), {**AT, "condition": "check failed. && y"}),
    # a.1 counting
    ("two ranks print the same", index(0, 1) * 2 + index(1, 1), {**HERE, "count": 3, "thread": [1, 0, 0]}),
    ("five thousand threads", "".join(index(n // 128, n % 128) for n in range(5000)), {**HERE, "count": 5000, "truncated": False}),
    # a.6 the printf twin, beside the plain line and alone
    ("printf twin", "[CUDA_KERNEL_ASSERT] /pytorch/aten/src/ATen/native/cuda/Repeat.cu:20: compute_cuda_kernel: block: [0,0,0], "
     "thread: [2,0,0]: Assertion failed: `result_size == cumsum_ptr[size - 1]`: Invalid input! In `repeat_interleave`, the `output_size` "
     "argument (31) must be the same as the sum of the elements in the `repeats` tensor (30).\n\n"
     "/pytorch/aten/src/ATen/native/cuda/Repeat.cu:20: compute_cuda_kernel: block: [0,0,0], thread: [2,0,0] Assertion "
     "`result_size == cumsum_ptr[size - 1]` failed.\n",
     {"count": 1, "condition": "result_size == cumsum_ptr[size - 1]", "kernel": "compute_cuda_kernel", "thread": [2, 0, 0]}),
    # a.7 Triton
    ("triton overflow", "/m/k.py:31: unknown: block: [4,0,0], thread: [9,0,0] Assertion `int32 overflow detected for operation mul` failed.\n",
     {"file": "/m/k.py", "line": 31, "kernel": "unknown", "origin": "triton", "condition": "int32 overflow detected for operation mul"}),
    ("triton 2.1", "unknown:0: unknown: block: [1,0,0], thread: [32,0,0] Assertion `index out of bounds: 0 <= r4 + (128*x1) < 25504` failed.\n"
     + TRACE + "RuntimeError: Triton Error [CUDA]: device-side assert triggered\n",
     {"file": "unknown", "line": 0, "kernel": "unknown", "condition": "index out of bounds: 0 <= r4 + (128*x1) < 25504",
      "sticky_error": {"code": 710, "name": "cudaErrorAssert", "text": "device-side assert triggered", "exception": "RuntimeError"}}),
    ("triton on amd", "device assertion failed: 'index out of range', in gather_kernel at /m/k.py:12\n",
     {"kind": "device_assert", "condition": "index out of range", "kernel": "gather_kernel", "file": "/m/k.py", "line": 12, "block": None}),
    # a.8 ROCm
    ("rocm newer path", "/p/aten/src/ATen/native/hip/Indexing.hip:700: indexSelectSmallIndex: Device-side assertion `srcIndex < srcSelectDimSize' failed.\n",
     {"kind": "device_assert", "file": "aten/src/ATen/native/hip/Indexing.hip", "condition": "srcIndex < srcSelectDimSize", "origin": "aten_hip"}),
    ("rocm nil address", "Memory access fault by GPU node-2 on address (nil). Reason: Unknown.\n",
     {"kind": "illegal_memory_access", "origin": "hip", "count": 1}),
    # a.9 look-alikes
    ("nvrm assert", "NVRM: nvAssertFailedNoLog: Assertion failed: status == NV_OK @ kernel_gsp.c:123\n", {"kind": "none", "count": 0}),
    ("python assert", TRACE + "AssertionError: labels out of range\n", {"kind": "none", "primary_fault": None}),
    ("grep of sources", "Indexing.cu:1515:  CUDA_KERNEL_ASSERT(srcIndex < srcSelectDimSize);\n", {"kind": "none"}),
    ("glibc and device assert", "app: /a/b.cu:3: int main(): Assertion `x' failed.\n" + site("/pytorch/"), AT),
    # b.1 eras
    ("thc check", "THCudaCheck FAIL file=/pytorch/aten/src/THC/THCGeneral.cpp line=313 error=59 : device-side assert triggered\n"
     + TRACE + "RuntimeError: cuda runtime error (59) : device-side assert triggered at /pytorch/aten/src/THC/THCGeneral.cpp:313\n",
     {"kind": "cuda_error", "primary_fault": "device_assert",
      "sticky_error": {"code": 59, "name": "cudaErrorAssert", "text": "device-side assert triggered", "exception": "RuntimeError"}}),
    ("what of 1.4", "terminate called after throwing an instance of 'c10::Error'\n  what():  CUDA error: device-side assert triggered "
     "(insert_events at /pytorch/c10/cuda/CUDACachingAllocator.cpp:764)\nframe #0: c10::Error::Error(c10::SourceLocation, std::string const&) + 0x33 "
     "(0x7f in /v/libc10.so)\n",
     {"kind": "cuda_error", "sticky_error": {"code": 710, "name": "cudaErrorAssert", "text": "device-side assert triggered", "exception": "c10::Error"}}),
    ("2.9 with search line", TRACE + "torch.AcceleratorError: CUDA error: device-side assert triggered\nSearch for `cudaErrorAssert' in "
     "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more information.\n" + ASYNC + COMPILE,
     {"kind": "cuda_error", "traceback_may_be_late": True,
      "sticky_error": {"code": 710, "name": "cudaErrorAssert", "text": "device-side assert triggered", "exception": "torch.AcceleratorError"},
      "earliest_user_frame": {"file": "/w/fit.py", "line": 40, "function": "<module>"}}),
    ("2.11 blocking", TRACE + "torch.AcceleratorError: CUDA error: device-side assert triggered\nSearch for `cudaErrorAssert' in "
     "https://docs.nvidia.com/x.html for more information.\n" + COMPILE, {"traceback_may_be_late": False}),
    ("after 2.11, not sticky", TRACE + "torch.AcceleratorError: CUDA error: invalid argument\nFor more detailed error information, run with "
     "CUDA_LOG_FILE=stderr\n", {"kind": "cuda_error", "primary_fault": "invalid_value", "traceback_may_be_late": None}),
    ("invalid device", TRACE + "RuntimeError: CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?\n" + ASYNC + COMPILE,
     {"kind": "cuda_error", "primary_fault": "invalid_device"}),
    # b.2 codes
    ("illegal instruction", TRACE + "RuntimeError: CUDA error: an illegal instruction was encountered\n" + ASYNC + COMPILE,
     {"kind": "cuda_error", "primary_fault": "illegal_instruction", "traceback_may_be_late": True}),
    ("misaligned", TRACE + "RuntimeError: CUDA error: misaligned address\n" + ASYNC + COMPILE, {"kind": "misaligned_address", "count": 1}),
    # b.3 wrapped classes
    ("dynamo", TRACE + "torch._dynamo.exc.InternalTorchDynamoError: AcceleratorError: CUDA error: device-side assert triggered\n" + ASYNC,
     {"kind": "cuda_error", "primary_fault": "device_assert"}),
    # b.5 texts of others
    ("cub", index() + TRACE + "RuntimeError: radix_sort: failed to synchronize: cudaErrorAssert: device-side assert triggered\n",
     {**HERE, "api_call": "radix_sort"}),
    ("nccl", index() + "gpu-04:812:901 [3] init.cc:1873 NCCL WARN Cuda failure 710 'device-side assert triggered'\n", HERE),
    ("watchdog", "[rank3]:[E203 11:02:13.120 ProcessGroupNCCL.cpp:1896] [PG ID 0 PG GUID 0(default_pg) Rank 3] Process group watchdog thread "
     "terminated with exception: CUDA error: device-side assert triggered\n" + ASYNC + COMPILE +
     "terminate called after throwing an instance of 'c10::DistBackendError'\n  what():  [PG ID 0 PG GUID 0(default_pg) Rank 3] Process group watchdog thread "
     "terminated with exception: CUDA error: device-side assert triggered\n",
     {"kind": "cuda_error", "primary_fault": "device_assert"}),
    ("repr error", index() + "x = <repr-error 'CUDA error: device-side assert triggered\\nCompile with ..'>\n", HERE),
    ("xla", TRACE + "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: Could not synchronize CUDA stream: CUDA_ERROR_ASSERT: device-side assert triggered\n",
     {"kind": "cuda_error", "primary_fault": "device_assert", "origin": "xla"}),
    ("raft", "CUDA Error detected. cudaErrorAssert device-side assert triggered\n", {"kind": "cuda_error", "primary_fault": "device_assert"}),
    ("legion", "CUDA error reported on GPU 0: device-side assert triggered (CUDA_ERROR_ASSERT)\n", {"kind": "cuda_error", "primary_fault": "device_assert"}),
    ("numba", TRACE + "numba.cuda.cudadrv.driver.CudaAPIError: [710] Call to cuMemcpyDtoH results in CUDA_ERROR_ASSERT\n",
     {"kind": "cuda_error", "primary_fault": "device_assert", "api_call": "cuMemcpyDtoH"}),
    ("warnings of destructors", index() + "[W203 11:02:13 CUDAGuardImpl.h:124] Warning: CUDA warning: device-side assert triggered (function destroyEvent)\n", HERE),
    # b.6, b.7
    ("oom 2.1", TRACE + "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacty of 7.79 GiB of which 3.00 MiB is free.\n",
     {"kind": "oom", "count": 1}),
    ("oom as an error", TRACE + "RuntimeError: CUDA error: out of memory\n" + ASYNC, {"kind": "oom", "traceback_may_be_late": None}),
    ("no gpus", TRACE + "RuntimeError: No CUDA GPUs are available\n", {"kind": "driver_missing"}),
    # b.8 wrappers
    ("spawn", "Traceback (most recent call last):\n  File \"/w/run.py\", line 9, in <module>\n    mp.spawn(f, nprocs=2)\n"
     "torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 1 terminated with the following error:\n"
     "Traceback (most recent call last):\n  File \"/w/run.py\", line 5, in f\n    y.cpu()\nRuntimeError: CUDA error: device-side assert triggered\n" + ASYNC,
     {"earliest_user_frame": {"file": "/w/run.py", "line": 9, "function": "<module>"},
      "nearest_user_frame": {"file": "/w/run.py", "line": 5, "function": "f"}}),
    ("old notebook", "RuntimeError                              Traceback (most recent call last)\n<ipython-input-7-0a1b2c3d4e5f> in <module>\n      1 for x in data:\n"
     "----> 2     loss.backward()\n\nRuntimeError: CUDA error: device-side assert triggered\n",
     {"kind": "cuda_error", "primary_fault": "device_assert"}),
    # 0.1 encodings and ends
    ("utf-16 with bom", ("\ufeff" + index(0, 5)).replace("\n", "\r\n").encode("utf-16-le"), AT),
    ("utf-16 big", ("\ufeff" + index(0, 5)).encode("utf-16-be"), AT),
    ("utf-8 bom", "\ufeff" + index(0, 5), AT),
    ("bare cr", (index(0, 5) + TRACE + "RuntimeError: CUDA error: device-side assert triggered\n").replace("\n", "\r"), AT),
    ("nul bytes", index(0, 5).replace(" ", "\0 "), AT),
    ("colours", "\033[1;31m" + index(0, 5)[:-1] + "\033[0m\n", AT),
    ("lost escapes", "[31m" + index(0, 5)[:-1] + "[0m\n", AT),
    ("chinese in gbk around", "训练开始：".encode("gbk") + b"\n" + index(0, 5).encode(), AT),
    # 0.2 margins
    ("quoted", "> " + index(0, 5), AT),
    ("quoted twice", "> > " + index(0, 5), AT),
    ("compose", "worker-2  | " + index(0, 5), AT),
    ("cri", "2026-02-03T04:05:06.789012345Z stderr F " + index(0, 5), AT),
    ("tee of torchrun", "[default3]:" + index(0, 5), AT),
    ("slurm", "3: " + index(0, 5), AT),
    ("vllm", "(EngineCore_DP0 pid=812) ERROR 10-21 09:12:33 [core.py:710] RuntimeError: CUDA error: device-side assert triggered\n",
     {"kind": "cuda_error", "primary_fault": "device_assert"}),
    ("timestamps", "2026-02-03 11:12:13,456 " + index(0, 5), AT),
    ("github actions", "2026-02-03T04:05:06.7890123Z " + index(0, 5), AT),
    # 0.3, 0.4
    ("behind a bar", " 41%|####      | 82/200 [00:12<00:18,  6.55it/s]" + index(0, 5), AT),
    ("lines in one", (index(0, 5) + index(0, 6)).replace("\n", " "), {**AT, "count": 2}),
    ("quotes eaten", index(0, 5).replace("`", ""), AT),
    # truncation
    ("cut record", index(0, 5) + index(0, 6)[:90], {**AT, "truncated": True}),
    ("cut traceback", index(0, 5) + TRACE, {**AT, "truncated": True}),
    ("elided", index(0, 5) + "[... 400 lines omitted ...]\n" + index(3, 6), {**HERE, "truncated": True, "count": 2}),
    ("snip", index(0, 5) + "<snip>\n", {**AT, "truncated": True}),
    ("whole", index(0, 5), {**AT, "truncated": False}),
]

TOOL = "========= "


def tool(*lines, head="COMPUTE-SANITIZER"):
    return "".join(TOOL + line + "\n" for line in ([head] if head else []) + list(lines))


BY = "    by thread (3,0,0) in block (1,0,0)"
AT_PICK = "    at pick(int *)+0x90 in pick.cu:12"
THERE = {"block": [1, 0, 0], "thread": [3, 0, 0]}
SMI_610 = """+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 610.43.02              KMD Version: 610.43.02     CUDA UMD Version: 13.3     |
|-----------------------------------------+------------------------+----------------------+
|   0  NVIDIA RTX 6000 Ada ...        Off |   00000000:02:00.0 Off |                  Off |
| 30%   41C    P8             22W /  300W |       9MiB /  49140MiB |      0%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+
| Processes:                                                                              |
|  No running processes found                                                             |
+-----------------------------------------------------------------------------------------+
"""

ROWS += [
    # e.1, e.2 the tool's eras
    ("early 2023.3", tool("Invalid __global__ read of size 4 bytes", "    at pick(int *):0x90", BY, "    Address 0x7f00 is out of bounds", "",
                          "ERROR SUMMARY: 1 error"),
     {"kind": "sanitizer_memcheck", "kernel": "pick(int *)", "primary_fault": "invalid_global_read", "count": 1, **THERE}),
    ("with separators", tool("Invalid __shared__ write of size 4 bytes", AT_PICK, BY, "    Access to 0x2000 is out of bounds", "",
                             "ERROR SUMMARY: 1,204 errors"),
     {"file": "pick.cu", "line": 12, "count": 1204, "primary_fault": "invalid_shared_write"}),
    ("cluster", tool("Potential invalid __shared__ read of size 4 bytes", AT_PICK, BY,
                     "    Address 0x0 is located in a block that might not have entered yet", "", "ERROR SUMMARY: 1 error"),
     {"kind": "sanitizer_memcheck", "primary_fault": "invalid_shared_read", **THERE}),
    ("misaligned access", tool("Invalid __global__ read of size 16 bytes", AT_PICK, BY, "    Address 0x7f01 is misaligned", "", "ERROR SUMMARY: 1 error"),
     {"primary_fault": "invalid_global_read"}),
    ("freed", tool("Invalid __global__ read of size 4 bytes", AT_PICK, BY, "    Access to 0x7f01 is potentially made after memory is freed", "",
                   "ERROR SUMMARY: 1 error"), {"kind": "sanitizer_memcheck", "origin": "compute-sanitizer>=2025.4"}),
    # e.3 the assert as a record
    ("assert record of 2025", tool("Warp assert", "    at __assertfail+0x1ee0", BY, "        Device Frame: __assertfail+0x1ee0",
                                   "        Device Frame: void take<float>(const T1 *, int)+0x4b0 in take.cu:77",
                                   "    Saved host backtrace up to driver entry point at kernel launch time",
                                   "        Host Frame: take(at::Tensor) [0x1f] in ext.so", "        Host Frame: step in train.py:31", "",
                                   "ERROR SUMMARY: 1 error"),
     {"kind": "device_assert", "kernel": "void take<float>(const T1 *, int)", "file": "take.cu", "line": 77, "condition": None,
      "origin": "compute-sanitizer>=2025.1", "earliest_user_frame": {"file": "train.py", "line": 31, "function": "step"}, **THERE}),
    # e.4, e.5, e.6 other records
    ("illegal instruction of the tool", tool("Illegal instruction", "    at pick(int *)+0x90", BY, "", "ERROR SUMMARY: 1 error"),
     {"kind": "sanitizer_memcheck", "primary_fault": "illegal_instruction"}),
    ("heap corruption", tool("Malloc/Free error encountered : Heap corruption", "    at 0x79d8", BY, "    Address 0x2a", "", "ERROR SUMMARY: 1 error"),
     {"primary_fault": "heap_corruption"}),
    ("uninitialised", tool("Uninitialized __global__ memory read of size 4 bytes", AT_PICK, BY, "    Address 0x7f00", "", "ERROR SUMMARY: 1 error"),
     {"kind": "sanitizer_initcheck", "primary_fault": "uninitialized_read", "line": 12, **THERE}),
    ("unused", tool(" Unused __global__ memory in allocation 0x7f00 of size 4,096 bytes", "    Not written 4,096 bytes at offset 0x0",
                    "    100% of allocation were unused.", "", "ERROR SUMMARY: 1 error"), {"kind": "sanitizer_initcheck"}),
    ("warp barrier", tool("Barrier error detected. Divergent thread(s) in warp.", AT_PICK, BY, "", "ERROR SUMMARY: 1 error"),
     {"kind": "sanitizer_synccheck", "primary_fault": "barrier_divergent_warp"}),
    ("race between atomics", tool("ERROR: Race reported between Atomic access at pick(int *)+0x90 in pick.cu:12",
                                  "    and Read access at pick(int *)+0xa0 in pick.cu:13 [8 hazards]", "",
                                  "RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)"),
     {"kind": "sanitizer_racecheck", "primary_fault": "race_atomic_read", "line": 12, "count": 1}),
    ("old api text", tool("Program hit invalid device ordinal (error 10) on CUDA API call to cudaSetDevice", "ERROR SUMMARY: 1 error", head="CUDA-MEMCHECK"),
     {"kind": "sanitizer_api_error", "api_call": "cudaSetDevice", "origin": "cuda-memcheck"}),
    # e.7 ends
    ("timed out", tool("Error: No attachable process found. compute-sanitizer timed-out."),
     {"kind": "sanitizer_tool_error", "primary_fault": "target_never_started"}),
    ("clean run", tool("ERROR SUMMARY: 0 errors"), {"kind": "sanitizer_clean", "count": 0}),
    # e.9 glued
    ("glued to a test's name", tool() + "test_pick_1 ========= Invalid __global__ read of size 4 bytes\n"
     + tool(AT_PICK, BY, "", "ERROR SUMMARY: 1 error", head=None), {"kind": "sanitizer_memcheck", "line": 12, **THERE}),
    # f
    ("gdb assert", "\nAssertion failed.\nThe exception was triggered in device 0.\n\nThread 1 \"python3\" received signal CUDA_EXCEPTION_12, Warp Assert.\n"
     "[Switching focus to CUDA kernel 0, grid 8, block (1,0,0), thread (3,0,0), device 0, sm 0, warp 1, lane 3]\n"
     "0x00007fff in pick<<<(2,1,1),(32,1,1)>>> (a=0x7f) at pick.cu:12\n12\t  assert(i < n);\n",
     {"kind": "gdb_exception", "primary_fault": "device_assert", "kernel": "pick", "origin": "cuda-gdb", **THERE}),
    ("gdb stack overflow", "CUDA Exception: Lane User Stack Overflow\nThe exception was triggered at PC 0x7f (pick.cu:12)\n\nThread 1 \"a\" received signal "
     "CUDA_EXCEPTION_2, Lane User Stack Overflow.\n", {"kind": "gdb_exception", "file": "pick.cu", "line": 12}),
    # g
    ("smi of 610", SMI_610, {"kind": "environment", "origin": "nvidia-smi table", "truncated": False,
                             "environment": {"driver": "610.43.02", "cuda_driver": "13.3", "processes": [],
                                             "gpus": [{"index": 0, "name": "NVIDIA RTX 6000 Ada ...", "bus": "00000000:02:00.0", "memory_used_mib": 9,
                                                       "memory_total_mib": 49140, "util": 0, "ecc": None}]}}),
    ("csv without units", "index, name, memory.total [MiB], utilization.gpu [%]\n0, NVIDIA L4, 23034, [Unknown Error]\n",
     {"kind": "environment", "environment": {"gpus": [{"index": 0, "name": "NVIDIA L4", "memory_total_mib": 23034, "util": None}]}}),
    ("nvcc 13", "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0/compiler.36424714_0\n",
     {"kind": "environment", "origin": "nvcc --version", "environment": {"nvcc": "13.0.88"}}),
    ("two gpus of collect_env", "PyTorch version: 2.5.1+cu124\nIs debug build: False\nCUDA used to build PyTorch: 12.4\n\nOS: Ubuntu 22.04.5 LTS (x86_64)\n\n"
     "Python version: 3.10.12 (main) (64-bit runtime)\nIs CUDA available: True\nCUDA runtime version: Could not collect\n"
     "GPU models and configuration: \nGPU 0: NVIDIA A100-SXM4-80GB\nGPU 1: NVIDIA A100-SXM4-80GB\n\nNvidia driver version: 550.54.15\n",
     {"environment": {"torch": "2.5.1+cu124", "cuda_build": "12.4", "cuda_runtime": None, "driver": "550.54.15", "python": "3.10.12",
                      "os": "Ubuntu 22.04.5 LTS (x86_64)", "gpus": [{"index": 0, "name": "NVIDIA A100-SXM4-80GB"}, {"index": 1, "name": "NVIDIA A100-SXM4-80GB"}]}}),
    ("smi on windows", "'nvidia-smi' is not recognized as an internal or external command,\r\noperable program or batch file.\r\n",
     {"kind": "environment_failure", "primary_fault": "smi_not_found", "environment": {}}),
    ("lost gpu", "Unable to determine the device handle for GPU 0000:82:00.0: GPU is lost.  Reboot the system to recover this GPU\n",
     {"kind": "environment_failure", "primary_fault": "gpu_lost"}),
    ("nvml unknown", "Failed to initialize NVML: Unknown Error\n", {"kind": "environment_failure"}),
    ("nvrm mismatch", "NVRM: API mismatch: client version 570.133.20, kernel module version 570.124.06\n", {"kind": "environment_failure"}),
    # h
    ("xid off the bus", "[ 81.2] NVRM: Xid (PCI:0000:41:00): 79, pid=20117, name=python3, GPU has fallen off the bus.\n",
     {"kind": "xid", "primary_fault": "gpu_lost", "count": 1}),
    ("old xid", "NVRM: Xid (PCI:0000:41:00): 31, Ch 00000008, engmask 00000101\n", {"kind": "xid", "primary_fault": "illegal_memory_access"}),
    ("driver log without api", "[12:01:33.391][20117][CUDA][E] Returning 700 (CUDA_ERROR_ILLEGAL_ADDRESS) from cuStreamSynchronize\n",
     {"primary_fault": "illegal_memory_access", "api_call": "cuStreamSynchronize", "origin": "CUDA_LOG_FILE"}),
    # nothing
    ("empty", "", {"kind": "none", "count": 0, "truncated": False, "primary_fault": None}),
    ("only blanks", "\n \n\t\n", {"kind": "none"}),
    ("prose", "CUDA errors such as device-side asserts are explained in `docs/errors.md`.\n", {"kind": "none"}),
]


def explain(text):
    data = text if isinstance(text, bytes) else text.encode()
    environment = dict(os.environ, DSAFUZZ_ROOT=ROOT)
    return subprocess.run([PROGRAM, "explain", "-", "--json"], input=data, capture_output=True, env=environment, timeout=60)


class LogFormsTest(unittest.TestCase):
    def test_every_form(self):
        for name, text, expected in ROWS:
            reading = json.loads(explain(text).stdout)
            for key, value in expected.items():
                with self.subTest(name, key=key):
                    self.assertEqual(reading[key], value)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
