"""What only a real GPU can show. Each test is a ctest of its own with the label `gpu`; without a GPU it is skipped and
says why.

    gpu_test.py classic | catalogue | devices | operators | own_kernels
"""
import json
import os
import pathlib
import sys
import unittest

import program

CORPUS = program.ROOT / "corpus"
CLASSIC = program.SCENARIOS / "linear_cross_entropy.yaml"
SIGNATURE = "Loss.cu nll_loss_forward_reduce_cuda_kernel_2d `t >= 0 && t < n_classes`"


def last_part(source):
    return source[source.rfind("/") + 1:]


class GpuTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        if not program.HAS_GPU:
            self.skipTest("no NVIDIA GPU: neither /dev/nvidiactl nor /dev/dxg is there")
        if not self.can_run("cuda:0"):
            self.skipTest("a GPU is there, but dsafuzz cannot run on cuda:0; `dsafuzz doctor` says why")

    def can_run(self, device):
        ended = self.run_program("replay", CORPUS / "regressions" / "control_offset_and_transposed" / "case.yaml",
                                 "--json", "--device", device, code=None)
        return ended.code == 0 and ended.json()["verdict"] == "ok"

    def test_classic(self):
        """The catalogue's signature (row U28's assert), many lost contexts, and no trouble."""
        out = self.folder / "out"
        ended = self.run_program("fuzz", CLASSIC, "--device", "cuda:0", "--runs", 100, "--expect", "--json", "--no-run",
                                 "--out", out, deadline=240)
        summary = ended.json()
        self.assertEqual(summary["problems"], [], str(ended))
        found = [f for f in summary["findings"] if f["signature"] == SIGNATURE]
        self.assertEqual(len(found), 1, str(ended))
        finding = json.loads((pathlib.Path(found[0]["folder"]) / "finding.json").read_text())
        self.assertTrue(finding["on_gpu"])
        self.assertEqual(finding["devices"], {"cuda:0": {"confirmed": 5, "of": 5}})
        self.assertEqual(found[0]["device"], "cuda:0")
        self.assertLessEqual({"torch", "gpu", "driver", "cuda_runtime"}, set(finding["outcome"]["versions"]))
        # The search is guided here, too: by operators, dtypes and sizes.
        self.assertGreater(summary["scenarios"][0]["features"], 20, str(ended))

    def test_operators(self):
        """The sound half of each pair of our own operators does on the GPU what it does elsewhere."""
        healthy = [path for path in sorted(program.SCENARIOS.glob("custom_*_healthy.yaml"))
                   if "device: 1" not in path.read_text()]
        self.assertGreater(len(healthy), 8)
        for path in healthy:
            with self.subTest(scenario=path.stem):
                seen = self.run_program("replay", path, "--json", "--device", "cuda:0", code=None).json()
                if "Could not run 'dsafuzz::" in seen["error"]:
                    self.skipTest("dsafuzz was built without nvcc, so its own operators do not run on a GPU")
                self.assertEqual(seen["verdict"], "ok", seen)

    def test_catalogue(self):
        """Every case of the catalogue does on the GPU what the catalogue says of a GPU."""
        ended = self.run_program("matrix", "--no-variants", "--json", "--jobs", min(8, os.cpu_count() or 1), code=None,
                                 deadline=280)
        rows = json.loads(ended.out)
        self.assertGreater(len(rows), 100)
        for row in rows:
            if row["agreement"] == "not_run":
                continue
            with self.subTest(row=row["id"]):
                cell = row["cuda:0"]
                if cell["verdict"] == "setup_failed":
                    continue  # another GPU, or nvcc, is needed
                self.assertEqual(cell["verdict"], row["expected"], cell)
                if row["expected"] == "device_assert":
                    self.assertTrue(cell["site"].startswith(last_part(row["source"]).split(":")[0]), cell)
                    self.assertIn(f"`{row['condition']}`", cell["signature"])

    def test_own_kernels(self):
        """The source that the virtual device runs says on a GPU what it says there."""
        if not self.can_run("cuda:0:own"):
            self.skipTest("dsafuzz was built without nvcc, so its kernels do not run on a GPU")
        cases = [CORPUS / "regressions" / name for name in (
            "cross_entropy_classic_minimal", "cross_entropy_reduction_none", "gather_index_equals_size",
            "index_select_negative", "scatter_add_negative", "nll_loss2d_backward_mean", "control_empty_batch",
            "control_offset_and_transposed")]
        seen = self.run_program("fidelity", *cases, "--devices", "vcuda,cuda:0:own", "--json", "-", code=None,
                                deadline=240).json()
        self.assertEqual(seen["compared"], len(cases), seen)
        self.assertEqual(seen["differences"], [])

    def test_devices(self):
        """Two devices, one corpus: a finding is examined once and shows on both."""
        if not self.can_run("cuda:1"):
            self.skipTest("there is no second GPU that can be used")
        ended = self.run_program("fuzz", CLASSIC, "--devices", "cuda:0,cuda:1", "--runs", 100, "--expect", "--json",
                                 "--no-run", "--out", self.folder / "out", deadline=280)
        summary = ended.json()
        self.assertEqual(summary["problems"], [], str(ended))
        self.assertEqual([d["name"] for d in summary["devices"]], ["cuda:0", "cuda:1"])
        found = [f for f in summary["findings"] if f["signature"] == SIGNATURE]
        self.assertEqual(len(found), 1, str(ended))
        finding = json.loads((pathlib.Path(found[0]["folder"]) / "finding.json").read_text())
        self.assertEqual(finding["devices"], {d: {"confirmed": 5, "of": 5} for d in ("cuda:0", "cuda:1")})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", f"GpuTest.test_{sys.argv[1]}"])
