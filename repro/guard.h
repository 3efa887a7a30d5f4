// What a contract demands, said to a person and to Python.
#pragma once

#include <string>
#include <string_view>

#include "repro/contract.h"

namespace dsafuzz {

// Behind "needs values that": "lie in [0, 5) or be -100", "start at 0, never decrease and end at most at 4".
std::string legal_text(const ContractUse& use);
// The same for an interval of integers, whoever states it.
std::string interval_text(const Bounds& bounds);

// `assert (((labels >= 0) & (labels < logits.shape[1])) | (labels == -100)).all(), "..."`, over the names that the
// step uses.
std::string guard_text(const ContractUse& use);

// A Python identifier made of a name of the case: other bytes become `_`, a keyword gets one behind it.
std::string python_name(std::string_view name);

}  // namespace dsafuzz
