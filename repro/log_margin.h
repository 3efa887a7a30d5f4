// What wrappers put before each line of another program's output: ranks, actors, times, loggers, drawn boxes.
#pragma once

#include <cstddef>
#include <string_view>

namespace dsafuzz {

// Length of the margin that stands first in the line; 0 if it begins with none. There may be another behind it.
std::size_t margin_of(std::string_view line);

// A line between the two sides of a drawn box without the right one and the blanks that fill it.
std::string_view without_frame(std::string_view line);

}  // namespace dsafuzz
