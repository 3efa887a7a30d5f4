// Versions as drivers, toolkits and wheels write them: numbers with dots between. "535.104.05" is newer than
// "535.54.03", "8.10" newer than "8.9", and "2.6" equals "2.6.0".
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

namespace dsafuzz {

// Number by number; a part that is not there counts as 0. What follows the numbers ("a0", "+cu130") counts for nothing.
std::strong_ordering compare_versions(std::string_view a, std::string_view b);

// The numbers with which the text begins: "2.11.0" of "2.11.0+cu130"; empty if there are none.
std::string version_prefix(std::string_view text);

// The first `parts` numbers: "12.2" of "12.2.0" and 2; the whole version if it has fewer.
std::string version_head(std::string_view version, std::size_t parts);

// How many numbers: 3 for "12.2.0".
std::size_t version_parts(std::string_view version);

// The first word, ended by a blank or a comma, of digits and dots with a dot among them: "580.82.07" of "NVRM version:
// NVIDIA UNIX x86_64 Kernel Module  580.82.07  Wed ..."; empty if there is none.
std::string_view dotted_word(std::string_view text);

}  // namespace dsafuzz
