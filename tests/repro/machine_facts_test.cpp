// What single outputs say, and the small parts the doctor is made of. The forms of nvidia-smi are those of corpus/logs.
#include "repro/machine_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "repro/condition.h"
#include "repro/device_code.h"
#include "repro/read_installation.h"
#include "repro/read_machine.h"
#include "repro/redact.h"
#include "repro/version_number.h"

namespace dsafuzz {
namespace {

const VersionTables& tables() {
  static const VersionTables read = VersionTables::built_in().value();
  return read;
}

TEST(VersionNumberTest, ComparesNumberByNumber) {
  struct Row {
    const char *a, *b;
    int order;
  };
  for (const Row& row : {Row{"8.5", "8.10", -1}, Row{"2.6", "2.6.0", 0}, Row{"535.104.05", "535.54.03", 1},
                         Row{"2.11.0+cu130", "2.11", 0}, Row{"13", "12.9", 1}, Row{"", "0", 0}, Row{"1", "", 1},
                         Row{"2.1.0a0", "2.1.0", 0}}) {
    SCOPED_TRACE(std::string(row.a) + " and " + row.b);
    const auto order = compare_versions(row.a, row.b);
    EXPECT_EQ(order < 0 ? -1 : order > 0 ? 1 : 0, row.order);
  }
  EXPECT_EQ(version_prefix("2.11.0+cu130"), "2.11.0");
  EXPECT_EQ(version_prefix("570."), "570");
  EXPECT_EQ(version_prefix("N/A"), "");
  EXPECT_EQ(version_head("12.2.0", 2), "12.2");
  EXPECT_EQ(version_head("12", 2), "12");
}

TEST(ConditionTest, Holds) {
  MachineFacts facts;
  facts.set("driver.version", "515.65.01");
  facts.set("pin.driver_floor", "450.80.02");
  facts.set("torch.cuda", "none");
  facts.values["env.CUDA_VISIBLE_DEVICES"] = "";
  const FactValues gpu{{"gpu.cc", "8.10"}};
  struct Row {
    const char* text;
    bool expected;
  };
  for (const Row& row : {
           Row{"driver.version known", true},
           Row{"driver.cuda known", false},
           Row{"driver.cuda unknown", true},
           Row{"driver.version < pin.driver_floor", false},
           Row{"driver.version >= pin.driver_floor", true},
           Row{"driver.version < 515.105", true},
           Row{"driver.version = '515.65.1'", true},  // versions, not text
           Row{"driver.cuda < 12.0", false},          // nothing is concluded from what is not known
           Row{"driver.cuda != 12.0", false},
           Row{"driver.version < driver.cuda", false},
           Row{"torch.cuda = 'none'", true},
           Row{"torch.cuda != 'none'", false},
           Row{"torch.cuda < 13.0", false},  // text has no order
           Row{"env.CUDA_VISIBLE_DEVICES = ''", true},
           Row{"env.CUDA_VISIBLE_DEVICES known", true},
           Row{"gpu.cc > 8.9", true},
           Row{"driver.version has '65'", true},
           Row{"driver.version lacks '65'", false},
           Row{"driver.cuda lacks '65'", false},
           Row{"driver.cuda known or driver.version known", true},
           Row{"driver.cuda known and driver.version known", false},
           Row{"driver.cuda known and driver.version known or torch.cuda = 'none'", true},
       }) {
    SCOPED_TRACE(row.text);
    const auto condition = parse_condition(row.text, "");
    ASSERT_TRUE(condition) << condition.error().text();
    EXPECT_EQ(holds(*condition, facts, &gpu), row.expected);
  }
}

TEST(ConditionTest, RefusesWhatIsNoCondition) {
  for (const char* text :
       {"", "driver.version", "driver.versoin known", "driver.version ~ 1", "driver.version < ",
        "driver.version = 'open", "driver.version known and", "driver.version known driver.cuda known",
        "driver.version < none", "env. known", "( driver.cuda known )"}) {
    const auto condition = parse_condition(text, "rules.tsv:7");
    ASSERT_FALSE(condition) << text;
    EXPECT_EQ(condition.error().where, "rules.tsv:7") << text;
  }
}

TEST(VersionTablesTest, AnswerAsTheirSourcesSay) {
  EXPECT_EQ(tables().driver_floor("11.7"), "450.80.02");
  EXPECT_EQ(tables().driver_floor("12.8"), "525.60.13");
  EXPECT_EQ(tables().driver_floor("13.0"), "580.65.06");
  EXPECT_EQ(tables().driver_floor("10.2"), "");
  EXPECT_EQ(tables().driver_floor("12.8", true), "527.41");
  EXPECT_EQ(tables().driver_of_release("11.7", false), "515.48.07");
  EXPECT_EQ(tables().driver_of_release("11.8", true), "520.06");
  EXPECT_EQ(tables().driver_of_release("13.0", true), "");
  // PyTorch 2.0.1: CUDA 11.7 with cuDNN 8.5, CUDA 11.8 with cuDNN 8.7; both older than driver 515.65.01.
  const auto cu117 = tables().torch_build("2.0.1", "11.7");
  ASSERT_TRUE(cu117);
  EXPECT_EQ(cu117->cudnn, "8.5.0.96");
  EXPECT_EQ(cu117->nccl, "2.14.3");
  EXPECT_EQ(cu117->python_min, "3.8");
  EXPECT_EQ(cu117->python_max, "3.11");
  EXPECT_EQ(tables().torch_build("2.0.1", "11.8").value().cudnn, "8.7.0.84");
  EXPECT_TRUE(compare_versions(tables().driver_of_release("11.7", false), "515.65.01") < 0);
  EXPECT_EQ(tables().torch_build("2.2.0", "12.1").value().python_max, "3.12");  // experimental, but there are wheels
  EXPECT_EQ(tables().torch_build("2.9.0", "12.9").value().cudnn, "");           // "?"
  EXPECT_FALSE(tables().torch_build("2.0.1", "12.1"));
  EXPECT_EQ(tables().host_compilers("12.4").value().gcc_max, "13");  // what the header refuses, not what was tested
  EXPECT_EQ(tables().host_compilers("12.8").value().torch_gcc_below, "14");
  EXPECT_EQ(tables().host_compilers("11.8").value().torch_gcc_below, "");
  EXPECT_TRUE(tables().nvcc_builds_for("7.5", "13.0"));
  EXPECT_FALSE(tables().nvcc_builds_for("7.0", "13.0"));
  EXPECT_FALSE(tables().nvcc_builds_for("12.0", "12.6"));
}

TEST(VersionTablesTest, KnowsGpusByTheNamesOfNvidiaSmi) {
  struct Row {
    const char *product, *capability;
  };
  for (const Row& row :
       {Row{"NVIDIA A100-SXM4-80GB", "8.0"}, Row{"NVIDIA H100 80GB HBM3", "9.0"}, Row{"Tesla T4", "7.5"},
        Row{"Tesla V100-SXM2-16GB", "7.0"}, Row{"NVIDIA GeForce RTX 3080 Ti", "8.6"},
        Row{"NVIDIA GeForce RTX 4090 Laptop GPU", "8.9"}, Row{"NVIDIA L40S", "8.9"}, Row{"NVIDIA A10G", "8.6"},
        Row{"NVIDIA A1000000", ""}, Row{"Radeon", ""}, Row{"", ""}}) {
    EXPECT_EQ(tables().capability(row.product), row.capability) << row.product;
  }
}

std::string sample(const std::string& name) {
  std::ifstream file(std::string(DSAFUZZ_LOG_SAMPLES) + "/" + name + ".log", std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(MachineFactsTest, ReadsTheFormsOfNvidiaSmi) {
  struct Row {
    const char *sample, *item, *driver, *cuda, *failure;
    std::size_t gpus;
    FactValues first;  // some facts of the first GPU
  };
  for (const Row& row : {
           Row{"g01_smi_narrow_r525",
               "nvidia-smi.txt",
               "525.89.02",
               "12.0",
               "",
               1,
               {{"gpu.memory_mib", "8192"}, {"gpu.used_mib", "412"}, {"gpu.display", "Enabled"}}},  // name is cut
           Row{"g02_smi_wide_r570",
               "nvidia-smi.txt",
               "570.133.20",
               "12.8",
               "",
               2,
               {{"gpu.name", "NVIDIA H100 80GB HBM3"}, {"gpu.persistence", "Enabled"}, {"gpu.used_mib", "61180"}}},
           Row{"g04_smi_q",
               "nvidia-smi-q.txt",
               "580.95.05",
               "13.0",
               "",
               1,
               {{"gpu.name", "NVIDIA A10G"}, {"gpu.memory_mib", "23028"}, {"gpu.processes", "0"}, {"gpu.cc", "8.6"}}},
           Row{"g05_smi_q_r610_deprecated",
               "nvidia-smi-q.txt",
               "610.43.02",
               "13.3",
               "",
               1,
               {{"gpu.name", "NVIDIA RTX PRO 4500 Blackwell"}, {"gpu.cc", "12.0"}}},
           Row{"g06_smi_csv_units",
               "nvidia-smi-csv.txt",
               "570.133.20",
               "",
               "",
               2,
               {{"gpu.name", "NVIDIA L4"}, {"gpu.memory_mib", "23034"}, {"gpu.ecc_uncorrected", "0"}}},
           Row{"g08_smi_csv_bad_field", "nvidia-smi-csv.txt", "", "", "", 0, {}},
           Row{"g09_smi_no_driver", "nvidia-smi.txt", "", "", "no_driver", 0, {}},
           Row{"g10_smi_mismatch", "nvidia-smi.txt", "", "", "mismatch", 0, {}},
           Row{"g12_smi_no_devices", "nvidia-smi.txt", "", "", "no_devices", 0, {}},
           Row{"g13_smi_handle_lost", "nvidia-smi.txt", "", "", "gpu_lost", 0, {}},
           Row{"g14_smi_not_found", "nvidia-smi.txt", "", "", "", 0, {}},
           Row{"g16_smi_blocked", "nvidia-smi.txt", "", "", "permissions", 0, {}},
           Row{"g17_smi_err_cells", "nvidia-smi.txt", "525.89.02", "12.0", "", 1, {{"gpu.used_mib", "412"}}},
           Row{"g18_smi_list",
               "nvidia-smi-list.txt",
               "",
               "",
               "",
               2,
               {{"gpu.mig_devices", "1"}, {"gpu.mig", "Enabled"}}},
       }) {
    SCOPED_TRACE(row.sample);
    const MachineFacts facts = read_machine({{row.item, sample(row.sample)}}, tables());
    EXPECT_EQ(facts.value("driver.version"), row.driver);
    EXPECT_EQ(facts.value("driver.cuda"), row.cuda);
    EXPECT_EQ(facts.value("smi.failure"), row.failure);
    ASSERT_EQ(facts.gpus.size(), row.gpus);
    for (const auto& [name, value] : row.first) {
      EXPECT_EQ(facts.gpus[0].contains(name) ? facts.gpus[0].at(name) : "", value) << name;
    }
  }
}

TEST(MachineFactsTest, ReadsVersionsOfTools) {
  struct Row {
    const char *sample, *item, *fact, *value;
  };
  for (const Row& row : {
           Row{"g20_nvcc_old", "nvcc.txt", "nvcc.version", "10.1"},
           Row{"g20_nvcc_old", "nvcc.txt", "nvcc.full", "10.1.243"},
           Row{"g21_cudnn_header_v9", "cudnn-header.txt", "cudnn.header", "9.7.1"},
           Row{"g22_cudnn_header_v8", "cudnn-header.txt", "cudnn.header", "8.9.2"},
           Row{"g24_collect_env_r610", "collect_env.txt", "torch.version", "2.11.0"},
           Row{"g24_collect_env_r610", "collect_env.txt", "os.glibc", "2.39"},
           Row{"g24_collect_env_r610", "collect_env.txt", "driver.version", ""},
           Row{"g25_collect_env_issue_form", "collect_env.txt", "driver.version", "528.24"},
           Row{"g25_collect_env_issue_form", "collect_env.txt", "torch.cuda", "11.7"},
           Row{"g26_ldd_driver_files", "driver-module.txt", "driver.module", "570.133.20"},
           Row{"g26_ldd_driver_files", "driver-module.txt", "driver.kind", "open"},
       }) {
    SCOPED_TRACE(std::string(row.sample) + " " + row.fact);
    EXPECT_EQ(read_machine({{row.item, sample(row.sample)}}, tables()).value(row.fact), row.value);
  }
  MachineFacts facts;
  read_compiler_version("g++ (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright\n", facts);
  EXPECT_EQ(facts.value("compiler.gcc"), "12.2.0");
  read_compiler_version("Debian clang version 19.1.7 (3~deb12u1)\n", facts);
  EXPECT_EQ(facts.value("compiler.clang"), "19");
  read_torch_metadata("Version: 2.0.1\nRequires-Dist: nvidia-cudnn-cu11 (==8.5.0.96) ; platform_system == \"Linux\"\n",
                      facts);
  EXPECT_EQ(facts.value("pin.cudnn"), "8.5.0.96");
}

TEST(MachineFactsTest, FollowsVisibleDevices) {
  struct Row {
    const char *list, *state, *visible;
  };
  const std::string gpus =
      "GPU 0: NVIDIA L4 (UUID: GPU-1111aaaa)\nGPU 1: NVIDIA L4 (UUID: GPU-1111bbbb)\nGPU 2: NVIDIA L4 (UUID: "
      "GPU-2222)\n";
  for (const Row& row : {
           Row{"", "empty", "0"}, Row{"0", "fine", "1"}, Row{" 2 , 0 ", "fine", "2"}, Row{"0,1,2", "fine", "3"},
           Row{"3", "invalid", "0"}, Row{"-1", "invalid", "0"},
           Row{"0,2,-1,1", "invalid", "2"},                     // the example of the programming guide
           Row{"0,x", "invalid", "1"}, Row{"0,", "fine", "1"},  // the list ends where it ends
           Row{"0,,1", "invalid", "1"}, Row{"1,1", "duplicate", "0"}, Row{"GPU-2222", "fine", "1"},
           Row{"GPU-1111b,GPU-22", "fine", "2"}, Row{"GPU-1111", "no_match", "0"},  // means two of them
           Row{"GPU-3", "no_match", "0"}, Row{"GPU-2222,0", "mixed", "1"}, Row{"0,GPU-2222", "mixed", "1"},
           Row{"MIG-1", "fine", "3"},  // of MIG devices nothing is known here
       }) {
    SCOPED_TRACE(std::string("list ") + row.list);
    const MachineFacts facts = read_machine(
        {{"nvidia-smi-list.txt", gpus}, {"environment.txt", "CUDA_VISIBLE_DEVICES=" + std::string(row.list) + "\n"}},
        tables());
    EXPECT_EQ(facts.value("cvd.state"), row.state);
    EXPECT_EQ(facts.value("gpus.visible"), row.visible);
  }
}

TEST(MachineFactsTest, KnowsWhichCodeRunsOnAGpu) {
  struct Row {
    const char *torch, *cuda, *arch, *capability, *runs;
  };
  for (const Row& row : {
           Row{"2.11.0", "13.0", "x86_64", "7.5", "yes"},
           Row{"2.11.0", "13.0", "x86_64", "7.0", "no"},
           Row{"2.11.0", "13.0", "x86_64", "8.9", "yes"},  // by the code for 8.0 and 8.6
           Row{"2.11.0", "13.0", "x86_64", "8.7", "no"},   // Tegra: only its own
           Row{"2.0.1", "11.7", "x86_64", "9.0", "no"},
           Row{"2.0.1", "11.8", "x86_64", "9.0", "yes"},
           Row{"2.7.0", "12.8", "x86_64", "12.1", "yes"},
           Row{"2.7.0", "12.8", "x86_64", "13.0", "yes"},  // by the PTX for 12.0
           Row{"2.5.1", "12.4", "x86_64", "10.0", "no"},   // it has none
           Row{"2.10.0", "13.0", "aarch64", "7.5", "no"},
           Row{"2.9.0", "13.0", "aarch64", "7.5", "yes"},  // "same as x86_64"
           Row{"9.9.9", "13.0", "x86_64", "7.0", ""},
       }) {
    SCOPED_TRACE(std::string(row.torch) + " for " + row.cuda + " on " + row.arch + " " + row.capability);
    const MachineFacts facts =
        read_machine({{"torch-version.txt",
                       "__version__ = '" + std::string(row.torch) + "'\ncuda: Optional[str] = '" + row.cuda + "'\n"},
                      {"python.txt", "machine " + std::string(row.arch) + "\n"},
                      {"nvidia-smi-csv.txt", "index, name, compute_cap\n0, X, " + std::string(row.capability) + "\n"}},
                     tables());
    ASSERT_EQ(facts.gpus.size(), 1u);
    EXPECT_EQ(facts.gpus[0].contains("gpu.runs") ? facts.gpus[0].at("gpu.runs") : "", row.runs);
  }
}

// Every fact that is ever set has a name in the list, or no rule could use it.
TEST(MachineFactsTest, HasTheNamesOfItsList) {
  const MachineFacts facts = read_machine({{"nvidia-smi.txt", sample("g02_smi_wide_r570")},
                                           {"nvidia-smi-q.txt", sample("g04_smi_q")},
                                           {"collect_env.txt", sample("g24_collect_env_r610")},
                                           {"environment.txt", "CUDA_VISIBLE_DEVICES=0\n"},
                                           {"processes.txt", ""},
                                           {"devices.txt", ""}},
                                          tables());
  for (const auto& [name, value] : facts.values) EXPECT_TRUE(is_fact_name(name)) << name;
  for (const auto& [name, value] : facts.gpus.at(0)) EXPECT_TRUE(is_fact_name(name)) << name;
}

TEST(RedactTest, TakesNamesAndNumbersOut) {
  const MachineRecord clean = redacted(
      {{"nvidia-smi-q.txt",
        "    Serial Number     : 1320099000001\n    GPU UUID   : GPU-0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9\n"
        "            Name : /home/alice/venv/bin/python\n"},
       {"environment.txt", "CUDA_VISIBLE_DEVICES=GPU-0a1b2c3d\nNCCL_SOCKET=bigbox:alice\nCUDA_HOME=/opt/bigboxes\n"}},
      {.host = "bigbox", .user = "alice", .home = ""});
  EXPECT_EQ(clean.at("nvidia-smi-q.txt"),
            "    Serial Number     : N/A\n    GPU UUID   : GPU-00000000-0000-0000-0000-000000000001\n"
            "            Name : /home/user/venv/bin/python\n");
  EXPECT_EQ(clean.at("environment.txt"),
            "CUDA_VISIBLE_DEVICES=GPU-00000000-0000-0000-0000-000000000001\nNCCL_SOCKET=host:user\nCUDA_HOME=/opt/"
            "bigboxes\n");
  const MachineRecord root = redacted({{"kernel.txt", "root@box /root"}}, {.host = "", .user = "root", .home = ""});
  EXPECT_EQ(root.at("kernel.txt"), "root@box /root");
}

TEST(RedactTest, TakesFoldersOutOfAnyText) {
  const PrivateNames names{.host = "bigbox",
                           .user = "alice",
                           .home = "/data/alice",
                           .folders = {"/data/alice/runs/", "/", "", "/tmp", "relative/x"}};
  for (const auto& [text, clean] : std::vector<std::pair<std::string, std::string>>{
           {"at /data/alice/runs/a.py:3", "at /folder/a.py:3"},
           {"/data/alice/runs2/a.py", "/home/user/runs2/a.py"},
           {"/data/alice.old /mnt/data/alice", "/data/user.old /mnt/data/user"},
           {"frame #1: /home/bob/x.so + 0x12", "frame #1: /home/user/x.so + 0x12"},
           {"alice@bigbox /tmp/x relative/x", "user@host /tmp/x relative/x"}}) {
    EXPECT_EQ(redacted_text(text, names), clean);
  }
}

// A record of device code as nvcc 13.0 writes it: header of 16 bytes, then entries of machine code (2) or PTX (1).
std::string entry(char kind, const std::string& code, char compressed = 0) {
  std::string header(64, '\0');
  header[0] = kind;
  header[4] = 64;
  header[8] = static_cast<char>(code.size());
  header[16] = compressed;
  return header + code;
}
std::string record(const std::string& entries) {
  std::string header("\x50\xed\x55\xba\x01\x00\x10\x00", 8);
  header += static_cast<char>(entries.size());
  return header + std::string(7, '\0') + entries;
}

TEST(DeviceCodeTest, FindsAsserts) {
  struct Row {
    const char* name;
    std::string bytes;
    DeviceAsserts expected;
  };
  const std::string call = "__assertfail";
  for (const Row& row : {
           Row{"nothing", "", DeviceAsserts::no_device_code},
           Row{"host only", "ELF __assertfail", DeviceAsserts::no_device_code},
           Row{"call", "ELF" + record(entry(2, call)) + "end", DeviceAsserts::present},
           Row{"no call", "ELF" + record(entry(2, "code")) + call, DeviceAsserts::missing},
           Row{"second record", record(entry(2, "code")) + record(entry(2, call)), DeviceAsserts::present},
           Row{"compressed", record(entry(2, "zzz", 9)), DeviceAsserts::compressed},
           Row{"PTX compressed, code plain", record(entry(1, "zz", 9) + entry(2, "code")), DeviceAsserts::missing},
           Row{"PTX only", record(entry(1, "zz", 9)), DeviceAsserts::compressed},
           Row{"cut", record(entry(2, call)).substr(0, 40), DeviceAsserts::no_device_code},
           Row{"cut header", std::string("\x50\xed\x55\xba\x01", 5), DeviceAsserts::no_device_code},
       }) {
    EXPECT_EQ(device_asserts_in(row.bytes), row.expected) << row.name;
  }
}

}  // namespace
}  // namespace dsafuzz
