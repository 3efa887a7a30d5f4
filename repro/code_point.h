// Unicode code points as bytes of text.
#pragma once

#include <cstdint>
#include <string>

namespace dsafuzz {

// Appends `code` in UTF-8; halves of surrogate pairs are written like any other code.
void append_utf8(std::string& out, std::uint32_t code);

}  // namespace dsafuzz
