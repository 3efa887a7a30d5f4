// A contract said without a case: what an argument must hold and the guard for it, in the names of the operator's
// schema. For readers of a log, who have no tensors to look at; with a case, guard.h says the same with its numbers.
#pragma once

#include <string>

#include "repro/contract_row.h"

namespace dsafuzz {

// "target"; PyTorch's `self` is what its documentation calls `input`.
std::string argument_name(std::string_view schema_name);

// "0 to input.shape[1] - 1, or ignore_index (-100 unless it was given)". Never empty.
std::string legal_words(const ContractRow& row);

// Lines of Python that stop with the offending values where the contract is broken; what they name beside the
// argument is said by legal_words. Never empty.
std::string guard_lines(const ContractRow& row);

}  // namespace dsafuzz
