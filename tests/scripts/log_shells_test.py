"""Runs `dsafuzz explain - --json` on logs in what other programs wrap around text: JSON, pages, notebooks, consoles.

Arguments: the program dsafuzz and the project's folder. A row is a name, a text of ours in that form, and what must be
read; keys that a row leaves out are not compared. The expected values are those of the same log without the wrapper,
or come from the grammars of the tools.
"""

import json
import os
import subprocess
import sys
import unittest

PROGRAM, ROOT = sys.argv[1:3]

LOSS = (
    "/pytorch/aten/src/ATen/native/cuda/Loss.cu:245: nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], "
    "thread: [3,0,0] Assertion `t >= 0 && t < n_classes` failed.\n"
)
SITE = {
    "kind": "device_assert",
    "file": "aten/src/ATen/native/cuda/Loss.cu",
    "line": 245,
    "kernel": "nll_loss_forward_reduce_cuda_kernel_2d",
    "condition": "t >= 0 && t < n_classes",
    "thread": [3, 0, 0],
    "count": 1,
}
TRACE = (
    'Traceback (most recent call last):\n  File "/w/fit.py", line 61, in <module>\n    main()\n'
    '  File "/w/fit.py", line 44, in main\n    loss(x, y)\n'
)
ERROR = "RuntimeError: CUDA error: device-side assert triggered\n"
ASYNC = "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\n"
FRAMES = {
    "earliest_user_frame": {"file": "/w/fit.py", "line": 61, "function": "<module>"},
    "nearest_user_frame": {"file": "/w/fit.py", "line": 44, "function": "main"},
}
STICKY = {"sticky_error": {"code": 710, "name": "cudaErrorAssert", "text": "device-side assert triggered", "exception": "RuntimeError"}}
LINES = (LOSS + TRACE + ERROR + ASYNC).splitlines(True)
WHOLE = {**SITE, **FRAMES, **STICKY, "traceback_may_be_late": True, "truncated": False}


def lines(form):
    return "".join(form(number, line.rstrip("\n")) + "\n" for number, line in enumerate(LINES, 1))


