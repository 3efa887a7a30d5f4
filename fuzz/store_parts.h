// What stands in the campaign's folder, as its own code reads it. Private to store.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fuzz/candidate.h"

namespace dsafuzz {

// Lower-case letters, digits, _ and -: what scenario names, case ids and signature folders consist of.
bool is_plain(std::string_view name);

// Names in a folder, sorted; temporary and hidden ones are left out. A folder that is not there is empty.
std::vector<std::string> names_in(const std::string& folder);

Result<Candidate> read_candidate(const std::string& folder);

}  // namespace dsafuzz
