// What CUDA_VISIBLE_DEVICES does to the GPUs of a machine: a list of numbers, or of (beginnings of) UUIDs, that is read
// up to its first wrong entry. Sources: CUDA Programming Guide, "CUDA Environment Variables"; for repeated entries,
// torch.cuda._parse_visible_devices.
#pragma once

#include "repro/machine_facts.h"

namespace dsafuzz {

// Sets cvd.* and each GPU's gpu.visible. Without the variable every GPU is visible. Where no GPU is known, a list is
// judged by its form alone, and only repetition, mixture and negative numbers are wrong.
void judge_visible_devices(MachineFacts& facts);

}  // namespace dsafuzz
