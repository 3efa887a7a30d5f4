// What one engine process is told, and how that travels through its argument vector.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "repro/result.h"
#include "repro/run_settings.h"

namespace dsafuzz {

// How an engine searches. Another than the usual one is there to be compared with it.
struct SearchMethod {
  bool from_legal = false;  // start from inputs that hold no illegal value, even if the scenario's own does
  bool feedback = true;     // keep inputs that bring new coverage; without: only the seeds are mutated
  bool structured = true;   // mutate cases by what their parts mean; without: libFuzzer's changes to their bytes
  friend bool operator==(const SearchMethod&, const SearchMethod&) = default;
};

struct EngineOptions {
  std::string scenario;     // its file
  std::string out;          // the campaign's folder (store.h)
  std::uint64_t index = 0;  // which engine of this scenario
  std::uint64_t seed = 1;
  std::uint64_t runs = 0;  // executions; 0: no limit
  double seconds = 0;      // 0: no limit
  std::uint64_t known_every =
      0;               // of cases sure to hit a known finding run one in so many (known_filter.h); 0: choose by device
  bool until_expected = false;  // end when the scenario's expected signature is met
  SearchMethod method;
  int status_fd = -1;  // status lines go there (engine_status.h); -1: nowhere
  std::uint64_t parent = 0;  // process id: the engine is killed when the thread that spawned it ends; 0: it is not
  RunSettings settings;
  friend bool operator==(const EngineOptions&, const EngineOptions&) = default;
};

// Inverses. The arguments do not hold the program's name or the word `engine`.
std::vector<std::string> to_arguments(const EngineOptions& options);
Result<EngineOptions> parse_engine_arguments(std::span<const std::string> arguments);

}  // namespace dsafuzz
