// Conflicts that no installation shows, each with the least that shows it.
#pragma once

#include <vector>

#include "repro/doctor.h"
#include "repro/machine_record.h"

namespace dsafuzz {

struct SmallRow {
  const char* conflict;
  Health level;
  MachineRecord record;  // laid over a healthy machine
};
std::vector<SmallRow> small_rows();

}  // namespace dsafuzz
