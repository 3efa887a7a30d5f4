// What was seen of a machine, word for word: the outputs of tools and the contents of files, by name. The live machine
// gives one, and so does a folder with a file for each name, which a user can send. repro/read_machine.h reads it.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace dsafuzz {

using MachineRecord = std::map<std::string, std::string, std::less<>>;

struct RecordItem {
  std::string_view name;  // also the file's name in a folder
  std::string_view what;
};
// All names there are. One that is missing in a record was not there to be seen. What a tool wrote on standard error
// stands with the rest.
inline constexpr std::array kRecordItems{
    RecordItem{"nvidia-smi-q.txt", "nvidia-smi -q"},
    RecordItem{"nvidia-smi.txt", "nvidia-smi"},
    RecordItem{"nvidia-smi-csv.txt", "nvidia-smi --query-gpu=index,name,compute_cap --format=csv"},
    RecordItem{"nvidia-smi-list.txt", "nvidia-smi -L"},
    RecordItem{"driver-module.txt", "/proc/driver/nvidia/version"},
    RecordItem{"kernel.txt", "/proc/version, and the words about an IOMMU on the kernel's command line"},
    RecordItem{"kernel-log.txt", "the NVIDIA drivers' lines of the kernel's log"},
    RecordItem{"modules.txt", "the lines about nvidia and nouveau in /proc/modules"},
    RecordItem{"devices.txt", "/dev/nvidia*, and whether each can be opened"},
    RecordItem{"pci.txt", "NVIDIA GPUs on the PCI bus"},
    RecordItem{"processes.txt", "NVIDIA's daemons, and the processes that nvidia-smi lists, if they exist"},
    RecordItem{"environment.txt", "the environment variables that CUDA, PyTorch, NCCL, compilers and loaders read"},
    RecordItem{"limits.txt",
               "limits of memory and shared memory, where core dumps go, and the kernel's settings for them, for "
               "promised memory and for debuggers"},
    RecordItem{"python.txt", "versions of Python and of the C library"},
    RecordItem{"torch-version.txt", "torch/version.py"},
    RecordItem{"torch-metadata.txt", "what PyTorch's METADATA says of its version and of NVIDIA's wheels"},
    RecordItem{"wheels.txt", "installed wheels of PyTorch, Triton and NVIDIA, and conda's PyTorch"},
    RecordItem{"libraries.txt", "CUDA's and the driver's libraries, and how a loader comes to them"},
    RecordItem{"cudnn-header.txt", "the version in the system's cudnn_version.h"},
    RecordItem{"nvcc.txt", "nvcc --version"},
    RecordItem{"compiler.txt", "--version of the host compiler that nvcc would use"},
    RecordItem{"ptxas.txt", "--version of the ptxas inside Triton"},
    RecordItem{"device-code.txt", "libraries of kernels, and whether their asserts are in"},
    RecordItem{"collect_env.txt", "python -m torch.utils.collect_env, if somebody added it"},
};

}  // namespace dsafuzz
