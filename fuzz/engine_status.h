// What an engine tells its campaign, as one JSON line on a pipe, about once a second and once at its end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "repro/result.h"

namespace dsafuzz {

struct EngineStatus {
  std::uint64_t executions = 0;
  double seconds = 0;
  std::uint64_t features = 0;                        // (counter, bucket) pairs seen
  std::uint64_t corpus = 0;                          // inputs that brought a new one
  std::uint64_t candidates = 0;                      // written to disk
  std::uint64_t restarts = 0;                        // workers that ended
  std::uint64_t spares_taken = 0, spares_ready = 0;  // executor.h
  std::uint64_t left_out = 0;                        // runs spared by the known-finding filter
  bool met_expectation = false;                      // a run had the signature that the scenario expects
  std::map<std::string, std::string> versions;       // of what cases run on, as the first run said
  bool done = false;                                 // the engine has ended by itself; nothing follows
  std::string problem;                               // why it could not go on; empty if it could
  friend bool operator==(const EngineStatus&, const EngineStatus&) = default;
};

std::string to_line(const EngineStatus& status);  // ends with a newline
Result<EngineStatus> parse_status(std::string_view line);

}  // namespace dsafuzz
