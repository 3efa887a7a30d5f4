// The small language in which rules about machines are written:
//
//   condition  = alternative { "or" alternative }
//   alternative = test { "and" test }
//   test       = FACT "known" | FACT "unknown" | FACT operator (FACT | 'text' | number)
//   operator   = "=" "!=" "<" "<=" ">" ">=" "has" "lacks"
//
// A test of a fact that is not known is false, except `unknown`: nothing is concluded from ignorance. Where both sides
// begin with a digit they are compared as versions, else as text, and then < and > are false. `has` and `lacks` look
// for the text anywhere in the value. There are no parentheses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "repro/machine_facts.h"
#include "repro/result.h"

namespace dsafuzz {

struct FactTest {
  enum class Op : std::uint8_t { known, unknown, equal, unequal, less, at_most, more, at_least, has, lacks };
  std::string fact;
  Op op = Op::known;
  std::string operand;  // a text or number, or the name of a fact
  bool operand_is_fact = false;

  friend bool operator==(const FactTest&, const FactTest&) = default;
};

struct Condition {
  std::vector<std::vector<FactTest>> alternatives;  // one of these, with all of its tests, must hold

  friend bool operator==(const Condition&, const Condition&) = default;
  bool mentions_gpu() const;  // a fact "gpu.*"
};

// `where` is for problems. Problem (input): anything but the grammar above, or a name that is no fact's.
Result<Condition> parse_condition(std::string_view text, const std::string& where);

// `gpu` are the facts of the GPU that is looked at, or nullptr.
bool holds(const Condition& condition, const MachineFacts& facts, const FactValues* gpu = nullptr);

}  // namespace dsafuzz
