#include "tests/bench/bench_cases.h"

#include <cstdio>
#include <cstdlib>

#include "repro/case_text.h"

namespace dsafuzz {
namespace {

template <typename T>
T or_end(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().text().c_str());
  std::exit(result.error().exit_code());
}

// LAPACK exchanges rows as the pivots say, without a look at them; the virtual device takes the CPU's kernel for an
// operator that it does not have.
constexpr std::string_view kKillingCase = R"(case: killing
tensors:
  factors: {shape: [3, 3], dtype: float32, fill: 1}
  pivots: {shape: [3], dtype: int32, fill: 1000000000}
  right: {shape: [3, 1], dtype: float32, fill: 1}
steps:
  - out = aten::linalg_ldl_solve(factors, pivots, right)
)";

}  // namespace

std::string bench_scenario_file(const std::string& name) {
  return std::string(DSAFUZZ_SCENARIOS) + "/" + name + ".yaml";
}

Scenario bench_scenario(const std::string& name) { return or_end(load_scenario(bench_scenario_file(name))); }

Case killing_case() { return or_end(parse_case(kKillingCase, "killing_case")); }

std::uint64_t bench_number(const char* variable, std::uint64_t usual) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : usual;
}

}  // namespace dsafuzz
