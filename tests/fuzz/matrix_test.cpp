// The matrix over a catalogue of our own making and devices without processes.
#include "fuzz/matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "fake_executor.h"
#include "repro/case_text.h"
#include "tests/fuzz/temporary_folder.h"

namespace dsafuzz {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kHeader = "id\tsource\tfunction\tcondition\toperators\ttrigger\texpected\texception\n";
// What FakeExecutor's kernel says of a label outside [0, classes), in the words of ATen's kernel.
constexpr std::string_view kSite =
    "aten/src/ATen/native/cuda/Loss.cu:245\tnll_loss_forward_reduce_cuda_kernel_2d\tt >= 0 && t < n_classes";

class MatrixTest : public ::testing::Test {
 protected:
  void write(const std::string& name, std::string_view text) {
    std::filesystem::create_directories(std::filesystem::path(folder_.path() + "/" + name).parent_path());
    std::ofstream(folder_.path() + "/" + name) << text;
  }
  void write_bad_label(const std::string& id) {
    Case c = classic_scenario().base;
    for (TensorSpec& t : c.tensors) {
      if (t.name == "labels") t.set = {{0, std::int64_t{1000}}};
    }
    write("cases/" + id + ".yaml", to_yaml(c));
  }
  MatrixOptions options(FakeBugs bugs = {}) {
    MatrixOptions o;
    o.catalogue = folder_.path();
    o.devices = {{Device::Kind::cpu, 0}, {Device::Kind::vcuda, 0}};
    o.jobs = 2;
    o.start_workers = [bugs](const RunSettings& s) -> Result<std::unique_ptr<Executor>> {
      return std::make_unique<FakeExecutor>(bugs, s.device);
    };
    return o;
  }
  TemporaryFolder folder_;
};

std::vector<std::string> ids_of(const std::vector<MatrixRow>& rows) {
  std::vector<std::string> ids;
  for (const MatrixRow& row : rows) ids.push_back(row.id());
  return ids;
}

TEST_F(MatrixTest, AnAssertOfTheCatalogueMatchesAndAnotherDoesNot) {
  write("device_asserts.tsv", std::string(kHeader) + "U1\t" + std::string(kSite) + "\tnll_loss\tx\tdevice_assert\t\n" +
                                  "U2\taten/x.cu:1\tother\tother\tnll_loss\tx\tdevice_assert\t\n" +
                                  "I1\taten/x.cu:2\tother\tother\t-\tx\tunreachable\t\n");
  write_bad_label("U1");
  write_bad_label("U2");
  MatrixOptions o = options();
  o.variants = false;
  const auto rows = run_matrix(o);
  ASSERT_TRUE(rows) << rows.error().text();
  EXPECT_THAT(ids_of(*rows), ElementsAre("U2", "U1"));  // what contradicts the catalogue comes first
  EXPECT_EQ(rows->at(0).agreement, Agreement::catalogue_differs);
  EXPECT_EQ(rows->at(1).matches_catalogue, true);
  EXPECT_EQ(rows->at(1).cells.at(1).signature.verdict, Verdict::device_assert);
  EXPECT_THAT(matrix_text(*rows), HasSubstr("device_assert: 1 of 2 rows as in the catalogue"));
}

TEST_F(MatrixTest, RowsAreChosenByIdOrOperatorAndAnUnknownNameIsAProblem) {
  write("device_asserts.tsv", std::string(kHeader) + "U1\t" + std::string(kSite) + "\tnll_loss\tx\tdevice_assert\t\n" +
                                  "U12\t" + std::string(kSite) + "\tcross_entropy\tx\tdevice_assert\t\n");
  write_bad_label("U1");
  write_bad_label("U12");
  struct Row {
    std::string wanted;
    std::vector<std::string> ids;
  };
  for (const Row& row : {Row{"U1", {"U1"}}, Row{"cross_entropy", {"U12"}}, Row{"", {"U1", "U12"}}}) {
    SCOPED_TRACE(row.wanted);
    MatrixOptions o = options();
    o.variants = false;
    if (!row.wanted.empty()) o.operators = {row.wanted};
    const auto rows = run_matrix(o);
    ASSERT_TRUE(rows) << rows.error().text();
    EXPECT_EQ(ids_of(*rows), row.ids);
  }
  MatrixOptions o = options();
  o.operators = {"conv2d"};
  const auto none = run_matrix(o);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().exit_code(), 2);
  EXPECT_THAT(none.error().text(), HasSubstr("conv2d"));
}

