"""The virtual CUDA device for Python: after `import dsafuzz_vcuda`, torch.device("vcuda:0") works like "cuda:0".

The shared library is the one named by DSAFUZZ_VCUDA_LIBRARY, else the newest one built in build/*/lib.
"""

import glob
import os
import types

import torch

_NAME = "libdsafuzz_vcuda.so"


def _library():
    named = os.environ.get("DSAFUZZ_VCUDA_LIBRARY")
    if named:
        if not os.path.isfile(named):
            raise ImportError(f"DSAFUZZ_VCUDA_LIBRARY names no file: {named}")
        return named
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    pattern = os.path.join(root, "build", "*", "lib", _NAME)
    found = sorted(glob.glob(pattern), key=os.path.getmtime)
    if not found:
        raise ImportError(f"no {_NAME}: build it (cmake --workflow --preset dev), or set DSAFUZZ_VCUDA_LIBRARY; "
                          f"looked for {pattern}")
    return found[-1]


def _index(device):
    """The index that `device` (a torch.device, text, number or None for the current one) means."""
    if device is None:
        return current_device()
    if isinstance(device, int):
        return device
    device = torch.device(device)
    return current_device() if device.index is None else device.index


def is_available():
    return device_count() > 0


def is_initialized():
    return True


def init():
    pass


def _lazy_init():
    pass


def _is_in_bad_fork():
    return False


def device_count():
    return torch._C._accelerator_hooks_device_count()


def current_device():
    return torch._C._accelerator_hooks_get_current_device()


def set_device(device):
    torch._C._accelerator_hooks_set_current_device(_index(device))


def synchronize(device=None):
    """Waits for the device's work; raises the error that a kernel left behind."""
    torch._C._accelerator_synchronizeDevice(_index(device))


class device:
    """with torch.vcuda.device(1): ... makes that device current for a while."""

    def __init__(self, device):
        self._index = _index(device)

    def __enter__(self):
        self._before = current_device()
        set_device(self._index)

    def __exit__(self, *_):
        set_device(self._before)
        return False


def empty_cache():
    torch.ops.dsafuzz.empty_cache()


# Random operators run on the CPU, with its generator.
def get_rng_state(device=None):
    return torch.get_rng_state()


def set_rng_state(state, device=None):
    torch.set_rng_state(state)


def manual_seed(seed):
    torch.default_generator.manual_seed(seed)


def manual_seed_all(seed):
    manual_seed(seed)


def initial_seed():
    return torch.initial_seed()


def get_amp_supported_dtype():
    return [torch.float16, torch.bfloat16]


def _register():
    path = _library()
    try:
        torch.ops.load_library(path)
    except OSError as error:
        raise ImportError(f"{path} does not load: {error.__cause__ or error}") from None
    torch.utils.rename_privateuse1_backend("vcuda")
    module = types.ModuleType("torch.vcuda", __doc__)
    for function in (is_available, is_initialized, init, _lazy_init, _is_in_bad_fork, device_count, current_device,
                     set_device, synchronize, device, empty_cache, get_rng_state, set_rng_state, manual_seed,
                     manual_seed_all, initial_seed, get_amp_supported_dtype):
        setattr(module, function.__name__, function)
    torch._register_device_module("vcuda", module)
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)


_register()
