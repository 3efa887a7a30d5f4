// Cells of nvidia-smi's output and what they hold.
#pragma once

#include <string_view>
#include <vector>

#include "repro/parse_environment.h"

namespace dsafuzz {

std::string_view first_word(std::string_view s);
std::string_view last_word(std::string_view s);
// At most 64 parts, without blanks around them.
std::vector<std::string_view> cells_of(std::string_view s, char at);
// "412MiB", "23034 MiB", "3%": the number; anything else ("N/A", "ERR!", "[Not Supported]") is not known.
Told number_of(std::string_view s);
Told text_of_cell(std::string_view s);
// "00000000:0A:00.0"
bool is_bus_id(std::string_view s);

}  // namespace dsafuzz
