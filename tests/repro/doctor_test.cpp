// The doctor names what is wrong with each fake installation, and nothing else; its rules cover every known conflict.
#include "repro/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "installation.h"
#include "repro/read_machine.h"
#include "repro/tsv_table.h"

namespace dsafuzz {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

const VersionTables& tables() {
  static const VersionTables read = VersionTables::built_in().value();
  return read;
}
const std::vector<DoctorRule>& rules() {
  static const auto read = parse_doctor_rules(kDoctorRulesText, "doctor_rules.tsv").value();
  return read;
}
std::vector<DoctorLine> judged(const MachineRecord& record) {
  return judge_machine(read_machine(record, tables()), rules());
}

bool is_statement(const std::string& id) {
  return std::ranges::any_of(rules(), [&](const DoctorRule& rule) { return rule.id == id && rule.is_statement; });
}

// Sorted ids of the lines at one level; statements of what is there are left out.
std::vector<std::string> ids_of(const std::vector<DoctorLine>& lines, Health level) {
  std::set<std::string> ids;
  for (const DoctorLine& line : lines) {
    if (line.level == level && !is_statement(line.id)) ids.insert(line.id);
  }
  return {ids.begin(), ids.end()};
}

TEST(DoctorTest, NamesTheFaultOfEachInstallationAndNothingElse) {
  const auto installations = read_installations(DSAFUZZ_INSTALLATIONS);
  std::size_t healthy = 0, ill = 0;
  for (const Installation& one : installations) {
    SCOPED_TRACE(one.name + ": " + one.why);
    const auto lines = judged(one.record);
    EXPECT_EQ(ids_of(lines, Health::fault), one.faults);
    EXPECT_EQ(ids_of(lines, Health::warning), one.warnings);
    EXPECT_EQ(ids_of(lines, Health::ok), one.notes);
    for (const DoctorLine& line : lines) {
      EXPECT_EQ(line.mends.empty(), line.level == Health::ok) << line.id;
      EXPECT_THAT(line.says + line.mends, testing::Not(HasSubstr("?"))) << "a fact is missing in " << line.id;
    }
    const bool well = one.faults.empty() && one.warnings.empty();
    EXPECT_EQ(one.name.starts_with("healthy_"), well);
    ++(well ? healthy : ill);
  }
  EXPECT_GE(healthy, 38u);
  EXPECT_GE(ill, 100u);
}

// Conflicts that no installation shows, each with the least that shows it. `record` is laid over a healthy machine.
struct SmallRow {
  const char* conflict;
  Health level;
  MachineRecord record;
};

std::string torch_version(const std::string& version, const std::string& cuda) {
  return "__version__ = '" + version + "'\ncuda: Optional[str] = '" + cuda + "'\nhip: Optional[str] = None\n";
}
std::string query(const std::string& driver, const std::string& cuda,
                  const std::string& gpu = "NVIDIA A100-SXM4-80GB") {
  return "Driver Version    : " + driver + "\nCUDA Version      : " + cuda +
         "\n\nGPU 00000000:0F:00.0\n    Product Name          : " + gpu + "\n";
}
const std::string kSystem = "ldconfig /usr/lib/x86_64-linux-gnu/";

std::vector<SmallRow> small_rows() {
  const std::string path = "LD_LIBRARY_PATH /opt/cuda/lib/";
  return {
      {"ptx_unsupported_toolchain",
       Health::warning,
       {{"nvidia-smi-q.txt", query("580.126.09", "13.0")},
        {"nvcc.txt", "Cuda compilation tools, release 13.2, V13.2.51"}}},
      {"cudnn_920_missing_engine",
       Health::fault,
       {{"torch-version.txt", torch_version("2.12.0+cu130", "13.0")},
        {"wheels.txt", "nvidia_cudnn_cu13-9.20.0.48\n"},
        {"libraries.txt",
         kSystem + "libcudnn_engines_tensor_ir.so.9 -> /usr/lib/libcudnn_engines_tensor_ir.so.9.23.1\n"}}},
      {"cudnn_unable_to_load", Health::fault, {{"libraries.txt", path + "libcudnn.so.9\n"}}},
      {"nvjitlink_symbol",
       Health::fault,
       {{"torch-version.txt", torch_version("2.5.1+cu124", "12.4")},
        {"wheels.txt", "nvidia_nvjitlink_cu12-12.4.127\n"},
        {"libraries.txt", path + "libnvJitLink.so.12 -> /opt/cuda/lib/libnvJitLink.so.12.1.105\n"}}},
      {"nccl_pkg_vs_loaded",
       Health::warning,
       {{"torch-metadata.txt", "Requires-Dist: nvidia-nccl-cu13==2.28.9; platform_system == \"Linux\"\n"},
        {"wheels.txt", "nvidia_nccl_cu13-2.30.4\n"}}},
      {"p2p_acs_iommu",
       Health::warning,
       {{"kernel.txt", "Linux version 6.8.0\ncommand line: intel_iommu=on\n"},
        {"nvidia-smi-list.txt", "GPU 0: NVIDIA L4 (UUID: GPU-1)\nGPU 1: NVIDIA L4 (UUID: GPU-2)\n"},
        {"nvidia-smi-q.txt", ""}}},
      {"expandable_segments_ipc",
       Health::fault,
       {{"kernel.txt", "Linux version 5.4.0-150-generic (builder@host)\n"},
        {"environment.txt", "PYTORCH_ALLOC_CONF=expandable_segments:True\n"}}},
      {"alloc_conf_name",
       Health::warning,
       {{"environment.txt", "PYTORCH_ALLOC_CONF=backend:native\nPYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync\n"}}},
      {"compat_older_than_host",
       Health::fault,
       {{"driver-module.txt", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Wed\n"},
        {"libraries.txt",
         "LD_LIBRARY_PATH /usr/local/cuda/compat/libcuda.so.1 -> "
         "/usr/local/cuda/compat/libcuda.so.570.124.06\n"}}},
      {"wsl_stub",
       Health::fault,
       {{"kernel.txt", "Linux version 6.6.87.2-microsoft-standard-WSL2 (root@host)\n"},
        {"driver-module.txt", ""},
        {"libraries.txt", kSystem + "libcuda.so.1 -> /usr/lib/x86_64-linux-gnu/libcuda.so.535.54.03\n"}}},
      {"mig_torch_count_zero",
       Health::fault,
       {{"torch-version.txt", torch_version("2.0.1+cu117", "11.7")},
        {"environment.txt", "CUDA_VISIBLE_DEVICES=MIG-00000000-0000-0000-0000-000000000002\n"}}},
      {"mig_driver_floor",
       Health::warning,
       {{"driver-module.txt", ""}, {"nvidia-smi-q.txt", query("450.51.06", "11.0")}}},
      {"torch_ext_compiler_bounds",
       Health::fault,
       {{"nvcc.txt", "Cuda compilation tools, release 12.8, V12.8.93"},
        {"torch-version.txt", torch_version("2.11.0+cu128", "12.8")},
        {"compiler.txt", "g++ (GCC) 14.2.0\n"}}},
      {"nvcc_arch_removed",
       Health::fault,
       {{"nvcc.txt", "Cuda compilation tools, release 13.0, V13.0.88"},
        {"environment.txt", "TORCH_CUDA_ARCH_LIST=7.0;8.0+PTX\n"}}},
      {"arch_list_env_left", Health::fault, {{"environment.txt", "TORCH_CUDA_ARCH_LIST=8.6 9.0+PTX\n"}}},
      {"triton_needs_tools", Health::warning, {{"limits.txt", "compiler.cc no\n"}}},
      {"cudnn_header",
       Health::warning,
       {{"cudnn-header.txt", "#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 9\n#define CUDNN_PATCHLEVEL 2\n"}}},
      {"cudnn_header",
       Health::ok,
       {{"cudnn-header.txt", "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 7\n#define CUDNN_PATCHLEVEL 1\n"}}},
      {"dsa_variable", Health::ok, {{"environment.txt", "TORCH_USE_CUDA_DSA=1\n"}}},
      {"driver_capabilities",
       Health::fault,
       {{"environment.txt", "NVIDIA_DRIVER_CAPABILITIES=utility\n"}, {"limits.txt", "os.container yes\n"}}},
      {"nvidia_visible_devices",
       Health::warning,
       {{"environment.txt", "NVIDIA_VISIBLE_DEVICES=void\n"}, {"nvidia-smi-q.txt", ""}, {"nvidia-smi-csv.txt", ""}}},
      {"smi_missing",
       Health::warning,
       {{"nvidia-smi.txt", "bash: nvidia-smi: command not found\n"},
        {"nvidia-smi-q.txt", ""},
        {"nvidia-smi-csv.txt", ""}}},
      {"smi_blocked",
       Health::fault,
       {{"nvidia-smi.txt", "Failed to initialize NVML: GPU access blocked by the operating system\n"}}},
      {"torch_missing", Health::warning, {{"torch-version.txt", ""}, {"torch-metadata.txt", ""}, {"wheels.txt", ""}}},
      {"cudnn_check_skipped", Health::warning, {{"environment.txt", "PYTORCH_SKIP_CUDNN_COMPATIBILITY_CHECK=1\n"}}},
      {"asserts_unknown", Health::ok, {{"device-code.txt", "x.so compressed\n"}}},
      {"gpu_hidden",
       Health::ok,
       {{"nvidia-smi-list.txt", "GPU 0: NVIDIA L4 (UUID: GPU-1)\nGPU 1: NVIDIA L4 (UUID: GPU-2)\n"},
        {"nvidia-smi-q.txt", ""},
        {"environment.txt", "CUDA_VISIBLE_DEVICES=1\n"}}},
      {"torch_build_unknown", Health::ok, {{"torch-version.txt", torch_version("2.7.0a0+79aa174.nv25.4", "12.9")}}},
      {"triton_ptxas_bundled", Health::ok, {{"ptxas.txt", "Cuda compilation tools, release 12.8, V12.8.93"}}},
      {"cublas_132u1_nvfp4",
       Health::warning,
       {{"torch-version.txt", torch_version("2.12.0+cu132", "13.2")},
        {"wheels.txt", "nvidia_cublas-13.3.0.5\nnvidia_cuda_runtime-13.2.51\n"}}},
      {"nvcc_reconvergence", Health::ok, {{"nvcc.txt", "Cuda compilation tools, release 13.0, V13.0.88"}}},
      {"rocm_wheel",
       Health::warning,
       {{"torch-version.txt",
         "__version__ = '2.6.0+rocm6.2.4'\ncuda: Optional[str] = None\nhip: Optional[str] = '6.2'\n"},
        {"nvidia-smi-q.txt", ""},
        {"nvidia-smi-csv.txt", ""},
        {"pci.txt", ""}}},
      {"driver_too_old_major",
       Health::fault,
       {{"kernel.txt", "Linux version 5.15.148-tegra (buildbrain@host)\n"},
        {"driver-module.txt", "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  540.4.0  Release Build\n"}}},
      {"nvml_mismatch",
       Health::fault,
       {{"kernel-log.txt", "NVRM: API mismatch: the client has the version 570.133.20, but\n"},
        {"nvidia-smi.txt", "Failed to initialize NVML: Unknown Error\n"}}},
      {"no_driver",
       Health::fault,
       {{"kernel.txt", "Linux version 6.6.87.2-microsoft-standard-WSL2 (root@host)\n"},
        {"nvidia-smi-q.txt",
         "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that\n"}}},
      {"gpu_sensors",
       Health::warning,
       {{"nvidia-smi.txt",
         "| NVIDIA-SMI 525.89.02    Driver Version: 525.89.02    CUDA Version: 12.0     |\n"
         "|ERR!   47C    P8    ERR! / 220W |    412MiB /  8192MiB |     ERR!      Default |\n"}}},
      {"address_space_limit", Health::warning, {{"limits.txt", "limit.address_mib 4194304\n"}}},
      {"cvd_uuid",
       Health::ok,
       {{"environment.txt", "CUDA_VISIBLE_DEVICES=GPU-00000000-0000-0000-0000-000000000001\n"}}},
  };
}

MachineRecord healthy_with(const MachineRecord& changes) {
  for (Installation& one : read_installations(DSAFUZZ_INSTALLATIONS)) {
    if (one.name != "healthy_a100_cu130") continue;
    for (const auto& [name, text] : changes) one.record[name] = text;
    return one.record;
  }
  return {};
}

// What mends a fault is another thing on another platform.
TEST(DoctorTest, MendsByThePlatform) {
  struct Row {
    const char *installation, *id, *mends, *not_so;
  };
  const auto installations = read_installations(DSAFUZZ_INSTALLATIONS);
  for (const Row& row : {
           Row{"wsl_windows_driver_too_old", "driver_too_old_major", "install a newer driver in Windows", "apt-get"},
           Row{"windows_driver_too_old", "driver_too_old_major", "install a newer driver in Windows", "apt-get"},
           Row{"wsl_without_windows_driver", "no_gpu", "install NVIDIA's driver in Windows", "--gpus"},
           Row{"cu130_on_driver_550", "driver_too_old_major", "install driver 580.95.05", "Windows"},
           Row{"container_without_gpus", "no_driver", "--gpus all", "nouveau"},
           Row{"jetson_with_server_wheel", "no_kernel_image", "for this JetPack", "pip install"},
           Row{"blackwell_with_cu121_wheel", "no_kernel_image", "whl/cu128", "cu126"},
           Row{"kepler_with_torch_2_11", "no_kernel_image",
               "torch==2.7.1 --index-url https://download.pytorch.org/whl/cu118", "cu126"},
           Row{"kepler_with_torch_2_11", "driver_too_old_major", "whl/cu118", "install driver"},
           Row{"no_kernel_image_pascal", "no_kernel_image", "whl/cu126", "cu128"},
           Row{"nvcc_11_8_gcc_13", "host_compiler_new", "apt-get install g++-11", "13"},
       }) {
    SCOPED_TRACE(std::string(row.installation) + " " + row.id);
    const auto at = std::ranges::find(installations, row.installation, &Installation::name);
    ASSERT_NE(at, installations.end());
    const auto lines = judged(at->record);
    const auto line =
        std::ranges::find_if(lines, [&](const DoctorLine& one) { return one.id == row.id && one.level != Health::ok; });
    ASSERT_NE(line, lines.end());
    EXPECT_THAT(line->mends, HasSubstr(row.mends));
    EXPECT_THAT(line->mends, testing::Not(HasSubstr(row.not_so)));
  }
}

TEST(DoctorTest, ShowsConflictsThatNoInstallationHas) {
  for (const SmallRow& row : small_rows()) {
    SCOPED_TRACE(row.conflict);
    EXPECT_THAT(ids_of(judged(healthy_with(row.record)), row.level), Contains(row.conflict));
  }
}

// Each row of the table has a rule that something here triggers, or a reason why it cannot have one.
TEST(DoctorTest, CoversEveryKnownConflict) {
  std::set<std::string> shown, excused, known;
  for (const SmallRow& row : small_rows()) shown.insert(row.conflict);
  for (const Installation& one : read_installations(DSAFUZZ_INSTALLATIONS)) {
    for (const auto* ids : {&one.faults, &one.warnings, &one.notes}) shown.insert(ids->begin(), ids->end());
  }
  for (const NotCheckable& row : parse_not_checkable(kNotCheckableText, "").value()) excused.insert(row.conflict);
  const TsvTable conflicts = TsvTable::parse(kKnownConflictsText, "").value();
  EXPECT_EQ(conflicts.size(), 78u);
  for (std::size_t row = 0; row < conflicts.size(); ++row) {
    const std::string id(conflicts.cell(row, "id"));
    SCOPED_TRACE(id);
    known.insert(id);
    EXPECT_NE(shown.contains(id), excused.contains(id)) << "shown by a test, or not checkable, and not both";
  }
  EXPECT_TRUE(std::ranges::includes(known, excused));
}

// No rule is there that nothing shows; statements are shown by the healthy installations.
TEST(DoctorTest, UsesEveryRule) {
  std::set<std::string> shown;
  for (const SmallRow& row : small_rows()) shown.insert(row.conflict);
  for (const Installation& one : read_installations(DSAFUZZ_INSTALLATIONS)) {
    for (const DoctorLine& line : judged(one.record)) shown.insert(line.id);
  }
  for (const DoctorRule& rule : rules()) EXPECT_TRUE(shown.contains(rule.id)) << rule.id;
}

// Conflicts that stop work are faults, others are not, except where a condition is met for certain only in some use.
TEST(DoctorTest, LevelsFollowTheSeverityOfTheTable) {
  const std::set<std::string> milder{"ptx_unsupported_toolchain",
                                     "mig_driver_floor",
                                     "shm_too_small",
                                     "triton_needs_tools",
                                     "glibc_floor",
                                     "cpu_only_wheel",
                                     "asan_shadow_gap"};
  const TsvTable conflicts = TsvTable::parse(kKnownConflictsText, "").value();
  std::map<std::string, std::string> severities;
  for (std::size_t row = 0; row < conflicts.size(); ++row)
    severities.emplace(conflicts.cell(row, "id"), conflicts.cell(row, "severity"));
  for (const DoctorRule& rule : rules()) {
    if (severities[rule.id] == "blocks" && !milder.contains(rule.id)) EXPECT_EQ(rule.level, Health::fault) << rule.id;
    if (severities[rule.id] == "slow") EXPECT_EQ(rule.level, Health::warning) << rule.id;
  }
}

std::vector<DoctorRule> rules_of(const std::string& rows) {
  return parse_doctor_rules("id\ttopic\tlevel\twhen\tsays\tmends\n" + rows, "rules.tsv").value();
}

TEST(DoctorTest, GroupsGpusAndPutsTheWorstFirst) {
  MachineFacts facts;
  facts.set("driver.version", "570.133.20");
  for (const char* index : {"0", "1", "2"}) {
    facts.gpus.push_back(
        {{"gpu.index", index}, {"gpu.name", "NVIDIA L4"}, {"gpu.runs", index[0] == '1' ? "no" : "yes"}});
  }
  const auto lines =
      judge_machine(facts, rules_of("driver_seen\tdriver\tseen\tdriver.version known\tdriver {driver.version}\t\n"
                                    "gpu_seen\tgpu\tseen\tgpu.name known\t{gpu.name}\t\n"
                                    "bad\tgpu\tfault\tgpu.runs = 'no'\tno code\tinstall\n"
                                    "bad\tgpu\tfault\tgpu.index known\tsecond rule\tnever\n"));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].says, "driver 570.133.20");
  EXPECT_EQ(lines[1].says, "no code");
  EXPECT_THAT(lines[1].gpus, ElementsAre("1"));
  EXPECT_EQ(lines[2].says, "second rule");  // of one id, the first rule that holds speaks for each GPU
  EXPECT_THAT(lines[2].gpus, ElementsAre("0", "2"));
  EXPECT_THAT(doctor_text(lines, {}), HasSubstr("  fault    GPUs 0 and 2: second rule\n           mend: never\n"));
}

