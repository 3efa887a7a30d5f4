#include "repro/read_installation.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "repro/log_text.h"
#include "repro/scan.h"
#include "repro/tsv_table.h"
#include "repro/version_number.h"

namespace dsafuzz {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

void add(MachineFacts& facts, std::string_view name, std::string_view value) {
  if (!facts.find(name)) facts.set(name, value);
}

// "2.11.0+cu130" into version and local part.
void add_torch(MachineFacts& facts, std::string_view version) {
  add(facts, "torch.version", version_prefix(version));
  // "2.7.0a0+79aa174.nv25.4" of a vendor, "2.12.0.dev20260101+cu130", a build from source.
  const std::string_view public_part = version.substr(0, version.find('+'));
  bool own = public_part != version_prefix(version);
  if (take_until(version, "+")) {
    add(facts, "torch.local", version);
    own = own || !(version.starts_with("cu") || version == "cpu" || version.starts_with("rocm"));
  }
  if (own) facts.set("torch.own_build", "yes");
}

// The text in quotes, or None.
std::string_view literal(std::string_view text) {
  text = trimmed(text);
  if (text == "None") return "none";
  return text.size() >= 2 && (text.front() == '\'' || text.front() == '"') ? text.substr(1, text.size() - 2) : "";
}

// "cu13" of "nvidia_nccl_cu13"; wheels for CUDA 13 left the suffix out of most names.
std::string_view major_of(std::string_view wheel) {
  const std::size_t at = wheel.rfind("_cu");
  return at == std::string_view::npos ? std::string_view() : wheel.substr(at + 3);
}

// "Linux-5.15.90.1-microsoft-standard-WSL2-x86_64-with-glibc2.35"
void read_platform(std::string_view text, MachineFacts& facts) {
  for (const std::string_view machine : {"x86_64", "aarch64"}) {
    if (contains(text, machine)) add(facts, "os.arch", machine);
  }
  if (contains(text, "-tegra")) add(facts, "os.tegra", "yes");
  if (!contains(text, "microsoft")) return;
  add(facts, "os.wsl", "yes");
  add(facts, "os.windows", "yes");
}

std::string without_major(std::string_view wheel) {
  const std::string_view major = major_of(wheel);
  return std::string(major.empty() || !is_digit(major.front()) ? wheel : wheel.substr(0, wheel.rfind("_cu")));
}

}  // namespace

void read_nvcc_version(std::string_view text, MachineFacts& facts) {
  std::string_view rest = text;
  if (!take_until(rest, "Cuda compilation tools, release ")) return;
  facts.set("nvcc.version", version_prefix(rest));
  facts.set("nvcc.major", version_head(version_prefix(rest), 1));
  if (take_until(rest, ", V")) facts.set("nvcc.full", version_prefix(rest));
}

void read_cudnn_header(std::string_view text, MachineFacts& facts) {
  std::string version;
  for (const std::string_view part : {"CUDNN_MAJOR ", "CUDNN_MINOR ", "CUDNN_PATCHLEVEL "}) {
    std::string_view rest = text;
    if (!take_until(rest, "#define " + std::string(part))) return;
    const auto number = take_number(rest);
    if (!number) return;
    version += (version.empty() ? "" : ".") + std::to_string(*number);
  }
  facts.set("cudnn.header", version);
}

void read_compiler_version(std::string_view text, MachineFacts& facts) {
  std::string_view rest = text;
  if (take_until(rest, "clang version ")) {
    facts.set("compiler.clang", version_head(version_prefix(rest), 1));
    return;
  }
  // "g++ (Debian 12.2.0-14+deb12u1) 12.2.0": the last version of the first line.
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t blank = line.rfind(' ');
  const std::string_view last = blank == std::string_view::npos ? line : line.substr(blank + 1);
  if (contains(line, "g++") || contains(line, "gcc") || contains(line, "GCC"))
    facts.set("compiler.gcc", version_prefix(last));
}

void read_python(std::string_view text, MachineFacts& facts) {
  for (const std::string& line : read_log_text(text).lines) {
    std::string_view rest = line;
    if (take(rest, "python ") && contains(rest, ".")) facts.set("python.version", version_prefix(rest));
    if (take(rest, "glibc ")) facts.set("os.glibc", version_prefix(rest));
    if (take(rest, "machine ")) facts.set("os.arch", trimmed(rest));
  }
}

void read_torch_version(std::string_view text, MachineFacts& facts) {
  for (const std::string& line : read_log_text(text).lines) {
    std::string_view rest = line;
    const auto name = take_until(rest, "=");
    if (!name) continue;
    std::string_view words = trimmed(*name);
    const std::string_view key = trimmed(take_until(words, ":").value_or(trimmed(*name)));
    if (key == "__version__") add_torch(facts, literal(rest));
    if (key == "cuda") facts.set("torch.cuda", literal(rest));
    if (key == "hip" && literal(rest) != "none") facts.set("torch.hip", literal(rest));
  }
}

void read_torch_metadata(std::string_view text, MachineFacts& facts) {
  for (const std::string& line : read_log_text(text).lines) {
    std::string_view rest = line;
    if (take(rest, "Version: ")) add_torch(facts, trimmed(rest));
    if (!take(rest, "Requires-Dist: nvidia-")) continue;
    const bool cudnn = rest.starts_with("cudnn-cu"), nccl = rest.starts_with("nccl-cu");
    if ((cudnn || nccl) && take_until(rest, "==")) facts.set(cudnn ? "pin.cudnn" : "pin.nccl", version_prefix(rest));
  }
}

