// libFuzzer target: any bytes as a case file, as a scenario and as the compact form of a case. What is accepted must
// survive being written and read again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "repro/case_bytes.h"
#include "repro/case_text.h"
#include "repro/scenario.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto c = dsafuzz::parse_case(bytes, "fuzz.yaml")) {
    const auto again = dsafuzz::parse_case(dsafuzz::to_yaml(*c), "again.yaml");
    if (!again || dsafuzz::to_yaml(*again) != dsafuzz::to_yaml(*c)) std::abort();
  }
  if (const auto c = dsafuzz::decode_case({data, size})) {
    const auto again = dsafuzz::decode_case(dsafuzz::encode(*c));
    if (!again || dsafuzz::encode(*again) != dsafuzz::encode(*c)) std::abort();
  }
  (void)dsafuzz::parse_scenario(bytes, "fuzz.yaml");
  return 0;
}
