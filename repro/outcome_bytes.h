// Outcomes as bytes (CBOR), for the way from the worker to the supervisor. The log does not travel here: the
// supervisor reads what the child printed itself. decode_outcome(encode(o)) == o but for log and log_cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "repro/outcome.h"
#include "repro/result.h"

namespace dsafuzz {

std::vector<std::uint8_t> encode(const Outcome& outcome);
// The bytes come from a process that may have gone wild: they are checked like any foreign input.
Result<Outcome> decode_outcome(std::span<const std::uint8_t> bytes);

}  // namespace dsafuzz
