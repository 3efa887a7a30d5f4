// The closed sets a case is made of: dtypes, precision modes, layouts, phases. Members stand in order of
// plainness: the first is the plainest, and reduction prefers what comes first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dsafuzz {

enum class Dtype : std::uint8_t { float32, int64, float64, float16, bfloat16, int32, int16, int8, uint8, boolean };
inline constexpr std::array kDtypes{Dtype::float32, Dtype::int64, Dtype::float64, Dtype::float16, Dtype::bfloat16,
                                    Dtype::int32,   Dtype::int16, Dtype::int8,    Dtype::uint8,   Dtype::boolean};

enum class Precision : std::uint8_t { none, autocast_float16, autocast_bfloat16, half, bfloat16 };
inline constexpr std::array kPrecisions{Precision::none, Precision::autocast_float16, Precision::autocast_bfloat16,
                                        Precision::half, Precision::bfloat16};

enum class Phase : std::uint8_t { forward, backward };  // backward: forward, then backward of the last result
inline constexpr std::array kPhases{Phase::forward, Phase::backward};

// How a tensor lies in memory. transposed: last two axes stored swapped. expanded: the first axis has stride 0 (all
// its slices are the first one). offset: starts one element into a larger storage.
enum class Layout : std::uint8_t { contiguous, transposed, expanded, offset };
inline constexpr std::array kLayouts{Layout::contiguous, Layout::transposed, Layout::expanded, Layout::offset};

// Names as written in YAML ("float32", "autocast_float16", "backward", "offset"; boolean is "bool"); inverses.
std::string_view to_text(Dtype);
std::string_view to_text(Precision);
std::string_view to_text(Phase);
std::string_view to_text(Layout);
std::optional<Dtype> parse_dtype(std::string_view);
std::optional<Precision> parse_precision(std::string_view);
std::optional<Phase> parse_phase(std::string_view);
std::optional<Layout> parse_layout(std::string_view);

bool is_floating(Dtype);
int bytes_of(Dtype);
// The least and greatest value an integer dtype (or bool) holds. Requires: !is_floating(d).
std::int64_t least_of(Dtype);
std::int64_t greatest_of(Dtype);
// What a stored integer becomes in dtype d: wrapped to its width, as a cast does. Requires: !is_floating(d).
std::int64_t wrap_to(Dtype d, std::int64_t value);

}  // namespace dsafuzz
