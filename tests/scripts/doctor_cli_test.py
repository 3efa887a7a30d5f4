"""dsafuzz doctor as a user runs it: on this machine with a fake nvidia-smi, on recorded folders, and on nothing.

Usage: doctor_cli_test.py DSAFUZZ INSTALLATIONS
"""

import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

DSAFUZZ, INSTALLATIONS = sys.argv[1:3]
HEALTHY = os.path.join(INSTALLATIONS, "healthy_a100_cu130")
UUID = "GPU-0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"


def doctor(*arguments, **variables):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("CUDA_", "PYTORCH_", "NCCL_", "LD_", "ASAN_"))}
    return subprocess.run([DSAFUZZ, "doctor", *arguments], capture_output=True, text=True, timeout=120,
                          env={**environment, **variables}, check=False)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def ids(report, level):
    return {line["id"] for line in report["lines"] if line["level"] == level}


class DoctorTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def fake_nvidia_smi(self):
        """A program that answers as nvidia-smi -q would on another machine; returns a PATH that finds it first."""
        os.mkdir(self.path("bin"))
        program = self.path("bin/nvidia-smi")
        text = read(os.path.join(HEALTHY, "nvidia-smi-q.txt")).replace(
            "GPU-00000000-0000-0000-0000-000000000001", UUID).replace("Serial Number                     : N/A",
                                                                    "Serial Number                     : 1320099000001")
        self.assertIn("1320099000001", text)
        with open(program, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n[ \"$*\" = -q ] || exit 1\ncat << 'END'\n{text}END\n")
        os.chmod(program, os.stat(program).st_mode | stat.S_IXUSR)
        return self.path("bin") + ":" + os.environ["PATH"]

    def test_exit_codes(self):
        healthy = doctor("--from", HEALTHY)
        self.assertEqual((healthy.returncode, healthy.stderr), (0, ""))
        self.assertIn("no faults, no warnings", healthy.stdout)
        os.mkdir(self.path("mismatch"))
        with open(self.path("mismatch/nvidia-smi.txt"), "w", encoding="utf-8") as file:
            file.write("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.133\n")
        faulty = doctor("--from", self.path("mismatch"))
        self.assertEqual(faulty.returncode, 1)
        self.assertIn("mend: sudo reboot", faulty.stdout)
        missing = doctor("--from", self.path("nowhere"))
        self.assertEqual(missing.returncode, 2)
        self.assertIn("nowhere: is no folder", missing.stderr)
        os.mkdir(self.path("empty"))
        empty = doctor("--from", self.path("empty"))
        self.assertEqual(empty.returncode, 3)
        self.assertIn("nothing is recorded here", empty.stderr)
        self.assertEqual(doctor("--from", HEALTHY, "--record", self.path("x")).returncode, 2)
        self.assertEqual(doctor("--python", self.path("no/python")).returncode, 2)
        self.assertEqual(doctor("--library", self.path("no.so")).returncode, 2)

    def test_this_machine(self):
        """Whatever the machine is, it can be examined; a variable that is left on is named."""
        plain = doctor("--json")
        self.assertIn(plain.returncode, (0, 1), plain.stderr)
        report = json.loads(plain.stdout)
        self.assertEqual(report["faults"] > 0, plain.returncode == 1)
        self.assertNotIn("launch_blocking_on", ids(report, "warning"))
        self.assertEqual(len(report["not_checkable"]), 4)
        self.assertIn("python.version", report["facts"])
        left_on = json.loads(doctor("--json", CUDA_LAUNCH_BLOCKING="1", CUDA_COREDUMP_FILE="/nowhere/core").stdout)
        self.assertLessEqual({"launch_blocking_on", "coredump_path"}, ids(left_on, "warning"))

    def test_record_is_what_was_seen_without_names(self):
        path = self.fake_nvidia_smi()
        seen = json.loads(doctor("--json", "--record", self.path("seen"), PATH=path,
                                 CUDA_VISIBLE_DEVICES=UUID[:12]).stdout)
        self.assertEqual(seen["gpus"][0]["gpu.uuid"], UUID)
        self.assertEqual(seen["facts"]["cvd.state"], "fine")
        for name in os.listdir(self.path("seen")):
            text = read(os.path.join(self.path("seen"), name))
            self.assertNotIn(UUID[4:12], text, name)
            self.assertNotIn("1320099000001", text, name)
        told = json.loads(doctor("--json", "--from", self.path("seen")).stdout)
        self.assertEqual([(line["level"], line["id"]) for line in told["lines"]],
                         [(line["level"], line["id"]) for line in seen["lines"]])

    def test_library_without_device_code(self):
        report = json.loads(doctor("--json", "--library", DSAFUZZ).stdout)
        self.assertIn("asserts_unknown", ids(report, "ok"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