void read_wheels(std::string_view text, MachineFacts& facts) {
  constexpr std::array kWheels{Pair{"nvidia_cudnn", "wheel.cudnn"},
                               Pair{"nvidia_nccl", "wheel.nccl"},
                               Pair{"nvidia_cuda_runtime", "wheel.cudart"},
                               Pair{"nvidia_cublas", "wheel.cublas"},
                               Pair{"nvidia_nvjitlink", "wheel.nvjitlink"},
                               Pair{"nvidia_cuda_nvrtc", "wheel.nvrtc"},
                               Pair{"triton", "wheel.triton"}};
  const std::string_view torch_major = facts.value("torch.cuda_major");
  std::set<std::string> others, twice;
  std::map<std::string, std::string, std::less<>> versions;  // of each wheel, as its folder says
  for (const std::string& line : read_log_text(text).lines) {
    std::string_view rest = trimmed(line);
    if (take(rest, "conda ")) {
      // NAME-VERSION-BUILD
      if (take(rest, "pytorch-cuda-")) facts.set("conda.cuda", version_prefix(rest));
      if (take(rest, "pytorch-")) facts.set("conda.torch", version_prefix(rest));
      continue;
    }
    const auto name = take_until(rest, "-");
    if (!name) continue;
    const auto [at, is_first] = versions.emplace(*name, rest);
    if (!is_first && at->second != rest) {
      twice.insert(std::string(*name) + " " + at->second + " and " + std::string(rest));
      continue;
    }
    if (*name == "torch") add_torch(facts, rest);
    const std::string_view major = name->starts_with("nvidia_") ? major_of(*name) : std::string_view();
    if (!major.empty() && is_digit(major.front()) && !torch_major.empty() && major != torch_major) {
      others.insert(*name == rest ? std::string(*name) : std::string(*name) + " " + version_prefix(rest));
      continue;  // not the one that PyTorch asks for
    }
    for (const auto& [wheel, fact] : kWheels) {
      if (without_major(*name) == wheel) facts.set(fact, version_prefix(rest));
    }
  }
  std::string list;
  for (const std::string& other : others) list += (list.empty() ? "" : ", ") + other;
  facts.set("wheel.other_major", list);
  list.clear();
  for (const std::string& wheel : twice) list += (list.empty() ? "" : ", ") + wheel;
  facts.set("wheel.twice", list);
}

std::string wheels_in_collect_env(std::string_view text) {
  std::string wheels;
  for (const std::string& line : read_log_text(text).lines) {
    std::string_view rest = line;
    if (take(rest, "[pip3] ")) {
      const auto name = take_until(rest, "==");
      if (!name) continue;
      std::string wheel(*name);
      std::ranges::replace(wheel, '-', '_');  // as its folder is called
      if (wheel == "torch" || wheel == "triton" || wheel.starts_with("nvidia_"))
        wheels += wheel + "-" + std::string(trimmed(rest)) + "\n";
    } else if (take(rest, "[conda] pytorch")) {
      // NAME VERSION BUILD CHANNEL, with blanks between; NAME may go on
      std::string package = "conda pytorch" + std::string(rest.substr(0, rest.find(' ')));
      for (const std::string& word : split(rest.substr(std::min(rest.find(' '), rest.size())), ' ')) {
        if (!word.empty()) package += "-" + word;
      }
      wheels += package + "\n";
    }
  }
  return wheels;
}

void read_collect_env(std::string_view text, MachineFacts& facts) {
  constexpr std::array kLines{
      Pair{"Python version: ", "python.version"}, Pair{"CUDA used to build PyTorch: ", "torch.cuda"},
      Pair{"Nvidia driver version: ", "driver.version"}, Pair{"Libc version: glibc-", "os.glibc"}};
  for (const std::string& line : read_log_text(text).lines) {
    std::string_view rest = line;
    if (take(rest, "PyTorch version: ")) add_torch(facts, trimmed(rest));
    if (take(rest, "OS: Microsoft Windows")) facts.set("os.windows", "yes");
    if (take(rest, "Python platform: ")) read_platform(rest, facts);
    if (take(rest, "ROCM used to build PyTorch: ") && !rest.empty() && is_digit(rest.front())) {
      add(facts, "torch.hip", trimmed(rest));
      add(facts, "torch.cuda", "none");
    }
    if (take(rest, "CUDA used to build PyTorch: Could not collect")) add(facts, "torch.cuda", "none");
    if (take(rest, "CUDA runtime version: ")) {  // that of nvcc
      add(facts, "nvcc.version", version_head(version_prefix(rest), 2));
      add(facts, "nvcc.major", version_head(version_prefix(rest), 1));
      add(facts, "nvcc.full", version_prefix(rest));
    }
    for (const auto& [label, fact] : kLines) {
      std::string_view value = line;
      if (take(value, label)) add(facts, fact, version_prefix(value));
    }
    if (take(rest, "GPU models and configuration: ") && rest == "Could not collect") continue;
    if (!take(rest, "GPU ")) continue;
    const auto index = take_until(rest, ": ");
    if (!index || index->empty() || !is_digit(index->front())) continue;
    bool there = false;
    for (const FactValues& gpu : facts.gpus) there = there || gpu.at("gpu.index") == *index;
    constexpr std::size_t kMostGpus = 256;
    if (there || facts.gpus.size() == kMostGpus) continue;
    facts.gpus.emplace_back();
    set_fact(facts.gpus.back(), "gpu.index", *index);
    set_fact(facts.gpus.back(), "gpu.name", trimmed(rest));
  }
}

}  // namespace dsafuzz
