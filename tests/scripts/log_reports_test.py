"""Runs `dsafuzz explain - --json` on the forms of logs in public reports, and on a sample inside wrappers' margins.

Arguments: the program dsafuzz and the project's folder. A row is where the form was seen, a text of ours in that form
(paths, names and numbers are invented), and what must be read; keys that a row leaves out are not compared.
"""

import json
import os
import subprocess
import sys
import unittest

PROGRAM, ROOT = sys.argv[1:3]

ILLEGAL = {"code": 700, "name": "cudaErrorIllegalAddress", "text": "an illegal memory access was encountered"}
TEXT = ILLEGAL["text"]
ASYNC = (
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be "
    "incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n\n"
)
LOSS = (
    "../aten/src/ATen/native/cuda/Loss.cu:250: nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], "
    "thread: [3,0,0] Assertion `t >= 0 && t < n_classes` failed.\n"
)
TRACE = 'Traceback (most recent call last):\n  File "/w/fit.py", line 88, in <module>\n    main()\n'
MAIN = {"file": "/w/fit.py", "line": 88, "function": "<module>"}
SITE = {
    "kind": "device_assert",
    "file": "aten/src/ATen/native/cuda/Loss.cu",
    "line": 250,
    "condition": "t >= 0 && t < n_classes",
    "thread": [3, 0, 0],
    "count": 1,
}
NONE = {"kind": "none", "count": 0, "sticky_error": None}
LOST = "illegal_memory_access"


def lost(exception=None, call=None, code=700):
    return {"kind": LOST, "count": 1, "api_call": call, "sticky_error": {**ILLEGAL, "code": code, "exception": exception}}


