// libFuzzer target: any bytes as a log, fed in two pieces, read, explained and printed. Beside crashes it checks what
// holds for every log: bounds, and that nothing printed carries control characters.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "repro/explain.h"
#include "repro/reading_json.h"

namespace {

using dsafuzz::LogReading;

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<dsafuzz::KnownScenario> kScenarios{
      {"scenarios/embedding.yaml",
       "Indexing.cu indexSelectSmallIndex `srcIndex < srcSelectDimSize`",
       {"aten::embedding"}}};
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  dsafuzz::LogReader reader;
  const std::size_t half = size / 2;
  reader.add(bytes.substr(0, half));
  reader.add(bytes.substr(half));
  const LogReading reading = dsafuzz::parse_log(reader.finish());
  require(reading.count >= 0 && reading.left_out >= 0);
  require(reading.evidence.size() <= dsafuzz::kEvidenceLimit);
  require(reading.environment.gpus.size() <= dsafuzz::kEnvironmentLimit);

  const dsafuzz::Explanation explanation = dsafuzz::explain(reading, kScenarios);
  require(!explanation.happened.empty());
  const std::string text = dsafuzz::explanation_text(explanation);
  require(std::ranges::none_of(text, [](char c) { return (c >= 0 && c < 0x20 && c != '\n') || c == 0x7f; }));
  // Writing JSON costs as much as the rest together.
  if (size % 8 == 0) require(dsafuzz::reading_json(reading, explanation).starts_with('{'));
  return 0;
}
