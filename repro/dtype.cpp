#include "repro/dtype.h"

#include <limits>
#include <utility>

namespace dsafuzz {
namespace {

template <typename T, std::size_t N>
std::optional<T> find(const std::array<T, N>& all, std::string_view text) {
  for (const T member : all) {
    if (to_text(member) == text) return member;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_text(Dtype d) {
  switch (d) {
    case Dtype::float32: return "float32";
    case Dtype::int64: return "int64";
    case Dtype::float64: return "float64";
    case Dtype::float16: return "float16";
    case Dtype::bfloat16: return "bfloat16";
    case Dtype::int32: return "int32";
    case Dtype::int16: return "int16";
    case Dtype::int8: return "int8";
    case Dtype::uint8: return "uint8";
    case Dtype::boolean: return "bool";
  }
  std::unreachable();
}

std::string_view to_text(Precision p) {
  switch (p) {
    case Precision::none: return "none";
    case Precision::autocast_float16: return "autocast_float16";
    case Precision::autocast_bfloat16: return "autocast_bfloat16";
    case Precision::half: return "half";
    case Precision::bfloat16: return "bfloat16";
  }
  std::unreachable();
}

std::string_view to_text(Phase p) {
  switch (p) {
    case Phase::forward: return "forward";
    case Phase::backward: return "backward";
  }
  std::unreachable();
}

std::string_view to_text(Layout l) {
  switch (l) {
    case Layout::contiguous: return "contiguous";
    case Layout::transposed: return "transposed";
    case Layout::expanded: return "expanded";
    case Layout::offset: return "offset";
  }
  std::unreachable();
}

std::optional<Dtype> parse_dtype(std::string_view text) { return find(kDtypes, text); }
std::optional<Precision> parse_precision(std::string_view text) { return find(kPrecisions, text); }
std::optional<Phase> parse_phase(std::string_view text) { return find(kPhases, text); }
std::optional<Layout> parse_layout(std::string_view text) { return find(kLayouts, text); }

bool is_floating(Dtype d) {
  switch (d) {
    case Dtype::float32:
    case Dtype::float64:
    case Dtype::float16:
    case Dtype::bfloat16: return true;
    case Dtype::int64:
    case Dtype::int32:
    case Dtype::int16:
    case Dtype::int8:
    case Dtype::uint8:
    case Dtype::boolean: return false;
  }
  std::unreachable();
}

int bytes_of(Dtype d) {
  switch (d) {
    case Dtype::int64:
    case Dtype::float64: return 8;
    case Dtype::float32:
    case Dtype::int32: return 4;
    case Dtype::float16:
    case Dtype::bfloat16:
    case Dtype::int16: return 2;
    case Dtype::int8:
    case Dtype::uint8:
    case Dtype::boolean: return 1;
  }
  std::unreachable();
}

std::int64_t least_of(Dtype d) {
  if (d == Dtype::uint8 || d == Dtype::boolean) return 0;
  return std::numeric_limits<std::int64_t>::min() >> (64 - 8 * bytes_of(d));
}

std::int64_t greatest_of(Dtype d) {
  if (d == Dtype::boolean) return 1;
  if (d == Dtype::uint8) return 255;
  return std::numeric_limits<std::int64_t>::max() >> (64 - 8 * bytes_of(d));
}

std::int64_t wrap_to(Dtype d, std::int64_t value) {
  switch (d) {
    case Dtype::boolean: return value != 0;
    case Dtype::uint8: return static_cast<std::uint8_t>(value);
    case Dtype::int8: return static_cast<std::int8_t>(value);
    case Dtype::int16: return static_cast<std::int16_t>(value);
    case Dtype::int32: return static_cast<std::int32_t>(value);
    case Dtype::int64:
    case Dtype::float32:
    case Dtype::float64:
    case Dtype::float16:
    case Dtype::bfloat16: return value;
  }
  std::unreachable();
}

}  // namespace dsafuzz
