"""Writes tensor files, good and bad, for the tests of import. Usage: import_files.py FOLDER, with torch's Python."""
import os
import sys
import zipfile

import numpy
import torch


class Evil:
    """Ends in os.system when an unsuspecting reader unpickles it."""

    def __reduce__(self):
        return os.system, ("touch owned",)


os.chdir(sys.argv[1])
# Five classes; the label 5 is the first illegal one.
logits, labels = numpy.linspace(-1, 1, 40, dtype="f4").reshape(8, 5), numpy.array([0, 1, 2, 3, 4, 5, 0, 1])
numpy.savez("good.npz", logits=logits, labels=labels)
numpy.save("logits.npy", logits)
numpy.save("labels.npy", labels)
torch.save({"logits": torch.tensor(logits), "labels": torch.tensor(labels), "note": "x"}, "good.pt")
open("good.txt", "w").close()

# Values at the edges of each type.
INTEGERS = {name: [numpy.iinfo(name).min, -1 % (numpy.iinfo(name).max + 1), 0, numpy.iinfo(name).max]
            for name in ("int64", "int32", "int16", "int8", "uint8")}
REALS = {"float64": [0.1, -0.0, 5e-324, 1.7976931348623157e308], "float32": [0.1, -0.0, 1e-45, 16777216.0],
         "float16": [0.1, -0.0, 6e-08, 65504.0]}
arrays = {name: numpy.array(values * 2, dtype=name).reshape(2, 4) for name, values in INTEGERS.items()}
for name, values in REALS.items():
    arrays[name] = numpy.array([*values, numpy.nan, numpy.inf, -numpy.inf], dtype=name)
arrays["bool"] = numpy.array([True, False, True])
arrays["none"], arrays["scalar"] = numpy.zeros((0, 3), "f4"), numpy.array(7)
arrays["mostly"] = numpy.where(numpy.arange(100) == 41, -1, 6)
arrays["counted"] = numpy.arange(50, dtype="i4")
numpy.savez_compressed("all.npz", **{**arrays, "float32": arrays["float32"].astype(">f4")})
tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
tensors["bfloat16"] = torch.tensor([0.5, 1.0, -3.0, 2.0**100], dtype=torch.bfloat16)
tensors["expanded"] = torch.tensor([1, 2, 4]).expand(2, 3)
tensors["transposed"] = torch.tensor([[1, 2, 4], [8, 16, 32]]).t()
torch.save(tensors, "all.pt")

noise = numpy.sin(numpy.arange(300_000, dtype="f4"))
numpy.savez_compressed("constant.npz", logits=numpy.zeros((4000, 3000), "f4"), labels=numpy.full(4000, 3000))
numpy.savez("large.npz", logits=noise.reshape(1000, 300), labels=numpy.arange(1000) % 300)
numpy.savez("wide.npz", logits=noise[:120_000].reshape(1000, 120), labels=numpy.arange(1000) % 120)

torch.save({"logits": Evil(), "labels": torch.tensor(labels)}, "evil.pt")
torch.save({"logits": Evil(), "labels": torch.tensor(labels)}, "evil_legacy.pt", _use_new_zipfile_serialization=False)
numpy.savez("objects.npz", logits=numpy.array([Evil()], dtype=object), labels=labels)
numpy.savez("complex.npz", logits=logits.astype("c8"), labels=labels)
numpy.savez("text.npz", logits=numpy.array(["a", "b"]), labels=labels)
torch.save({"logits": torch.tensor(logits) * 1j, "labels": torch.tensor(labels)}, "complex.pt")
torch.save({"logits": torch.eye(3).to_sparse(), "labels": torch.tensor(labels)}, "sparse.pt")
torch.save({"logits": 1.5, "labels": torch.tensor(labels)}, "no_tensor.pt")
# 2^50 elements in the memory of one, along the last axis, where a case has no word for it.
torch.save({"logits": torch.zeros(1).as_strided((1 << 25, 1 << 25), (0, 0)), "labels": torch.tensor(labels)},
           "wide_stride.pt")
torch.jit.script(torch.nn.ReLU()).save("script.pt")
# A header that promises a terabyte.
with open("huge.npy", "wb") as huge:
    numpy.lib.format.write_array_header_1_0(huge, {"descr": "<f4", "fortran_order": False, "shape": (1 << 20, 1 << 18)})
with zipfile.ZipFile("lies.npz", "w") as archive:
    archive.write("huge.npy", "logits.npy")
    archive.write("labels.npy")
