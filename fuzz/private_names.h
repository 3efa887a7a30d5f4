// What this machine and its user are called, and the folders they work in: what may not stand in a text that is sent.
#pragma once

#include <string>
#include <vector>

#include "repro/redact.h"

namespace dsafuzz {

// With `folders`, in which someone works too.
PrivateNames private_names(const std::vector<std::string>& folders = {});

}  // namespace dsafuzz