def page(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def cell(line, function=None, file="Cell In[5]"):
    return {"file": file, "line": line, "function": function}


NOTEBOOK = {"cells": [{"outputs": [
    {"name": "stderr", "text": [LOSS]},
    {"ename": "RuntimeError", "traceback": [
        "\x1b[0;31mRuntimeError\x1b[0m                 Traceback (most recent call last)",
        "Cell \x1b[0;32mIn[5], line 3\x1b[0m\n\x1b[0;32m----> 3\x1b[0m f(x)\n",
        "\x1b[0;31mRuntimeError\x1b[0m: CUDA error: device-side assert triggered\n" + ASYNC]}]}]}
POWERSHELL = (
    "python : Traceback (most recent call last):\nAt line:1 char:1\n+ python fit.py\n"
    "    + CategoryInfo          : NotSpecified: (Traceback (most recent call last)::String) [], RemoteException\n \n"
)
BOX = (
    "+-------------- Traceback (most recent call last) -----------------+\n| /w/fit.py:61 in <module>   |\n|   > 61 main()              |\n"
    "| C:\\w\\net.py:44 in main      |\n+----------------------------+\n"
)
CELL = "RuntimeError                Traceback (most recent call last)\n"


def tool(*body):
    return "========= COMPUTE-SANITIZER\n" + "".join("========= " + line + "\n" for line in body)


AT = ("    at pick(int)+0x90 in pick.cu:12", "    by thread (3,0,0) in block (1,0,0)")
XML = (
    "<ComputeSanitizerOutput>\n<record><kind>Precise</kind><who><threadIdx><x>3</x><y>0</y><z>0</z></threadIdx></who>"
    "<what><text>{}</text></what><where><func>pick</func><path>pick.cu</path><line>12</line></where></record>\n"
    "</ComputeSanitizerOutput>\n"
)

ROWS = [
    # JSON
    ("message and traceback", json.dumps({"message": "step failed", "exc_info": TRACE + ERROR + ASYNC}) + "\n", {**FRAMES, **STICKY}),
    ("message and error", json.dumps({"msg": "step failed", "err": "CUDA error: device-side assert triggered"}) + "\n", {"kind": "cuda_error"}),
    ("escaped letters", json.dumps({"msg": "x", "exc_info": TRACE.replace("/w/", "/w/模型\U0001f600/") + ERROR}) + "\n",
     {"earliest_user_frame": {"file": "/w/模型\U0001f600/fit.py", "line": 61, "function": "<module>"}}),
    ("a service's payload", lines(lambda _, line: json.dumps({"severity": "ERROR", "textPayload": line})), WHOLE),
    ("an array of records", "[\n" + lines(lambda _, line: "  " + json.dumps({"log": line}) + ",") + "]\n", WHOLE),
    ("a margin inside", lines(lambda _, line: json.dumps({"log": "[rank0]: " + line})), WHOLE),
    ("a notebook's file", json.dumps(NOTEBOOK, indent=1), {**SITE, **STICKY, "earliest_user_frame": cell(3)}),
    ("the same in one line", json.dumps(NOTEBOOK), {**SITE, **STICKY}),
    # pages, and what editors put before lines
    ("tags around lines", "<pre><code>\n" + lines(lambda _, line: f'<div class="l"><span>{page(line)}</span></div>') + "</code></pre>\n", WHOLE),
    ("line breaks", lines(lambda _, line: page(line) + "<br>"), WHOLE),
    ("places as links", LOSS.replace("/pytorch/aten/src/ATen/native/cuda/Loss.cu:245", "[/pytorch/aten/src/ATen/native/cuda/Loss.cu:245](http://h/Loss.cu#line=244)"), SITE),
    ("times of ts", lines(lambda _, line: "May 01 12:00:00 " + line), WHOLE),
    ("numbers of grep", lines(lambda number, line: f"fit.log:{number}:" + line), {**STICKY, **FRAMES}),
    ("escaped quotes", LOSS.replace("`", "\\`"), SITE),
    ("round brackets", LOSS.replace("[", "(").replace("]", ")"), SITE),
    ("broken before the block", LOSS.replace(" block: ", " \nblock: "), SITE),
    ("translated, condition lost", "../aten/src/ATen/native/cuda/Loss.cu：245： f（）： block： [8,0,0]， thread： [3,0,0] 断言失败。\n"
     "../aten/src/ATen/native/cuda/Loss.cu：245：f（）：块：[8,0,0]，线程：[4,0,0]断言失败。\n",
     {"kind": "device_assert", "line": 245, "kernel": "f()", "block": [8, 0, 0], "thread": [3, 0, 0], "count": 2}),
    # consoles, notebooks, ranks
    ("PowerShell", POWERSHELL + TRACE.split("\n", 1)[1] + ERROR + ASYNC, {**FRAMES, **STICKY}),
    ("rich in ASCII", BOX + ERROR, {"earliest_user_frame": FRAMES["earliest_user_frame"], "nearest_user_frame": cell(44, "main", "C:\\w\\net.py")}),
    ("linked frames", CELL + "Cell [In[5], line 3](vscode-notebook-cell:/x)\n----> 3 f(x)\n\nFile [~/net.py:42](http://h/net.py), in f(x)\n---> 42 x\n\n" + ERROR,
     {"earliest_user_frame": cell(3), "nearest_user_frame": cell(42, "f", "~/net.py")}),
    ("two ranks line by line", LOSS + "".join(f"[rank{rank}]: {line}" for line in LINES[1:] for rank in (0, 1)), WHOLE),
    ("Python of Windows", TRACE.replace("/w/fit.py", "C:\\Python311\\Lib\\threading.py", 1).replace("/w/fit.py", "D:\\w\\fit.py") + ERROR,
     {"earliest_user_frame": cell(44, "main", "D:\\w\\fit.py")}),
    # the tools
    ("an exception not known here", tool("Misaligned Shared or Local Address", *AT, "", "ERROR SUMMARY: 1 error"),
     {"kind": "sanitizer_memcheck", "primary_fault": "misaligned_shared_or_local_address", "line": 12, "kernel": "pick(int)"}),
    ("the tool's own failure", tool("Error: Unable to find injection library libx.so"), {"kind": "sanitizer_tool_error"}),
    ("narrow blanks in numbers", tool("Invalid __global__ read of size 4 bytes", *AT, "", "ERROR SUMMARY: 12\u202f345 errors"), {"count": 12345}),
    ("cut in a thread", tool("Invalid __global__ read of size 4 bytes", AT[0]) + "=========     by thread (3,", {"truncated": True}),
    ("frames of 2022", tool("Invalid __global__ read of size 4 bytes", "    at 0x90 in pick.cu:12:pick(int)", AT[1],
                            "    Saved host backtrace up to driver entry point at kernel launch time", "    Host Frame:/w/run.cpp:31:step() [0x8a]",
                            "               in /w/run", "", "ERROR SUMMARY: 1 error"),
     {"origin": "compute-sanitizer 2020-2023.2", "nearest_user_frame": {"file": "/w/run.cpp", "line": 31, "function": "step()"}}),
    ("XML of initcheck", XML.format("Uninitialized __global__ memory read of size 4 bytes"), {"kind": "sanitizer_initcheck", "primary_fault": "uninitialized_read"}),
    ("XML of synccheck", XML.format("Barrier error detected. Divergent thread(s) in block"), {"kind": "sanitizer_synccheck"}),
    ("XML without a record", "<ComputeSanitizerOutput>\n</ComputeSanitizerOutput>\n", {"kind": "sanitizer_clean", "count": 0}),
    ("an inlined place", "CUDA Exception: Warp Misaligned Address\nThe exception was triggered at PC 0x7f  load (v.cuh:7 in load inlined from v.cu:80)\n",
     {"kind": "gdb_exception", "file": "v.cuh", "line": 7, "kernel": "load"}),
    ("PyCUDA", TRACE + "pycuda._driver.LogicError: cuMemcpyDtoH failed: device-side assert triggered\n", {"api_call": "cuMemcpyDtoH"}),
    ("a toolkit that does not fit", TRACE + "RuntimeError: \nThe detected CUDA version (11.8) mismatches the version that was used to compile\nPyTorch (12.4).\n",
     {"kind": "environment_failure", "primary_fault": "toolkit_mismatch", "origin": "pytorch"}),
    # no fault
    ("links in prose", "See [the list](http://h/l): block: none, and a[1](b).\n", {"kind": "none"}),
]


class LogShellsTest(unittest.TestCase):
    def test_every_form(self):
        environment = dict(os.environ, DSAFUZZ_ROOT=ROOT)
        for name, text, expected in ROWS:
            run = subprocess.run([PROGRAM, "explain", "-", "--json"], input=text.encode(), capture_output=True, env=environment, timeout=60)
            reading = json.loads(run.stdout)
            for key, value in expected.items():
                with self.subTest(name, key=key):
                    self.assertEqual(reading[key], value)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
