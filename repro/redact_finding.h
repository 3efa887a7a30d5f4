// A finding's printed texts without names of people, machines and folders. Its cases are redact_case's matter.
#pragma once

#include "repro/finding.h"
#include "repro/redact.h"

namespace dsafuzz {

// Log, error, evidence, frame, opinions and advice. The signature stays: it names the bug, and holds no path.
Finding redacted(Finding finding, const PrivateNames& names);

}  // namespace dsafuzz