TEST_F(MatrixTest, ARowWithoutACaseSaysWhyAndAMissingCaseIsAProblem) {
  write("device_asserts.tsv", std::string(kHeader) + "H9\t\t\t\tmodule\tx\thost_reject\tPython raises\n");
  const auto rows = run_matrix(options());
  ASSERT_TRUE(rows) << rows.error().text();
  EXPECT_EQ(rows->at(0).agreement, Agreement::not_run);
  EXPECT_THAT(matrix_text(*rows), HasSubstr("Python raises"));
  EXPECT_TRUE(nlohmann::json::parse(matrix_json(*rows)).at(0).at("matches_catalogue").is_null());

  write("device_asserts.tsv", std::string(kHeader) + "H9\t\t\t\tmodule\tx\thost_reject\t\n");
  const auto missing = run_matrix(options());
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text(), HasSubstr("cases/H9.yaml"));
}

TEST_F(MatrixTest, DamagedCatalogues) {
  struct Row {
    const char* name;
    std::string text;
    std::string says;
  };
  const Row rows[] = {{"a cell too few", std::string(kHeader) + "U1\ta\n", "device_asserts.tsv:2"},
                      {"no id", std::string(kHeader) + "\t\t\t\t\t\tsilent\t\n", "needs the columns id and expected"},
                      {"other columns", "a\tb\n1\t2\n", "needs the columns id and expected"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    write("device_asserts.tsv", row.text);
    const auto loaded = load_catalogue(folder_.path());
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().exit_code(), 2);
    EXPECT_THAT(loaded.error().text(), HasSubstr(row.says));
  }
  EXPECT_FALSE(load_catalogue(folder_.path() + "/nowhere"));
}

TEST_F(MatrixTest, TheJsonHasAnObjectForEachDevice) {
  write("device_asserts.tsv",
        std::string(kHeader) + "U1\t" + std::string(kSite) + "\tnll_loss\tx\tdevice_assert\t\n");
  write_bad_label("U1");
  const auto rows = run_matrix(options());
  ASSERT_TRUE(rows) << rows.error().text();
  const auto json = nlohmann::json::parse(matrix_json(*rows));
  ASSERT_EQ(json.size(), rows->size());
  for (const auto& row : json) {
    EXPECT_EQ(row.at("source"), "aten/src/ATen/native/cuda/Loss.cu:245");
    EXPECT_EQ(row.at("condition"), "t >= 0 && t < n_classes");
    for (const char* device : {"cpu", "vcuda"}) {
      EXPECT_TRUE(row.at(device).at("verdict").is_string());
      EXPECT_TRUE(row.at(device).at("signature").is_string());
    }
  }
  EXPECT_EQ(json.at(0).at("id"), "U1");
  EXPECT_EQ(json.at(0).at("vcuda").at("site"), "Loss.cu:245");
}

TEST_F(MatrixTest, HostileTextIsInertInThePage) {
  write("device_asserts.tsv", std::string(kHeader) + "U1\t" + std::string(kSite) +
                                  "\tnll_loss <script>alert(1)</script> \"'&\tx\tdevice_assert\t\n");
  write_bad_label("U1");
  const auto rows = run_matrix(options());
  ASSERT_TRUE(rows) << rows.error().text();
  const std::string page = matrix_html(*rows);
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt; &quot;&#39;&amp;"));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
}

TEST(VariantsOf, OneChangeAtATime) {
  const auto base = parse_case(R"(case: c
seed: 1
tensors:
  logits: {shape: [2, 3], dtype: float32, fill: randn}
  labels: {shape: [2], dtype: int64, fill: 0}
steps:
  - loss = aten::cross_entropy_loss(logits, labels, reduction=mean)
)",
                               "c.yaml");
  ASSERT_TRUE(base) << base.error().text();
  std::vector<std::string> texts;
  for (const VariantCase& made : variants_of(*base)) {
    texts.push_back(made.variant.text());
    EXPECT_TRUE(validate(made.the_case));
    EXPECT_EQ(made.the_case == *base, made.variant.is_base());
  }
  EXPECT_THAT(texts, ElementsAre("", "float64", "float16", "bfloat16", "none", "sum", "autocast_float16",
                                 "autocast_bfloat16", "transposed", "offset"));
}

TEST(VariantsOf, WithoutAFloatingTensorThereIsNoDtype) {
  const auto base = parse_case(R"(case: c
seed: 1
tensors:
  labels: {shape: [2], dtype: int64, fill: 0}
steps:
  - out = aten::one_hot(labels, 3)
)",
                               "c.yaml");
  ASSERT_TRUE(base) << base.error().text();
  for (const VariantCase& made : variants_of(*base)) {
    EXPECT_EQ(made.variant.dtype, "");
    EXPECT_EQ(made.variant.reduction, "");
  }
}

}  // namespace
}  // namespace dsafuzz
