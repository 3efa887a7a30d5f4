"""Every operator of our own has a kernel for real GPUs in libdsafuzz_cuda, where nvcc built it: a scenario or a case
with one then runs on every device. Asks the dispatcher, so it needs no GPU.

    cuda_operators_test.py LIBDSAFUZZ_VCUDA LIBDSAFUZZ_CUDA
"""
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


if __name__ == "__main__":
    main()