TEST(DoctorTest, FillsPlaceholdersAndDropsWhatIsNotKnown) {
  MachineFacts facts;
  facts.set("driver.version", "570.133.20");
  EXPECT_EQ(filled("driver {driver.version}[, CUDA {driver.cuda}] runs", facts, nullptr), "driver 570.133.20 runs");
  facts.set("driver.cuda", "12.8");
  EXPECT_EQ(filled("driver {driver.version}[, CUDA {driver.cuda}] runs", facts, nullptr),
            "driver 570.133.20, CUDA 12.8 runs");
  EXPECT_EQ(filled("[{driver.cuda}]", facts, nullptr), "12.8");
}

TEST(DoctorTest, RefusesBadRules) {
  struct Row {
    const char *name, *text, *problem;
  };
  for (const Row& row : {
           Row{"level", "a\tgpu\tbad\tgpu.name known\tx\ty",
               "rules.tsv:2: 'bad' is no level (seen, ok, warning or fault)"},
           Row{"no mend", "a\tgpu\tfault\tgpu.name known\tx\t",
               "rules.tsv:2: a warning or fault must say what mends it"},
           Row{"fact in text", "a\tgpu\tok\tgpu.name known\t{gpu.nam}\t", "rules.tsv:2: 'gpu.nam' is no fact"},
           Row{"brace", "a\tgpu\tok\tgpu.name known\t{gpu.name\t", "rules.tsv:2: a { has no }"},
           Row{"columns", "a\tgpu\tok", "rules.tsv:2: has 3 columns, the first line has 6"},
           Row{"id", "\tgpu\tok\tgpu.name known\tx\t", "rules.tsv:2: needs an id, a topic and something to say"},
       }) {
    SCOPED_TRACE(row.name);
    const auto read = parse_doctor_rules("id\ttopic\tlevel\twhen\tsays\tmends\n" + std::string(row.text), "rules.tsv");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().text(), row.problem);
  }
}

