// A machine's record as a folder: a file for each item, which a user can read before sending it.
#pragma once

#include <string>

#include "repro/machine_record.h"
#include "repro/result.h"

namespace dsafuzz {

// The known files of the folder; others are left alone. Problem (input): no such folder, or a file of more than 1 MiB.
// Problem (environment): none of the files is there, so that nothing can be said.
Result<MachineRecord> read_machine_folder(const std::string& folder);

// Writes a file for each item. The folder is made; known files from before that are in no item are removed.
Result<void> write_machine_folder(const std::string& folder, const MachineRecord& record);

}  // namespace dsafuzz
