// Runs another program to its end: an argument vector, never a shell; a process group of its own; a deadline; a bound
// on what is read of its output.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace dsafuzz {

struct ChildResult {
  bool started = false;
  bool timed_out = false;
  int exit_code = -1;  // -1: ended by a signal, which `output` says
  std::string output;  // stdout and stderr together, at most the limit
};

// `environment` is added to ours ("NAME=value" replaces). The program is looked up in PATH.
ChildResult run_child(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                      std::chrono::milliseconds limit, std::size_t output_limit = std::size_t{64} << 10);

// The same with `environment` as the child's whole.
ChildResult run_child_alone(const std::vector<std::string>& argv, std::vector<std::string> environment,
                            std::chrono::milliseconds limit, std::size_t output_limit = std::size_t{64} << 10);

// There is a process of this number, anybody's; none has 0 or a negative one.
bool is_alive(std::int64_t process);

}  // namespace dsafuzz
