// Searches on a GPU are guided by the places that our kernels came to: two cases whose operators, dtypes and shapes are
// the same are told apart by their values, also where an assert has taken the context with it. The virtual device,
// which counts by other means, shows that the cases are such.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/worker_pool.h"
#include "repro/case_text.h"
#include "repro/features.h"

namespace dsafuzz {
namespace {

using Features = std::vector<std::uint8_t>;

struct Row {
  const char* device;
  const char* steps;
  const char *plain, *other;  // what the tensor holds in one case and in the other
  Outcome::End end;           // of the other
};

Case case_of(const Row& row, const char* value) {
  const auto c = parse_case(std::string("case: counted\nshapes: {n: 4}\ntensors:\n"
                                        "  values: {shape: [n], dtype: int64, fill: ") +
                                value +
                                "}\n  logits: {shape: [n, 3], dtype: float32, fill: 0}\n"
                                "steps:\n  - out = " +
                                row.steps + "\n",
                            "counted.yaml");
  EXPECT_TRUE(c) << c.error().text();
  return *c;
}

TEST(GpuCounters, TellCasesApartThatDifferInValues) {
  const bool have_gpu = std::filesystem::exists("/dev/nvidiactl") || std::filesystem::exists("/dev/dxg");
  const Row rows[] = {
      {"vcuda", "dsafuzz::count_values_in_shared(values)", "1000", "3", Outcome::End::returned},
      {"vcuda", "aten::nll_loss(logits, values)", "-100", "2", Outcome::End::returned},
      {"vcuda", "aten::nll_loss(logits, values)", "-100", "3", Outcome::End::threw},
      {"cuda:0", "dsafuzz::count_values_in_shared(values)", "1000", "3", Outcome::End::returned},
      {"cuda:0:own", "aten::nll_loss(logits, values)", "-100", "2", Outcome::End::returned},
      {"cuda:0:own", "aten::nll_loss(logits, values)", "-100", "3", Outcome::End::threw},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.device) + " " + row.steps + " " + row.other);
    RunSettings settings;
    settings.device = *parse_device(row.device);
    if (settings.device.kind == Device::Kind::cuda && !have_gpu) {
      GTEST_SKIP() << "no NVIDIA GPU: neither /dev/nvidiactl nor /dev/dxg is there";
    }
    const auto workers = start_workers(settings);
    if (!workers) GTEST_SKIP() << "dsafuzz was built without nvcc: " << workers.error().text();
    const auto run = [&](const char* value, Outcome::End end) {
      Features features(kFeatureBytes);
      const auto outcome = (*workers)->run(case_of(row, value), features);
      EXPECT_TRUE(outcome) << outcome.error().text();
      if (outcome) EXPECT_EQ(outcome->end, end) << outcome->error << outcome->log;
      return features;
    };
    const Features first = run(row.plain, Outcome::End::returned), again = run(row.plain, Outcome::End::returned);
    EXPECT_EQ(first, again);
    EXPECT_NE(run(row.other, row.end), first);
  }
}

}  // namespace
}  // namespace dsafuzz
