// How the forms of nvidia-smi's output become facts: what is known already stays, and words for nothing ("N/A", "[Not
// Supported]") add nothing.
#pragma once

#include <cstdint>
#include <string_view>

#include "repro/machine_facts.h"

namespace dsafuzz {

// Of a size ("81920 MiB") the number is kept.
void add_if_new(FactValues& values, std::string_view name, std::string_view value);
// Adds to a count, which begins at 0.
void increase(FactValues& values, std::string_view name, std::int64_t by);
// Versions of the driver and of the newest CUDA it takes; either may be empty.
void add_driver(MachineFacts& facts, std::string_view driver, std::string_view cuda);
// A process that is listed on the GPU, by its number.
void add_process(FactValues& gpu, std::string_view number);

bool is_number(std::string_view text);

// The GPU of that number, which is added if there is none. Valid until another is added.
FactValues& gpu_with_index(MachineFacts& facts, std::string_view index);

}  // namespace dsafuzz
