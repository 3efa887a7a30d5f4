// Facts that follow from others and from the version tables: what the installed PyTorch asks for, whether it holds code
// for a GPU, which driver a CUDA version needs, how unlike the GPUs are.
#pragma once

#include "repro/machine_facts.h"
#include "repro/version_tables.h"

namespace dsafuzz {

void derive_facts(const VersionTables& tables, MachineFacts& facts);

}  // namespace dsafuzz
