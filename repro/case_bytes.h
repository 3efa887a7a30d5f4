// Cases as compact bytes (CBOR): what travels to the worker and what libFuzzer keeps in its corpus.
// decode_case(encode(c)) == c. Bytes of any origin may be given to decode_case.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "repro/case.h"

namespace dsafuzz {

inline constexpr std::size_t kCaseBytesLimit = std::size_t{1} << 20;

std::vector<std::uint8_t> encode(const Case& c);
// Problem: truncated, of another version, wrong types, limits passed, or not well-formed (validate).
Result<Case> decode_case(std::span<const std::uint8_t> bytes);

}  // namespace dsafuzz
