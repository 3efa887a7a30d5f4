// What nvidia-smi says when it does not do its work. Its words come from the driver's library, from the shell that
// looked for it, or from the kernel that killed it, so that no list of them is whole: what is none of the known
// failures and none of its forms either is told as unreadable, never as a machine without GPUs.
#pragma once

#include <string>
#include <string_view>

namespace dsafuzz {

struct SmiFailure {
  std::string_view kind;  // a value of the fact smi.failure, "not_found", "sensors" or "unreadable"; empty: no failure
  std::string message;    // the line that says so
};

// `text` is all that nvidia-smi wrote. Empty text is no failure.
SmiFailure smi_failure(std::string_view text);

}  // namespace dsafuzz
