// The case in progress, in a memory-mapped file: written before each run, cleared after it, at the cost of a memcpy.
// The pages outlive the process, so a case whose engine was killed with it is still there for the next campaign.
//
// Layout: 8 bytes length (0: nothing is running), 8 bytes execution number, then the case bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "repro/case_bytes.h"
#include "repro/result.h"

namespace dsafuzz {

class WriteAhead {
 public:
  // Creates the file at its full size, so that no later store can fail for want of space.
  static Result<WriteAhead> open(const std::string& path);
  WriteAhead(WriteAhead&& other) noexcept;
  WriteAhead& operator=(WriteAhead&&) = delete;
  ~WriteAhead();

  // Requires: bytes.size() <= kCaseBytesLimit.
  void begin(std::span<const std::uint8_t> bytes, std::uint64_t sequence);
  void end();

 private:
  explicit WriteAhead(std::uint8_t* memory) : memory_(memory) {}
  std::uint8_t* memory_;
};

struct InterruptedRun {
  std::uint64_t sequence = 0;
  std::vector<std::uint8_t> bytes;
};
// What was running when the file's writer ended; nothing if nothing was, or the file is not one of ours.
std::optional<InterruptedRun> read_interrupted(const std::string& path);

}  // namespace dsafuzz
