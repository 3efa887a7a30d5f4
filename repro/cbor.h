// The part of CBOR (RFC 8949) that cases and outcomes use: integers, floats, texts, byte strings, arrays of known
// length, booleans and null. Written and read in one pass, without a tree between: both happen in every execution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dsafuzz {

class CborWriter {
 public:
  void array(std::size_t items) { head(4, items); }  // the items are to follow
  void text(std::string_view text) { string(3, text); }
  void bytes(std::string_view bytes) { string(2, bytes); }
  void integer(std::int64_t value);
  void real(double value);  // NaN travels as one pattern
  void boolean(bool value) { out_.push_back(value ? 0xf5 : 0xf4); }
  void null() { out_.push_back(0xf6); }
  std::vector<std::uint8_t> take() { return std::move(out_); }

 private:
  void head(unsigned major, std::uint64_t value);
  void string(unsigned major, std::string_view content);
  std::vector<std::uint8_t> out_;
};

// A cursor over bytes of any origin. Every access is checked, and the first that fails makes all later ones fail too,
// so a decoder reads straight through and asks once. Loops over an array's items must ask ok() at each: a length
// is only a claim. Tags, maps and indefinite lengths are refused.
class CborReader {
 public:
  explicit CborReader(std::span<const std::uint8_t> bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  enum class Kind : std::uint8_t { integer, real, text, bytes, array, boolean, null, other };
  Kind kind() const;  // of the next item; other at the end and for what is refused

  std::uint64_t array();  // how many items follow
  void array_of(std::uint64_t items) { require(array() == items); }
  std::string text();
  std::string bytes();
  std::int64_t integer(std::int64_t least, std::int64_t most);  // `least` on failure
  double real();                                                // integers too
  bool boolean();
  void null();

  bool ok() const { return ok_; }
  void require(bool condition) { ok_ = ok_ && condition; }
  bool at_end() const { return at_ == end_; }

 private:
  struct Head {
    unsigned major = 7, low = 0;
    std::uint64_t value = 0;
  };
  Head head();
  std::string string(unsigned major);

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool ok_ = true;
};

}  // namespace dsafuzz
