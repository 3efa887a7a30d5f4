"""The library that puts dsafuzz's kernels in the place of ATen's on a GPU (the device cuda:N:own). Asks the dispatcher
and reads the file, so it needs no GPU.

    own_kernels_test.py LIBDSAFUZZ_KERNELS_ON_CUDA CATALOGUE
"""
import csv
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import unittest

import torch

LIBRARY, CATALOGUE = sys.argv[1:3]

# Operators without a kernel for CUDA in PyTorch: they call these.
CALLS = {"_unsafe_index": ["index"], "index_put": ["_index_put_impl"], "_unsafe_index_put": ["_index_put_impl"],
         "embedding": ["index_select"], "take_along_dim": ["gather"], "one_hot": ["scatter"],
         "nll_loss_nd": ["nll_loss_forward", "nll_loss2d_forward"],
         "cross_entropy_loss": ["nll_loss_forward", "nll_loss2d_forward"],
         "embedding_bag": ["_embedding_bag", "_embedding_bag_forward_only"], "ctc_loss": ["_ctc_loss"],
         "multilabel_margin_loss": ["multilabel_margin_loss_forward"], "to_dense": ["_to_dense"]}
# Gradients of operators in the catalogue, which have kernels of ours as well.
GRADIENTS = {"multilabel_margin_loss_backward", "_segment_reduce_backward", "_embedding_bag_backward",
             "_ctc_loss_backward"}
# Element-wise operators on types without a conversion: the program says that ATen's kernels run for these.
STILL_ATENS = {"U69", "U70"}
# What these print is a text that the caller gives.
SAYS_WHAT_IT_IS_TOLD = {"_assert_async", "_functional_assert_async", "multinomial"}


def base(name):
    return name.removeprefix("aten::").split(".")[0].rstrip("_")


def replaced():
    """Operators whose kernel for CUDA comes from a file of this project."""
    names = set()
    for name in torch._C._dispatch_get_all_op_names():
        if not name.startswith("aten::"):
            continue
        kernel = re.search(r"^(?:Sparse)?CUDA: registered at (\S+)", torch._C._dispatch_dump(name), re.MULTILINE)
        if kernel and "/kernels/aten/" in kernel[1]:
            names.add(name)
    return names


class OwnKernelsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(CATALOGUE, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        cls.asserts = [row for row in rows if row["id"].startswith("U")]
        cls.named = {base(name) for row in rows for name in re.findall(r"aten::\w+", row["operators"])}
        cls.before = replaced()
        torch.ops.load_library(LIBRARY)
        cls.names = replaced()
        cls.bases = {base(name) for name in cls.names}

    def test_nothing_is_replaced_before_it_is_loaded(self):
        self.assertEqual(self.before, set())

    def test_every_assert_of_the_catalogue_is_reached_through_these_kernels(self):
        self.assertGreater(len(self.asserts), 60)
        for row in self.asserts:
            names = {base(name) for name in re.findall(r"aten::\w+", row["operators"])}
            parts = {part for name in names for part in CALLS.get(name, [name])}
            if row["exception"] or row["id"] in STILL_ATENS:
                continue
            self.assertTrue(parts & self.bases, f"{row['id']}: none of {', '.join(sorted(parts))} is replaced")

    def test_nothing_else_is_replaced(self):
        known = self.named | GRADIENTS | {part for name in self.named for part in CALLS.get(name, [])}
        self.assertEqual(self.bases - known, set())

    def test_all_forms_of_an_operator_are(self):
        for form in ("index_select", "index_select.out", "gather", "gather.out", "scatter_.src", "scatter_add_",
                     "nll_loss_forward", "nll_loss_forward.output", "nll_loss_backward", "index.Tensor"):
            self.assertIn(f"aten::{form}", self.names)

    def test_it_holds_the_asserts(self):
        with open(LIBRARY, "rb") as file:
            held = file.read()
        self.assertIn(b"__assertfail", held)
        for row in self.asserts:
            if {base(name) for name in re.findall(r"aten::\w+", row["operators"])} & SAYS_WHAT_IT_IS_TOLD:
                continue
            self.assertIn(row["condition"].encode(), held, row["id"])

    # The virtual device's library has functions of the same names, and a process loads both.
    def test_it_shows_no_names_of_kernels(self):
        shown = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True)
        self.assertEqual([line.split()[-1] for line in shown.stdout.splitlines()], ["dsafuzz_cuda_start_counting"])

    @unittest.skipIf(os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/dxg"), "there is a GPU: see gpu_counters_test")
    def test_without_a_gpu_its_counters_say_why_there_are_none(self):
        start = ctypes.CDLL(LIBRARY).dsafuzz_cuda_start_counting
        start.restype = ctypes.c_char_p
        counters, size = ctypes.POINTER(ctypes.c_uint32)(), ctypes.c_uint32()
        for _ in range(2):
            self.assertRegex(start(ctypes.byref(counters), ctypes.byref(size)).decode(), "driver|device")
            self.assertFalse(counters)
            self.assertEqual(size.value, 0)

    def test_other_devices_are_as_before(self):
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kernels" / "python"))
        import dsafuzz_vcuda  # noqa: F401

        values, label = torch.tensor([[1.0, 2.0]]), torch.tensor([1])
        for device in ("cpu", "vcuda"):
            loss = torch.nn.functional.nll_loss(values.to(device), label.to(device))
            self.assertEqual(loss.cpu().item(), -2.0, device)
        with self.assertRaisesRegex(IndexError, "Target 5 is out of bounds"):
            torch.nn.functional.nll_loss(values, torch.tensor([5]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
