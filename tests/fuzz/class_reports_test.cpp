// Findings on disk are grouped by what they are, whatever else lies in the folder.
#include "fuzz/class_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "repro/case_text.h"
#include "repro/emit.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Finding finding_of(const std::string& op, const std::string& arguments, const std::string& kernel) {
  Finding f;
  const auto c = parse_case(
      "case: c\nseed: 0\nshapes: {}\ntensors:\n  x: {shape: [2, 3], dtype: float32, fill: 0}\n"
      "  bad: {shape: [2], dtype: int64, fill: 7}\nsteps:\n  - out = " +
          op + arguments + "\n",
      "test");
  EXPECT_TRUE(c) << c.error().text();
  f.minimal = f.original = c.value_or(Case{});
  f.signature = {Verdict::device_assert, op, "Some.cu", kernel, "i < n"};
  f.outcome.device = "vcuda";
  f.confirmed = f.confirmations = 5;
  return f;
}

std::string content_of(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

TEST(ClassReports, OneForEachCheckWithAllItsOperators) {
  const fs::path folder = fs::temp_directory_path() / ("class_reports_" + std::to_string(getpid()));
  {
    auto store = Store::open(folder, Store::Access::exclusive);
    ASSERT_TRUE(store) << store.error().text();
    EXPECT_TRUE(write_class_reports(*store)->empty());
    EXPECT_FALSE(fs::exists(folder / "classes"));
    const auto publish = [&](const Finding& f, const std::string& json) {
      auto staged = store->stage(f.signature);
      ASSERT_TRUE(staged);
      ASSERT_TRUE(staged->write("finding.json", json));
      ASSERT_TRUE(staged->publish());
    };
    for (const Finding& f :
         {finding_of("aten::index_select", "(x, 0, bad)", "a"), finding_of("aten::index_add", "(x, 0, bad, x)", "b"),
          finding_of("aten::index_select", "(x, 0, bad)", "c"),
          finding_of("aten::cross_entropy_loss", "(x, bad)", "d")}) {
      publish(f, emit_json(f));
    }
    publish(finding_of("aten::gather", "(x, 0, bad)", "broken"), "{\"signature\": 7}");
    publish(finding_of("aten::gather", "(x, 0, bad)", "no json"), "no json");
    const auto counts = write_class_reports(*store);
    ASSERT_TRUE(counts) << counts.error().text();
    EXPECT_EQ(*counts, (std::map<std::string, int>{{"class label not compared with the number of classes", 1},
                                                   {"index not compared with the size of its dimension", 3}}));
    const std::string index = content_of(folder / "classes" / "index.md");
    EXPECT_THAT(index, HasSubstr("3 findings in 2 operators: `torch.index_add`, `torch.index_select`."));
    EXPECT_THAT(index, HasSubstr("| 5 of 5 |"));
    EXPECT_THAT(content_of(folder / "classes" / "class_label.md"), HasSubstr("torch.nn.functional.cross_entropy"));
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace dsafuzz
