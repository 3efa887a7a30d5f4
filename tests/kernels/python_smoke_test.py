"""The virtual device from Python: a small module trains as on the CPU, then a bad label stops the device for good."""

import copy
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "kernels", "python"))

import torch
import torch.nn.functional as F

import dsafuzz_vcuda  # noqa: F401

STEPS = 5
CLASSES = 3


def losses(model, inputs, labels, device):
    """The losses of a few steps of SGD on `device`."""
    model = copy.deepcopy(model).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs, labels = inputs.to(device), labels.to(device)
    seen = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    return seen


def expect_raises(kind, text, function):
    try:
        function()
    except kind as error:
        assert text in str(error), f"expected {text!r} in {error}"
        return
    raise AssertionError(f"no {kind.__name__}: {text}")


def unknown_casts_assert():
    """In Python, LibTorch's own functions for the meta device refuse types that the device's operators take."""

    def store():
        ones = torch.ones(2, device="vcuda")
        torch.add(ones, ones, out=torch.empty(2, dtype=torch.bits8, device="vcuda"))

    def fetch():
        torch.ones(2, device="vcuda") + torch.empty(2, dtype=torch.uint4, device="vcuda")

    def finish(call):
        call()
        torch.vcuda.synchronize()

    # Each in a process of its own, for the device does not survive; none has used it yet.
    for call in (store, fetch):
        child = os.fork()
        if child == 0:
            try:
                expect_raises(RuntimeError, "device-side assert triggered", lambda: finish(call))
            except BaseException as error:
                print(f"{call.__name__}: {error!r}", file=sys.stderr, flush=True)
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, call.__name__


def main():
    unknown_casts_assert()
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, CLASSES))
    inputs, labels = torch.randn(16, 4), torch.randint(0, CLASSES, (16,))

    assert torch.vcuda.is_available() and torch.vcuda.device_count() == 2
    on_cpu, on_vcuda = losses(model, inputs, labels, "cpu"), losses(model, inputs, labels, "vcuda:1")
    assert torch.allclose(torch.tensor(on_cpu), torch.tensor(on_vcuda), atol=1e-5), (on_cpu, on_vcuda)
    assert on_vcuda[-1] < on_vcuda[0]

    with torch.vcuda.device(1):
        assert torch.vcuda.current_device() == 1
        assert torch.zeros(1, device="vcuda").get_device() == 1
    with torch.autocast("vcuda", dtype=torch.float16):
        assert model.to("vcuda")(inputs.to("vcuda")).dtype == torch.float16
    torch.vcuda.synchronize()

    x = torch.zeros(2, CLASSES, device="vcuda")
    expect_raises(RuntimeError, "found at least two devices, vcuda:0 and vcuda:1!",
                  lambda: x + torch.zeros(2, CLASSES, device="vcuda:1"))
    F.cross_entropy(x, torch.tensor([0, CLASSES], device="vcuda"))
    for call in (torch.vcuda.synchronize, x.cpu, x.sum, lambda: x[0, 0].item()):
        expect_raises(RuntimeError, "device-side assert triggered", call)
    expect_raises(torch.AcceleratorError, "Search for `cudaErrorAssert'", torch.vcuda.synchronize)
    print("ok")


main()