TEST(DoctorTest, JsonHoldsLinesFactsAndWhatCannotBeChecked) {
  MachineFacts facts;
  facts.values["env.CUDA_VISIBLE_DEVICES"] = "\xff\n";  // bytes of any kind become valid JSON
  facts.gpus.push_back({{"gpu.index", "0"}});
  const std::vector<DoctorLine> lines{{.level = Health::fault,
                                       .id = "x",
                                       .topic = "gpu",
                                       .says = "bad\nnews",
                                       .mends = "a \"command\"",
                                       .gpus = {"0"}}};
  const auto json = nlohmann::json::parse(doctor_json(lines, {{"c", "because"}}, facts));
  EXPECT_EQ(json["faults"], 1);
  EXPECT_EQ(json["warnings"], 0);
  EXPECT_EQ(json["lines"][0]["level"], "fault");
  EXPECT_EQ(json["lines"][0]["says"], "bad news");
  EXPECT_EQ(json["lines"][0]["mends"], "a \"command\"");
  EXPECT_EQ(json["lines"][0]["gpus"][0], "0");
  EXPECT_EQ(json["not_checkable"][0]["conflict"], "c");
  EXPECT_EQ(json["facts"]["env.CUDA_VISIBLE_DEVICES"], "\\xff ");
}

