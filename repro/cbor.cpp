#include "repro/cbor.h"

#include <bit>
#include <cmath>
#include <limits>

namespace dsafuzz {

void CborWriter::head(unsigned major, std::uint64_t value) {
  const auto first = static_cast<std::uint8_t>(major << 5);
  if (value < 24) {
    out_.push_back(first | static_cast<std::uint8_t>(value));
    return;
  }
  // The number of bytes as a power of two: 1, 2, 4 or 8.
  const int log = value <= 0xff ? 0 : value <= 0xffff ? 1 : value <= 0xffffffff ? 2 : 3;
  out_.push_back(first | static_cast<std::uint8_t>(24 + log));
  for (int i = (1 << log) - 1; i >= 0; --i) out_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

void CborWriter::string(unsigned major, std::string_view content) {
  head(major, content.size());
  out_.insert(out_.end(), content.begin(), content.end());
}

void CborWriter::integer(std::int64_t value) {
  // A negative n is stored as -1 - n.
  if (value >= 0) {
    head(0, static_cast<std::uint64_t>(value));
  } else {
    head(1, ~static_cast<std::uint64_t>(value));
  }
}

void CborWriter::real(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value);
  out_.push_back(0xfb);
  for (int i = 7; i >= 0; --i) out_.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
}

CborReader::Kind CborReader::kind() const {
  if (!ok_ || at_ == end_) return Kind::other;
  switch (*at_ >> 5) {
    case 0:
    case 1: return Kind::integer;
    case 2: return Kind::bytes;
    case 3: return Kind::text;
    case 4: return Kind::array;
    case 7: break;
    default: return Kind::other;
  }
  switch (*at_ & 31) {
    case 20:
    case 21: return Kind::boolean;
    case 22: return Kind::null;
    case 25:
    case 26:
    case 27: return Kind::real;
    default: return Kind::other;
  }
}

CborReader::Head CborReader::head() {
  if (!ok_ || at_ == end_) {
    ok_ = false;
    return {};
  }
  Head head{.major = static_cast<unsigned>(*at_ >> 5), .low = static_cast<unsigned>(*at_ & 31)};
  ++at_;
  head.value = head.low;
  if (head.low < 24) return head;
  const int extra = head.low <= 27 ? 1 << (head.low - 24) : 0;
  if (extra == 0 || extra > end_ - at_) {
    ok_ = false;
    return {};
  }
  head.value = 0;
  for (int i = 0; i < extra; ++i) head.value = head.value << 8 | *at_++;
  return head;
}

std::uint64_t CborReader::array() {
  const Head h = head();
  // Each item takes a byte at least.
  require(h.major == 4 && h.value <= static_cast<std::uint64_t>(end_ - at_));
  return ok_ ? h.value : 0;
}

std::string CborReader::string(unsigned major) {
  const Head h = head();
  require(h.major == major && h.value <= static_cast<std::uint64_t>(end_ - at_));
  if (!ok_) return {};
  const char* const begin = reinterpret_cast<const char*>(at_);
  at_ += h.value;
  return {begin, h.value};
}

std::string CborReader::text() { return string(3); }
std::string CborReader::bytes() { return string(2); }

std::int64_t CborReader::integer(std::int64_t least, std::int64_t most) {
  const Head h = head();
  require(h.major <= 1 && h.value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  const auto value = static_cast<std::int64_t>(h.major == 1 ? ~h.value : h.value);
  require(value >= least && value <= most);
  return ok_ ? value : least;
}

double CborReader::real() {
  if (kind() == Kind::integer) {
    return static_cast<double>(
        integer(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()));
  }
  require(kind() == Kind::real);
  const Head h = head();
  if (!ok_) return 0;
  switch (h.low) {
    case 25: {
      const int exponent = static_cast<int>(h.value >> 10 & 31), fraction = static_cast<int>(h.value & 1023);
      const double sign = h.value >> 15 ? -1.0 : 1.0;
      if (exponent == 31) {
        return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
      }
      return sign * std::ldexp(exponent ? 1024 + fraction : fraction, (exponent ? exponent : 1) - 25);
    }
    case 26: return std::bit_cast<float>(static_cast<std::uint32_t>(h.value));
    default: return std::bit_cast<double>(h.value);
  }
}

bool CborReader::boolean() {
  require(kind() == Kind::boolean);
  return head().low == 21;
}

void CborReader::null() {
  require(kind() == Kind::null);
  head();
}

}  // namespace dsafuzz
