// Reading whole files of any origin.
#pragma once

#include <string>

#include "repro/result.h"

namespace dsafuzz {

// The bytes of a file, at most `limit`; a directory, a device or a longer file is a Problem that names the path.
Result<std::string> read_file(const std::string& path, std::size_t limit);

}  // namespace dsafuzz
