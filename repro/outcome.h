// What one run did: facts only, no judgement. A dead target is data, not an error.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "repro/dtype.h"

namespace dsafuzz {

// A tensor that a step produced, as far as it got.
struct ResultTensor {
  std::string name;
  Dtype dtype = Dtype::float32;
  std::vector<std::int64_t> shape;
  friend bool operator==(const ResultTensor&, const ResultTensor&) = default;
};

// A device assert that kernels came past, whether it held or not.
struct ReachedSite {
  std::string file;  // as it would be printed
  std::int64_t line = 0;
  std::string function, condition;  // the condition is empty where the message is made at run time
  friend auto operator<=>(const ReachedSite&, const ReachedSite&) = default;
};

struct Outcome {
  enum class End : std::uint8_t {
    returned,   // every step returned
    threw,      // an exception; the process lives
    exited,     // the process ended by itself; code is its exit code
    signalled,  // ended by a signal; code is its number
    timed_out,  // killed at the time limit
    not_run,    // the worker could not run it at all; error says why
  };
  End end = End::returned;
  int code = 0;
  // The step in progress when it ended: an index into Case::steps; steps.size() while in backward or the final
  // synchronisation; -1 while tensors were being made.
  int step = -1;
  std::string op;             // that step's operator, "backward", "synchronize" or "inputs"
  std::string error_type;     // "c10::IndexError", "c10::AcceleratorError", "std::runtime_error"
  std::string error;          // its message, at most 16 KiB
  std::string log;            // what the child printed to stderr, bounded by the run's limit, verbatim
  bool log_cut = false;
  std::vector<ResultTensor> results;
  std::vector<ReachedSite> sites;  // on the virtual device only
  double seconds = 0;
  std::int64_t peak_device_bytes = 0;
  std::string device;                           // "vcuda", "cuda:0"
  std::map<std::string, std::string> versions;  // "torch": "2.11.0", "gpu": "...", only what is known
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

}  // namespace dsafuzz
