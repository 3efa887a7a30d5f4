#include "repro/case_bytes.h"

#include <gtest/gtest.h>

#include <random>

#include "repro/case_text.h"
#include "repro/outcome_bytes.h"
#include "tests/repro/example_case.h"

namespace dsafuzz {
namespace {

TEST(CaseBytes, AreInverses) {
  const Case c = example_case();
  const auto again = decode_case(encode(c));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_TRUE(*again == c) << to_yaml(*again);
}

TEST(CaseBytes, EveryTruncationIsRefused) {
  const auto bytes = encode(example_case());
  for (std::size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(decode_case({bytes.data(), n})) << n;
}

TEST(CaseBytes, TextAfterTheEndIsRefused) {
  auto bytes = encode(example_case());
  bytes.push_back(0);
  EXPECT_FALSE(decode_case(bytes));
}

// Whatever bytes come: a case that is well-formed, or a problem; never a crash. Seed 1, fixed.
TEST(CaseBytes, DamagedBytesGiveAProblemOrAValidCase) {
  const auto bytes = encode(example_case());
  std::mt19937_64 random(1);
  int accepted = 0;
  for (int round = 0; round < 50'000; ++round) {
    auto damaged = bytes;
    for (int k = 0; k <= round % 4; ++k) damaged[random() % damaged.size()] = static_cast<std::uint8_t>(random());
    if (const auto c = decode_case(damaged)) {
      ++accepted;
      EXPECT_TRUE(validate(*c));
    }
  }
  EXPECT_GT(accepted, 0);
}

TEST(CaseBytes, HostileBytes) {
  struct Row {
    const char* name;
    std::vector<std::uint8_t> bytes;
  };
  const Row rows[] = {
      {"empty", {}},
      {"a million opening brackets", std::vector<std::uint8_t>(1'000'000, 0x81)},
      {"a million opening maps", std::vector<std::uint8_t>(1'000'000, 0xa1)},
      {"indefinite arrays", std::vector<std::uint8_t>(100'000, 0x9f)},
      {"an array that claims 2^64-1 items", {0x9b, 255, 255, 255, 255, 255, 255, 255, 255}},
      {"a text that claims 2^63 bytes", {0x81, 0x7b, 0x80, 0, 0, 0, 0, 0, 0, 0}},
      {"tags", std::vector<std::uint8_t>(1000, 0xc0)},
      {"too large", std::vector<std::uint8_t>(kCaseBytesLimit + 1, 0)},
      {"another version", {0x88, 2, 0x60, 0, 0, 0, 0x80, 0x80, 0x80}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_FALSE(decode_case(row.bytes));
  }
}

TEST(OutcomeBytes, AreInverses) {
  Outcome o;
  o.end = Outcome::End::threw;
  o.code = -3;
  o.step = 2;
  o.op = "aten::relu";
  o.error_type = "c10::Error";
  o.error = std::string("not UTF-8: \xff\xfe and \0 zero", 27);
  o.results = {{"y", Dtype::bfloat16, {2, 0, 5}}};
  o.seconds = 0.25;
  o.peak_device_bytes = std::int64_t{1} << 40;
  o.device = "vcuda:1";
  o.versions = {{"torch", "2.11.0"}};
  o.sites = {{"/pytorch/aten/x.cu", 7, "operator()", "i < n"}, {"kernels/y.cu", 1, "check", ""}};
  const auto bytes = encode(o);
  const auto again = decode_outcome(bytes);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, o);
  for (std::size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(decode_outcome({bytes.data(), n}));
}

}  // namespace
}  // namespace dsafuzz
