// From what was seen of a machine to facts.
#pragma once

#include "repro/machine_facts.h"
#include "repro/machine_record.h"
#include "repro/version_tables.h"

namespace dsafuzz {

// Every item is optional and may be any text. Includes what derive_facts() adds.
MachineFacts read_machine(const MachineRecord& record, const VersionTables& tables);

}  // namespace dsafuzz
