// Leaves out runs that would only meet a known finding again. Once a value class of a tensor has led to a finding,
// nearly every case that holds such a value does, and on a real GPU each of them costs a new process. A case all of
// whose illegal values are of such classes runs only once in `every` times; one with a class not yet seen runs.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "fuzz/legal_values.h"

namespace dsafuzz {

class KnownFilter {
 public:
  // 1: nothing is left out. Requires: every > 0.
  explicit KnownFilter(std::uint64_t every) : every_(every) {}

  // The case, with these illegal values, led to a finding.
  void learn(const Case& c, std::span<const IllegalValue> values);
  // True: leave it out. Counts, so that the choice depends on nothing but the cases before.
  bool leaves_out(const Case& c, std::span<const IllegalValue> values);

 private:
  struct Key {  // what decides, beside the value, which kernel looks at it
    std::string tensor;
    ValueClass value_class;
    Dtype dtype;
    Phase phase;
    Precision precision;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  static Key key_of(const Case& c, const IllegalValue& value);

  std::uint64_t every_, met_ = 0;
  std::set<Key> known_;
};

// 64 where an assert ends the process (cuda); 4 elsewhere, where it is cheap but still teaches nothing.
std::uint64_t usual_known_every(Device::Kind kind);

}  // namespace dsafuzz
