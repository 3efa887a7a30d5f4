// What the forms of nvidia-smi's output say: `nvidia-smi -q`, the table, `--query-gpu=... --format=csv` and `-L`. The
// table changed its widths and words over the years and cuts names; -q is the one to trust, the others fill gaps.
#pragma once

#include <string_view>

#include "repro/machine_facts.h"

namespace dsafuzz {

// Each adds what it finds; facts that are known already stay. Text of another kind, or cut anywhere, adds what is
// whole.
void read_smi_query(std::string_view text, MachineFacts& facts);
void read_smi_table(std::string_view text, MachineFacts& facts);
void read_smi_csv(std::string_view text, MachineFacts& facts);
void read_smi_list(std::string_view text, MachineFacts& facts);

}  // namespace dsafuzz
