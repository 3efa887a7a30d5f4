// Whether recorded outputs of nvidia-smi are whole: a copy that was cut would be read as a machine with fewer GPUs.
#pragma once

#include <string>

#include "repro/machine_record.h"

namespace dsafuzz {

// The commands whose output ends in the middle, or lists fewer GPUs than another one does, joined by "and"; empty if
// none does. An output that lists no GPU at all is left to smi_failure(), which says why.
std::string cut_smi_forms(const MachineRecord& record);

}  // namespace dsafuzz
