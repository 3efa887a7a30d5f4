// What this machine and its user are called, and the folders they work in: what may not stand in a text that is sent.
#pragma once

#include "repro/redact.h"

namespace dsafuzz {

PrivateNames private_names();

}  // namespace dsafuzz
