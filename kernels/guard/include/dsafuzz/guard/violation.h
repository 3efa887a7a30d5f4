// What a failed check says: which argument of which call, where, what it holds, and what would be legal.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dsafuzz::guard {

struct Violation {
  std::string check;                   // "label", "index", "probability", "finite", "dtype", "device", "shape"
  std::string call;                    // "cross_entropy"
  std::string argument;                // "target"
  std::vector<std::int64_t> position;  // of the first offending element, an index for each axis; empty for a scalar
  bool has_position = false;           // false: the argument as a whole is wrong
  std::string value;                   // that element, or what the argument is: "5", "nan", "Float", "[4, 3]"
  std::int64_t count = 0;              // offending elements, where elements are wrong
  std::int64_t elements = 0;           // of all these
  std::string legal;                   // "in [0, 5) or -100", "Long or Byte"

  // "cross_entropy: target[3] is 5, but must be in [0, 5) or -100 (2 of 32 elements are not)".
  std::string text() const {
    std::string out = call + ": " + argument;
    if (has_position && !position.empty()) {
      out += '[';
      for (std::size_t i = 0; i < position.size(); ++i) out += (i ? ", " : "") + std::to_string(position[i]);
      out += ']';
    }
    if (!has_position) out += "'s " + check;
    out += " is " + value + ", but must be " + legal;
    if (has_position && elements > 1) {
      out += " (" + std::to_string(count) + " of " + std::to_string(elements) + " elements are not)";
    }
    return out;
  }
};

// what() is the text alone, without the stack that a c10::Error carries.
class ViolationError : public std::invalid_argument {
 public:
  explicit ViolationError(Violation violation)
      : std::invalid_argument(violation.text()), violation_(std::move(violation)) {}
  const Violation& violation() const { return violation_; }

 private:
  Violation violation_;
};

}  // namespace dsafuzz::guard