// Text from Windows has other line ends, or is UTF-16, and its answers are the same.
TEST(DoctorTest, ReadsTextFromWindows) {
  for (const Installation& one : read_installations(DSAFUZZ_INSTALLATIONS)) {
    SCOPED_TRACE(one.name);
    MachineRecord with_returns, wide;
    for (const auto& [name, text] : one.record) {
      std::string &returns = with_returns[name], &units = wide[name];
      units = "\xff\xfe";
      for (const char c : text) {
        returns += c == '\n' ? std::string("\r\n") : std::string(1, c);
        units += c;
        units += '\0';
      }
    }
    EXPECT_EQ(judged(with_returns), judged(one.record));
    EXPECT_EQ(judged(wide), judged(one.record));
  }
}

// Whatever is in the files, the doctor answers; halves of real outputs are among them.
TEST(DoctorTest, TakesAnyText) {
  for (const Installation& one : read_installations(DSAFUZZ_INSTALLATIONS)) {
    MachineRecord record = one.record;
    for (auto& [name, text] : record) text.resize(text.size() / 2);
    EXPECT_FALSE(doctor_text(judged(record), {}).empty()) << one.name;
  }
  MachineRecord noise;
  for (const RecordItem& item : kRecordItems)
    noise.emplace(item.name, std::string("\x00\xff: | [{ GPU 0: \n : \n,,\n-=->\n", 30));
  EXPECT_FALSE(doctor_text(judged(noise), {}).empty());
  // Bytes that are no UTF-8, where the number of a GPU should stand.
  const MachineRecord bytes{
      {"nvidia-smi-list.txt", "GPU \xd1: NVIDIA L4\xf2 (UUID: GPU-1)\nGPU 1: NVIDIA L4\xf2 (UUID: GPU-2)\n"},
      {"nvidia-smi-csv.txt", "index, name, compute_cap\n\xb8, NVIDIA L4, 8.9\n"},
      {"collect_env.txt", "GPU 1\xb8: NVIDIA L4\nPyTorch version: 2.\xd1\n"}};
  const MachineFacts facts = read_machine(bytes, tables());
  EXPECT_TRUE(nlohmann::json::accept(doctor_json(judge_machine(facts, rules()), {}, facts)));
}

}  // namespace
}  // namespace dsafuzz
