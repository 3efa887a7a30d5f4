#include "repro/machine_facts.h"

#include <algorithm>
#include <array>

namespace dsafuzz {
namespace {

constexpr std::array kNames{
    FactName{"os.arch", "x86_64 or aarch64"},
    FactName{"os.kernel", "the kernel's version"},
    FactName{"os.glibc", "version of the C library"},
    FactName{"os.wsl", "yes: Windows Subsystem for Linux"},
    FactName{"os.windows", "yes: the driver is that of Windows"},
    FactName{"os.tegra", "yes: a Jetson, whose GPU is part of the chip and whose driver is part of JetPack"},
    FactName{"os.container", "yes: inside a container"},
    FactName{"os.without_gpus", "yes: a container that was started without the GPUs of its host"},
    FactName{"os.iommu", "the words about an IOMMU on the kernel's command line, if they turn it on without iommu=pt"},

    FactName{"driver.version", "version of the loaded kernel driver, else what nvidia-smi says"},
    FactName{"driver.module", "version of the loaded kernel module"},
    FactName{"driver.kind", "open or proprietary kernel module"},
    FactName{"driver.user", "the same, or that of a newer forward-compatibility driver that the loader takes"},
    FactName{"driver.nvml", "version of libnvidia-ml.so.1"},
    FactName{"driver.cuda", "newest CUDA version the driver takes"},
    FactName{"driver.cuda_major", "the first number of that"},
    FactName{"driver.libcuda", "file that the loader takes as libcuda.so.1"},
    FactName{"driver.libcuda_version", "version in that file's name"},
    FactName{"driver.libcuda_plain", "yes: libcuda.so.1 is a plain file where a link is expected"},
    FactName{"driver.nouveau", "yes: the module nouveau is loaded"},
    FactName{"smi.failure",
             "how nvidia-smi failed: no_driver, no_library, mismatch, no_devices, unknown_error, permissions, "
             "blocked, gpu_lost, hangs or other"},
    FactName{"smi.message", "the line in which it says so"},
    FactName{"smi.unreadable", "the first line of an output of nvidia-smi that has none of its forms"},
    FactName{"smi.sensors", "a line of it in which some of a GPU's sensors could not be read"},
    FactName{"smi.cut_forms", "commands of nvidia-smi whose recorded output ends too early"},
    FactName{"smi.cut", "number of GPUs that nvidia-smi -q announces, if it shows fewer"},
    FactName{"smi.missing", "yes: there is no nvidia-smi"},
    FactName{"smi.banner", "new: nvidia-smi writes KMD Version and CUDA UMD Version"},
    FactName{"pci.gpus", "number of NVIDIA GPUs on the PCI bus"},
    FactName{"dev.control", "opening /dev/nvidiactl: ok, missing, or the error's name"},
    FactName{"dev.denied", "number of GPUs whose device files may not be opened"},
    FactName{"dev.uvm", "opening /dev/nvidia-uvm: ok, missing, or the error's name"},

    FactName{"gpu.index", "number in nvidia-smi"},
    FactName{"gpu.name", "product name"},
    FactName{"gpu.cc", "compute capability"},
    FactName{"gpu.uuid", "UUID"},
    FactName{"gpu.memory_mib", "memory in MiB"},
    FactName{"gpu.used_mib", "memory in use in MiB"},
    FactName{"gpu.processes", "number of processes listed on it"},
    FactName{"gpu.pids", "their numbers"},
    FactName{"gpu.dead_processes", "listed processes that do not exist any more, by number"},
    FactName{"gpu.held_percent", "share of the memory in use while no living process is listed"},
    FactName{"gpu.graphics", "yes: a graphics server has it open"},
    FactName{"gpu.license", "state of its vGPU licence"},
    FactName{"gpu.persistence", "Enabled or Disabled"},
    FactName{"gpu.display", "Enabled if a display is driven"},
    FactName{"gpu.mig", "Enabled or Disabled"},
    FactName{"gpu.mig_devices", "number of MIG devices"},
    FactName{"gpu.mig_uuids", "their UUIDs"},
    FactName{"gpu.compute_mode", "Default, Exclusive_Process or Prohibited"},
    FactName{"gpu.ecc_uncorrected", "uncorrectable ECC errors since the driver was loaded"},
    FactName{"gpu.remap_pending", "Yes: a row remapping or page retirement waits for a reset"},
    FactName{"gpu.remap_failed", "Yes: a row could not be remapped"},
    FactName{"gpu.recovery", "action the driver asks for"},
    FactName{"gpu.fabric", "state of the NVLink fabric, where there is one"},
    FactName{"gpu.last_torch", "newest PyTorch with code for it: 2.14 (cu126), or none"},
    FactName{"gpu.fabric_status", "what became of setting it up: Success, or an error"},
    FactName{"gpu.mig_pending", "MIG mode after the next reset"},
    FactName{"gpu.visible", "yes or no: whether CUDA_VISIBLE_DEVICES lets programs see it"},
    FactName{"gpu.runs", "yes or no: whether the installed PyTorch holds code for it"},
    FactName{"gpu.in_arch_list", "yes or no: whether code built for TORCH_CUDA_ARCH_LIST runs on it"},
    FactName{"gpu.mig_floor", "oldest driver that can split it"},
    FactName{"gpus.count", "number of GPUs"},
    FactName{"gpus.none", "yes: no GPU, no driver, and nothing that failed to look for them"},
    FactName{"gpus.by_speed", "different models among all GPUs, if there are several and CUDA numbers them by speed"},
    FactName{"gpus.last_driver", "driver branch after which none drives the oldest of the GPUs"},
    FactName{"gpus.visible", "number of GPUs that programs see"},
    FactName{"gpus.models", "different models among the visible GPUs, if there are several"},
    FactName{"gpus.capabilities", "different capabilities among the visible GPUs with ; between, if there are several"},
    FactName{"gpus.smallest_percent", "memory of the smallest visible GPU in percent of the largest"},
    FactName{"cvd.state", "what CUDA_VISIBLE_DEVICES is: fine, empty, invalid, duplicate, mixed or no_match"},
    FactName{"cvd.bad", "its first wrong entry"},
    FactName{"cvd.kind", "index, uuid or mig"},

    FactName{"python.version", "version of the Python that was asked"},
    FactName{"python.version_minor", "its first two numbers"},
    FactName{"torch.version", "version of the installed PyTorch"},
    FactName{"torch.local", "what follows the + of its version: cu130, cpu, rocm6.2"},
    FactName{"torch.own_build", "yes: not a released build, so that the tables do not know it"},
    FactName{"torch.cuda", "CUDA version it was built for, or none"},
    FactName{"torch.cuda_major", "the first number of that"},
    FactName{"torch.hip", "ROCm version it was built for"},
    FactName{"pin.known", "yes: the build stands in torch_builds.tsv; no: it does not"},
    FactName{"pin.cudnn", "cuDNN that this build of PyTorch asks for"},
    FactName{"pin.cudnn_major", "the first number of that"},
    FactName{"pin.cudnn_minor", "the first two numbers of that"},
    FactName{"pin.nccl", "NCCL that this build of PyTorch asks for"},
    FactName{"pin.sass", "capabilities it holds machine code for"},
    FactName{"pin.python_min", "oldest Python it has wheels for"},
    FactName{"pin.python_max", "newest Python it has wheels for"},
    FactName{"pin.driver_floor", "oldest driver that runs its CUDA version"},
    FactName{"pin.driver_named", "driver that its makers name for it, where that is newer than the floor"},
    FactName{"pin.driver_release", "driver its CUDA version was released with"},
    FactName{"known.python_max", "newest Python that any PyTorch has wheels for"},

    FactName{"wheel.cudnn", "version of the installed nvidia-cudnn wheel"},
    FactName{"wheel.cudnn_three", "its first three numbers, as the file's name has them"},
    FactName{"wheel.nccl", "version of the installed nvidia-nccl wheel"},
    FactName{"wheel.cudart", "version of the installed nvidia-cuda-runtime wheel"},
    FactName{"wheel.cublas", "version of the installed nvidia-cublas wheel"},
    FactName{"wheel.nvjitlink", "version of the installed nvidia-nvjitlink wheel"},
    FactName{"wheel.triton", "version of the installed Triton"},
    FactName{"wheel.nvrtc", "version of the installed nvidia-cuda-nvrtc wheel"},
    FactName{"wheel.twice", "wheels that are installed in two versions"},
    FactName{"conda.torch", "version of the PyTorch that conda installed"},
    FactName{"conda.cuda", "CUDA version of conda's pytorch-cuda"},
    FactName{"wheel.other_major", "installed nvidia wheels of another CUDA version than PyTorch's"},
    FactName{"ptxas.version", "CUDA version of the ptxas inside Triton"},
    FactName{"ptxas.major", "the first number of that"},

    FactName{"cudnn.used", "cuDNN that PyTorch gets: that in torch/lib, else the wheel's, else what the loader finds"},
    FactName{"cudnn.used_major", "the first number of that"},
    FactName{"cudnn.used_minor", "the first two numbers of that"},
    FactName{"cudnn.bundled", "version of the cuDNN inside torch/lib, or yes"},
    FactName{"cudnn.header", "version in the system's cudnn_version.h"},
    FactName{"cudnn.header_major", "the first number of that"},
    FactName{"cudnn.header_minor", "the first two numbers of that"},
    FactName{"cudnn.path", "cuDNN that LD_LIBRARY_PATH puts first"},
    FactName{"cudnn.path_folder", "its folder"},
    FactName{"cudnn.loader", "cuDNN the loader finds outside the wheels"},
    FactName{"cudnn.mixed", "versions of cuDNN found in one loader folder, if there are several"},
    FactName{"cudnn.incomplete", "folder that has libcudnn but not its parts"},
    FactName{"cudnn.tensor_ir", "a libcudnn_engines_tensor_ir the loader finds outside the wheels"},
    FactName{"nccl.loader", "NCCL that LD_PRELOAD or LD_LIBRARY_PATH puts first"},
    FactName{"nvjitlink.path", "version of the nvJitLink that LD_LIBRARY_PATH puts first"},
    FactName{"libraries.listed", "yes: libraries were looked for"},
    FactName{"path.cuda", "first folder of LD_LIBRARY_PATH that holds CUDA's libraries"},
    FactName{"path.cpp", "first folder of LD_LIBRARY_PATH that holds nvJitLink, NVRTC or cuBLASLt"},
    FactName{"path.stubs", "folder of stubs on LD_LIBRARY_PATH"},

    FactName{"nvcc.version", "release of nvcc: 13.0"},
    FactName{"nvcc.full", "its full version: 13.0.88"},
    FactName{"nvcc.major", "the first number"},
    FactName{"nvcc.driver_floor", "oldest driver that runs what this nvcc builds"},
    FactName{"nvcc.gcc_max", "newest GCC it takes"},
    FactName{"nvcc.gcc_package", "the number in the name of the newest GCC it takes: g++-12"},
    FactName{"nvcc.clang_max", "newest clang it takes"},
    FactName{"nvcc.torch_gcc_below", "GCC from which PyTorch 2.11 refuses to build extensions with it"},
    FactName{"nvcc.removed_arches", "entries of TORCH_CUDA_ARCH_LIST that this nvcc does not know"},
    FactName{"compiler.gcc", "version of g++"},
    FactName{"compiler.gcc_limit", "the same, with as many numbers as nvcc.gcc_max"},
    FactName{"compiler.clang", "major version of clang, if it is nvcc's host compiler"},
    FactName{"compiler.cc", "no: there is no C compiler"},

    FactName{"alloc.conf", "PYTORCH_ALLOC_CONF, else PYTORCH_CUDA_ALLOC_CONF"},
    FactName{"alloc.bad", "an option in it that PyTorch refuses"},
    FactName{"env.debug_left", "debugging variables that are set"},
    FactName{"flags.ndebug", "variable that hands -DNDEBUG to nvcc"},
    FactName{"asserts.missing", "libraries with device code but without asserts"},
    FactName{"asserts.unknown", "libraries of which that cannot be said, and why"},
    FactName{"asserts.present", "libraries with device code and asserts"},

    FactName{"process.living", "numbers of those processes listed on GPUs that exist"},
    FactName{"process.mps", "yes: an MPS daemon runs"},
    FactName{"process.persistenced", "yes: nvidia-persistenced runs"},
    FactName{"process.fabricmanager", "yes: nv-fabricmanager runs"},
    FactName{"xid.fatal", "numbers of Xid messages that mean a lost or broken GPU"},
    FactName{"xid.application", "numbers of Xid messages that a program caused"},
    FactName{"log.recovery", "action that the kernel's log says is needed"},
    FactName{"log.mismatch", "yes: the kernel's log tells of a client of another version than the module"},
    FactName{"log.open_needed", "yes: the kernel's log asks for the open kernel module"},
    FactName{"log.legacy", "driver branch that the kernel's log names for an old GPU: 470.xx"},
    FactName{"log.hmm", "yes: the kernel's log says that HMM could not be set up"},

    FactName{"limit.shm_mib", "size of /dev/shm in MiB"},
    FactName{"limit.memlock_kib", "limit of locked memory in KiB, if there is one"},
    FactName{"limit.memory_mib", "the control group's limit of memory in MiB"},
    FactName{"limit.address_mib", "limit of a process's address space in MiB, if there is one"},
    FactName{"coredump.folder", "where GPU core dumps go"},
    FactName{"coredump.state", "ok, or why nothing can be written there"},
    FactName{"kernel.overcommit", "vm.overcommit_memory: 2 promises no more memory than there is"},
    FactName{"kernel.commit_limit_mib", "MiB of memory that may be promised where kernel.overcommit is 2"},
    FactName{"kernel.commit_left_mib", "MiB of that which are not promised yet"},
    FactName{"kernel.core_pipe", "program that the kernel hands the cores of crashed programs to"},
    FactName{"kernel.ptrace_scope", "kernel.yama.ptrace_scope: whom a debugger may trace"},
    FactName{"os.may_trace", "yes or no: CAP_SYS_PTRACE, with which only a scope of 3 stops a debugger"},
};

}  // namespace

const std::string* MachineFacts::find(std::string_view name, const FactValues* gpu) const {
  if (gpu && name.starts_with("gpu.")) {
    const auto at = gpu->find(name);
    return at == gpu->end() ? nullptr : &at->second;
  }
  const auto at = values.find(name);
  return at == values.end() ? nullptr : &at->second;
}

std::string_view MachineFacts::value(std::string_view name) const {
  const std::string* found = find(name);
  return found ? std::string_view(*found) : std::string_view();
}

void MachineFacts::set(std::string_view name, std::string_view value) { set_fact(values, name, value); }

void set_fact(FactValues& values, std::string_view name, std::string_view value) {
  if (!value.empty()) values.insert_or_assign(std::string(name), std::string(value));
}

void set_if_new(FactValues& values, std::string_view name, std::string_view value) {
  if (!values.contains(name)) set_fact(values, name, value);
}

std::span<const FactName> fact_names() { return kNames; }

bool is_fact_name(std::string_view name) {
  constexpr std::string_view kVariable = "env.";
  const auto word = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  if (name.starts_with(kVariable) && name.size() > kVariable.size() &&
      std::ranges::all_of(name.substr(kVariable.size()), word))
    return true;
  return std::ranges::find(kNames, name, &FactName::name) != kNames.end();
}

}  // namespace dsafuzz
