// Reads every sample log of the corpus and compares the reading with what the sample says it should be.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "repro/parse_log.h"
#include "repro/reading_json.h"

namespace dsafuzz {
namespace {

using Json = nlohmann::json;

// Keys of a sample that a reading has. The rest: origin, faults and environment are free text about the sample;
// truncated and traceback_may_be_late weigh the whole log, which a reading does not claim to do.
const std::set<std::string> kKeys{"kind",
                                  "kernel",
                                  "file",
                                  "line",
                                  "condition",
                                  "block",
                                  "thread",
                                  "sticky_error",
                                  "primary_fault",
                                  "count",
                                  "api_call",
                                  "earliest_user_frame",
                                  "nearest_user_frame"};

// What is not read as the sample says, and why. An entry that starts to pass fails the test, so that the list stays
// true.
struct Unread {
  std::string_view sample, key, reason;
};
constexpr std::array kUnread{
    Unread{"m10_localised_machine_translated", "earliest_user_frame", "the drive's colon stays full-width as printed"},
    Unread{"m10_localised_machine_translated", "nearest_user_frame", "the drive's colon stays full-width as printed"},
    Unread{"m27_cuda_log_file", "count", "lines of the driver's log are not counted as faults"}};

std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

bool is_unread(std::string_view sample, std::string_view key) {
  return std::ranges::any_of(kUnread, [&](const Unread& u) { return u.sample == sample && u.key == key; });
}

TEST(LogSamples, EveryKeyIsReadAsTheSampleSays) {
  int samples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(DSAFUZZ_LOG_SAMPLES)) {
    if (entry.path().extension() != ".log") continue;
    ++samples;
    const std::string name = entry.path().stem();
    SCOPED_TRACE(name);
    std::filesystem::path expected_path = entry.path();
    const Json expected = Json::parse(read_bytes(expected_path.replace_extension(".expected.json")));
    const Json actual = Json::parse(reading_json(parse_log(read_bytes(entry.path())), {}));
    for (const std::string& key : kKeys) {
      SCOPED_TRACE(key);
      if (is_unread(name, key)) {
        EXPECT_NE(actual.at(key), expected.at(key)) << "now read: take it off the list";
      } else {
        EXPECT_EQ(actual.at(key), expected.at(key));
      }
    }
  }
  EXPECT_EQ(samples, 160);
}

TEST(LogSamples, EvidenceIsBounded) {
  const LogReading reading = parse_log(read_bytes(DSAFUZZ_LOG_SAMPLES "/m14_huge_repetition.log"));
  EXPECT_LE(reading.evidence.size(), kEvidenceLimit);
  EXPECT_EQ(reading.asserts.records.size(), 1u);
}

}  // namespace
}  // namespace dsafuzz
