// Facts about GPUs that follow from others: whether PyTorch's code runs on each, which memory nobody holds any more,
// how unlike they are, and what it means that there are none.
#pragma once

#include "repro/machine_facts.h"
#include "repro/version_tables.h"

namespace dsafuzz {

// Needs what PyTorch's build holds (pin.sass) and which GPUs are visible.
void derive_gpu_facts(const VersionTables& tables, MachineFacts& facts);

}  // namespace dsafuzz
