// The comparison of assert_bench: one process holds libFuzzer and the program, and a device assert aborts it. Half of
// the inputs assert. Run with -fork=1 -ignore_crashes=1; everything but the way of surviving a crash is dsafuzz's own.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fuzz/random.h"
#include "kernels/vcuda/coverage.h"
#include "kernels/vcuda/runtime.h"
#include "repro/case_bytes.h"
#include "repro/diagnose.h"
#include "repro/features.h"
#include "scenarios/operator_features.h"
#include "scenarios/program.h"
#include "tests/bench/bench_cases.h"

__attribute__((used,
               section("__libfuzzer_extra_counters"))) volatile std::uint8_t harness_counters[dsafuzz::kFeatureBytes];

namespace {

using namespace dsafuzz;

const Case& base() {
  static const Case c = bench_scenario("linear_cross_entropy_healthy").base;
  return c;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  observe_operators();
  return 0;
}

// Label 3 becomes legal or not, by the seed; the case's own seed makes each input a new one.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t limit, unsigned seed) {
  Random random(seed);
  Case c = base();
  c.seed = random.below(1u << 30);
  c.find_tensor("labels")->set = {{3, static_cast<std::int64_t>(random.one_in(2) ? 5 : 4)}};
  const auto bytes = encode(c);
  if (bytes.size() > limit) return size;
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Program program({Device::Kind::vcuda, 0});
  const auto c = decode_case({data, size});
  if (!c) return -1;
  set_feature_map({const_cast<std::uint8_t*>(harness_counters), kFeatureBytes});
  const Outcome outcome = program.run(
      *c, [](int) {}, false);
  vcuda::collect_counters();
  set_feature_map({});
  // The assert line went to stderr; the exception's text alone names the verdict.
  if (diagnose(*c, outcome).signature.verdict == Verdict::device_assert) std::abort();
  return 0;
}
