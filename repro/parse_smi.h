// The parts of parse_environment.h that nvidia-smi prints.
#pragma once

#include "repro/parse_environment.h"

namespace dsafuzz {

// Each adds what it finds and leaves the reading alone if its form does not occur; GPUs are listed by one form only.
void read_smi_table(const LogText& log, EnvironmentReading& reading);
void read_smi_query(const LogText& log, EnvironmentReading& reading);  // nvidia-smi -q
void read_smi_csv(const LogText& log, EnvironmentReading& reading);    // --query-gpu=.. --format=csv
void read_smi_list(const LogText& log, EnvironmentReading& reading);   // nvidia-smi -L

// Names the tool that printed line `log_line`, if it is the first one met in the log.
void name_source(EnvironmentReading& reading, std::string_view source, std::size_t log_line);

}  // namespace dsafuzz
