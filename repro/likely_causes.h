// What people mostly did wrong when an operator met illegal values: experience as data, by operator and argument.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "repro/contract_row.h"

namespace dsafuzz {

// Sentences, the commonest first. `row` may be null where no contract is known; the condition then decides alone.
// Never empty.
std::vector<std::string> likely_causes(const ContractRow* row, std::string_view op, std::string_view condition);

}  // namespace dsafuzz
