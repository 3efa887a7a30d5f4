// The doctor names what is wrong with each fake installation, and nothing else; its rules cover every known conflict.
#include "repro/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "doctor_rows.h"
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

// Read once.
const std::vector<Installation>& installations() {
  static const auto read = read_installations(DSAFUZZ_INSTALLATIONS);
  return read;
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
  std::size_t healthy = 0, ill = 0;
  for (const Installation& one : installations()) {
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

MachineRecord healthy_with(const MachineRecord& changes) {
  for (const Installation& one : installations()) {
    if (one.name != "healthy_a100_cu130") continue;
    MachineRecord record = one.record;
    for (const auto& [name, text] : changes) record[name] = text;
    return record;
  }
  return {};
}

// What mends a fault is another thing on another platform.
TEST(DoctorTest, MendsByThePlatform) {
  struct Row {
    const char *installation, *id, *mends, *not_so;
  };
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
    const auto at = std::ranges::find(installations(), row.installation, &Installation::name);
    ASSERT_NE(at, installations().end());
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
  for (const Installation& one : installations()) {
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
  for (const Installation& one : installations()) {
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
  for (const Installation& one : installations()) {
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
  for (const Installation& one : installations()) {
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