ROWS = [
    # What other libraries print of a lost context.
    ("PaddlePaddle/Paddle#44107", "Error: ../phi/funcs/take.cu.h:67 Assertion `i >= 0 && i < n` failed. It should be less than [9].\n"
     "OSError: (External) CUDA error(719), unspecified launch failure. \n  [Hint: 'cudaErrorLaunchFailure'.] (at ../info.cc:258)\n",
     {"kind": "device_assert", "origin": "paddle", "file": "../phi/funcs/take.cu.h", "line": 67, "condition": "i >= 0 && i < n", "count": 1,
      "sticky_error": {"code": 719, "name": "cudaErrorLaunchFailure", "text": "unspecified launch failure", "exception": "OSError"}}),
    ("PaddlePaddle/Paddle#30513", f"ExternalError:  Cuda error(77), {TEXT}.\n", lost("ExternalError", code=77)),
    ("THU-SI/Physics3D#2", f"Warp CUDA error 700: {TEXT} (/b/native/warp.cu:223)\n" * 3, lost()),
    ("gunrock/gunrock#250", f"[/b/loop.cuh, 781 @ gpu 1] FullQueue failed. (CUDA error 77: {TEXT})\n", lost(code=77)),
    ("rapidsai/rmm#563", f"CUDA error at: /b/arena.hpp:623: cudaErrorIllegalAddress {TEXT}\n", lost()),
    ("NVIDIA/cudf-spark#1065", "terminate called after throwing an instance of 'thrust::system::system_error'\n"
     f"  what():  parallel_for failed: cudaErrorIllegalAddress: {TEXT}\n", lost("thrust::system::system_error", "parallel_for")),
    ("HPCLab-933/Vina-CUDA#3", 'CUDA error at ./k.cu:596 code=700(cudaErrorIllegalAddress) "cudaDeviceSynchronize()"\n',
     lost(call="cudaDeviceSynchronize")),
    ("ggml-org/llama.cpp#13909", f"/b/ggml-cuda.cu:75: CUDA error\nCUDA error: {TEXT}\n  current device: 7, in function sync at "
     "/b/ggml-cuda.cu:2461\n  cudaStreamSynchronize(ctx->stream())\n", lost(call="cudaStreamSynchronize")),
    ("microsoft/onnxruntime#2963", "terminate called after throwing an instance of 'onnxruntime::OnnxRuntimeException'\n  what():  /b/cuda_call.cc:97 "
     f"bool onnxruntime::CudaCall(ERRTYPE) [with ERRTYPE = cudaError] CUDA failure 77: {TEXT} ; GPU=0 ; expr=cudaEventDestroy(e);\n",
     lost("onnxruntime::OnnxRuntimeException", "cudaEventDestroy", 77)),
    ("open-mmlab/mmdeploy#1948", f"[03/31/2023-15:23:06] [TRT] [E] 1: [res.cpp::~Event::24] Error Code 1: Cuda Runtime ({TEXT})\n" * 2, lost()),
    ("OFA-Sys/Chinese-CLIP#184", f"In the autotuner, CUDA error 700 from 'cuEventSynchronize(end)': {TEXT}.\n", lost(call="cuEventSynchronize")),
    ("tensorflow/tensorflow#8688", "E stream_executor/cuda_driver.cc:1140] could not synchronize on CUDA context: CUDA_ERROR_ILLEGAL_ADDRESS :: "
     "No stack trace available\n", lost()),
    ("mitsuba-renderer/drjit#125", f'cuda_check(): API error 0700 (CUDA_ERROR_ILLEGAL_ADDRESS): "{TEXT}" in /b/util.cpp:203.\n', {"kind": LOST}),
    ("numba", TRACE + "numba.cuda.cudadrv.driver.CudaAPIError: [700] Call to cuMemcpyDtoH results in UNKNOWN_CUDA_ERROR\n",
     lost("numba.cuda.cudadrv.driver.CudaAPIError", "cuMemcpyDtoH")),
    ("bitsandbytes", f"Error {TEXT} at line 90 in file /b/ops.cu\n", lost()),
    ("opencv", f"terminate called after throwing an instance of 'cv::Exception'\n  what():  OpenCV(4.8.0) t.hpp:312: error: (-217:Gpu API call) {TEXT} "
     "in function 'call'\n", {"kind": LOST}),
    ("InternLM/lmdeploy#3258", "terminate called after throwing an instance of 'c10::DistBackendError'\n  what():  \n[PG ID 0 Rank 3] Process group "
     f"watchdog thread terminated with exception: CUDA error: {TEXT}\n" + ASYNC, {"sticky_error": {**ILLEGAL, "exception": "c10::DistBackendError"}}),
    ("SystemPanic/vllm-windows#72", "".join("(EngineCore pid=12) ERROR 07-15 21:01:01 [core.py:1240] " + line + "\n" for line in [
     f"RuntimeError: Worker failed with error 'CUDA error: {TEXT}", "', please check the stack trace above for the root cause"]),
     {"sticky_error": {**ILLEGAL, "exception": "RuntimeError"}}),
    ("nccl", TRACE + "torch.distributed.DistBackendError: NCCL error in: /b/nccl.cpp:13, unhandled cuda error, NCCL version 2.20.5\n"
     f"ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure 700 '{TEXT}'\n", lost("torch.distributed.DistBackendError")),
    ("cudnn", TRACE + "RuntimeError: cuDNN error: CUDNN_STATUS_MAPPING_ERROR\n", {"kind": "cuda_error", "earliest_user_frame": MAIN}),
    ("cusolver", TRACE + "RuntimeError: cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when calling `cusolverDnCreate(handle)`\n",
     {"kind": "cuda_error", "api_call": "cusolverDnCreate"}),
    ("codes", TRACE + "RuntimeError: CUDA error: operation not permitted when stream is capturing\n" + ASYNC, {"traceback_may_be_late": None, "sticky_error": {
     "code": 900, "name": "cudaErrorStreamCaptureUnsupported", "text": "operation not permitted when stream is capturing", "exception": "RuntimeError"}}),
    # Nothing failed: only words about an error.
    ("source", '#define MSG "CUDA error: device-side assert triggered"\nraise RuntimeError("CUDA error: misaligned address")\n', NONE),
    ("commit", "    Fix device-side assert triggered in embedding\n\n    Previously this was a CUDA error: device-side assert triggered here.\n", NONE),
    ("quotation", f'See also: "RuntimeError: CUDA error: {TEXT}".\n', NONE),
    ("structured log", f'level=error msg="runner died" error="CUDA error: {TEXT}"\n', {"kind": LOST}),
    ("repr", "failed: RuntimeError('CUDA error: device-side assert triggered\\nCUDA kernel errors might be asynchronously reported')\n",
     {"kind": "cuda_error", "sticky_error": {"code": 710, "name": "cudaErrorAssert", "text": "device-side assert triggered", "exception": "RuntimeError"}}),
    # The tools.
    ("NVIDIA/FasterTransformer#241", "CUDA Exception: Warp Illegal Address\nThe exception was triggered at PC 0x56 (half.hpp:255)\n\n"
     'Thread 1 "d" received signal CUDA_EXCEPTION_14, Warp Illegal Address.\n'
     "[Switching focus to CUDA kernel 2, grid 406, block (0,0,0), thread (384,0,0), device 0, sm 0, warp 14, lane 0]\n0x57 in operator* (a=0x7f)\n"
     "    at /i/half.hpp:255\n(cuda-gdb) bt\n#0  0x57 in operator* (a=0x7f)\n#1  ns::look<__half><<<(4,1,1),(512,1,1)>>> (t=0x7f)\n",
     {"kernel": "ns::look<__half>", "line": 255, "thread": [384, 0, 0]}),
    ("two processes", "========= COMPUTE-SANITIZER\n========= Invalid __global__ write of size 4 bytes\n=========     at fill(float *)+0x70 in f.cu:9\n"
     "=========     by thread (31,0,0) in block (0,0,0)\n=========\n========= ERROR SUMMARY: 1 error\n========= ERROR SUMMARY: 0 errors\n", {"count": 1}),
    ("ORNL/HeCBench#112", "========= Invalid __global__ read of size 4 bytes\n=========     at col(int)+0x490\n"
     "=========     Saved host backtrace up to driver entry point at kern", {"truncated": True}),
    ("leptonai/gpud#46", "[Fri Aug 30 11:43:09 2024] NVRM: Xid (PCI:0000:cb:00): 13, pid='<unknown>', name=<unknown>, Graphics SM Warp Exception on "
     "(GPC 7, TPC 7, SM 0): Illegal Instruction Parameter\n", {"kind": "xid", "primary_fault": "illegal_instruction"}),
    ("zsh", "zsh: command not found: nvidia-smi\n", {"primary_fault": "smi_not_found"}),
    ("sh", "/bin/sh: 1: nvidia-smi: not found\n", {"primary_fault": "smi_not_found"}),
    ("cmd in German", 'Der Befehl "nvidia-smi" ist entweder falsch geschrieben oder\r\n', {"primary_fault": "smi_not_found"}),
    ("a wheel for the CPU", TRACE + "AssertionError: Torch not compiled with CUDA enabled\n", {"primary_fault": "torch_without_cuda", "origin": "pytorch"}),
    ("faulthandler", 'Fatal Python error: Segmentation fault\n\nCurrent thread 0x7f (most recent call first):\n  File "/w/fit.py", line 88 in <module>\n',
     {"kind": "process_killed", "primary_fault": "sigsegv", "earliest_user_frame": MAIN}),
    # Notebooks and pytest.
    ("IPython 7", "RuntimeError                   Traceback (most recent call last)\n<ipython-input-7-3b8a> in <cell line: 3>()\n      1 a\n----> 3 net(x)\n\n"
     "/v/lib/python3.10/dist-packages/torch/nn/modules/module.py in _call_impl(self, *args)\n-> 1518             return f()\n\n"
     "RuntimeError: CUDA error: device-side assert triggered\n" + ASYNC,
     {"nearest_user_frame": {"file": "<ipython-input-7-3b8a>", "line": 3, "function": "<cell line: 3>"}}),
    ("IPython 8", "AcceleratorError               Traceback (most recent call last)\nCell In[5], line 3\n----> 3 f(x)\n\nFile ~/net.py:42, in f(x)\n"
     "---> 42     return x\n\nAcceleratorError: CUDA error: device-side assert triggered\n" + ASYNC,
     {"nearest_user_frame": {"file": "~/net.py", "line": 42, "function": "f"}}),
    ("pytest", ">       y = pick(x)\n\ntests/test_pick.py:12: \n_ _ _\n>       return x.cpu()\nE       torch.AcceleratorError: CUDA error: device-side assert "
     "triggered\n\nsrc/pick.py:7: AcceleratorError\n", {"earliest_user_frame": {"file": "tests/test_pick.py", "line": 12, "function": None},
                                                        "nearest_user_frame": {"file": "src/pick.py", "line": 7, "function": None}}),
    # Assert lines that an editor, a terminal or a page changed.
    ("words wrapped", LOSS.replace(":250: ", ":250:\n").replace("], thread", "],\nthread"), SITE),
    ("path wrapped", LOSS.replace("Loss.cu", "Lo\nss.cu"), SITE),
    ("smart quotes", LOSS.replace("`t", "‘t").replace("s`", "s’"), SITE),
    ("full-width", LOSS.replace(": block: [", "：block：[").replace(", thread: [", "，thread：["), SITE),
    ("HTML", LOSS.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"), SITE),
    ("header", LOSS.replace("../aten/src/ATen/native/cuda/Loss.cu", "/c/include/cuda/std/mdspan"), {**SITE, "file": "/c/include/cuda/std/mdspan"}),
]

WHOLE = LOSS + TRACE + "RuntimeError: CUDA error: device-side assert triggered\n" + ASYNC
WRAPPED = [
    "0: ", " 3: ", "[default3]:", "[1,3]<stderr>:", "(train_fn pid=20311, ip=10.0.3.7) ", "\x1b[36m(W rank=5 pid=31)\x1b[0m ERROR 03-06 06:49:30 [w.py:3] ",
    "2026-03-01 10:11:12,345 ", "2026-03-01T10:11:12.345678Z ", "Mar 01 10:11:12 gpu07 train[2231]: ", "[pod/train-0/main] ", "│ ",
]


def explain(text):
    environment = dict(os.environ, DSAFUZZ_ROOT=ROOT)
    run = subprocess.run([PROGRAM, "explain", "-", "--json"], input=text.encode(), capture_output=True, env=environment, timeout=60)
    return json.loads(run.stdout)


class LogReportsTest(unittest.TestCase):
    def compare(self, name, text, expected):
        reading = explain(text)
        for key, value in expected.items():
            with self.subTest(name, key=key):
                self.assertEqual(reading[key], value)

    def test_every_form(self):
        for name, text, expected in ROWS:
            self.compare(name, text, expected)

    def test_every_margin(self):
        expected = {**SITE, "earliest_user_frame": MAIN, "traceback_may_be_late": True, "truncated": False, "sticky_error": {
            "code": 710, "name": "cudaErrorAssert", "text": "device-side assert triggered", "exception": "RuntimeError"}}
        for margin in WRAPPED:
            self.compare(margin, "".join(margin + line for line in WHOLE.splitlines(True)), expected)
        lines = WHOLE.splitlines(True)
        self.compare("json lines", "".join(json.dumps({"level": "error", "msg": line}) + "\n" for line in lines), expected)
        self.compare("one string", json.dumps({"error": WHOLE}) + "\n", expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
