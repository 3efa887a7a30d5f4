"""Every operator of our own has a kernel for real GPUs in libdsafuzz_cuda, where nvcc built it: a scenario or a case
with one then runs on every device. Asks the dispatcher and reads the file, so it needs no GPU.

    cuda_operators_test.py LIBDSAFUZZ_VCUDA LIBDSAFUZZ_CUDA
"""
import subprocess
import sys

import torch

# Of the virtual device alone: what torch.vcuda.empty_cache calls.
NOT_ON_A_GPU = {"dsafuzz::empty_cache"}


def main():
    for library in sys.argv[1:]:
        torch.ops.load_library(library)
    names = {name for name in torch._C._dispatch_get_all_op_names() if name.startswith("dsafuzz::")} - NOT_ON_A_GPU
    assert len(names) > 20, names
    lacking = [name for name in sorted(names) if not torch._C._dispatch_has_kernel_for_dispatch_key(name, "CUDA")]
    assert not lacking, f"no CUDA kernel for {', '.join(lacking)}"
    # Launchers have the same names in both libraries: shown ones would be the virtual device's in a process with both.
    shown = subprocess.run(["nm", "-D", "--defined-only", sys.argv[2]], capture_output=True, text=True, check=True).stdout
    assert [line.split()[-1] for line in shown.splitlines()] == ["dsafuzz_cuda_start_counting"], shown


if __name__ == "__main__":
    main()
