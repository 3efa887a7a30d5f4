#include "repro/smi_extent.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "repro/parse_smi.h"
#include "repro/scan.h"
#include "repro/tsv_table.h"

namespace dsafuzz {
namespace {

struct Extent {
  std::size_t gpus = 0;
  bool cut = false;
};

// GPU 0: NAME (UUID: ..)
Extent extent_of_list(const LogText& log) {
  Extent extent;
  for (const std::string& line : log.lines) {
    std::string_view rest = line;
    if (!take(rest, "GPU ")) continue;
    extent.cut = !contains(rest, " (UUID: ") || !trimmed(rest).ends_with(')');
    if (!extent.cut) ++extent.gpus;
  }
  return extent;
}

// A header, and rows of as many cells.
Extent extent_of_csv(const LogText& log) {
  Extent extent;
  std::size_t columns = 0;
  for (const std::string& line : log.lines) {
    if (columns == 0 && line.starts_with("index")) {
      columns = split(line, ',').size();
    } else if (columns > 0 && !trimmed(line).empty() && is_digit(line.front())) {
      extent.cut = split(line, ',').size() < columns;
      if (!extent.cut) ++extent.gpus;
    }
  }
  return extent;
}

Extent extent_of_table(const LogText& log) {
  EnvironmentReading reading;
  read_smi_table(log, reading);
  return {reading.gpus.size(), reading.cut};
}

// A section for each GPU; all of them end with its processes, and so must the last if another one does.
Extent extent_of_query(const LogText& log) {
  Extent extent;
  bool some_end = false, this_ends = false;
  for (const std::string& line : log.lines) {
    if (line.starts_with("GPU ")) {
      ++extent.gpus;
      this_ends = false;
    } else if (extent.gpus > 0 && line.starts_with("    Processes")) {
      some_end = this_ends = true;
    }
  }
  extent.cut = some_end && !this_ends;
  return extent;
}

struct Form {
  std::string_view item, command;
  Extent (*extent)(const LogText&);
};
constexpr std::array kForms{
    Form{"nvidia-smi-q.txt", "nvidia-smi -q", extent_of_query}, Form{"nvidia-smi.txt", "nvidia-smi", extent_of_table},
    Form{"nvidia-smi-csv.txt", "nvidia-smi --query-gpu=index,name,compute_cap --format=csv", extent_of_csv},
    Form{"nvidia-smi-list.txt", "nvidia-smi -L", extent_of_list}};

}  // namespace

std::string cut_smi_forms(const MachineRecord& record) {
  std::array<Extent, kForms.size()> extents{};
  std::size_t most = 0;
  for (std::size_t i = 0; i < kForms.size(); ++i) {
    const auto at = record.find(kForms[i].item);
    if (at != record.end()) extents[i] = kForms[i].extent(read_log_text(at->second));
    most = std::max(most, extents[i].gpus);
  }
  std::string forms;
  for (std::size_t i = 0; i < kForms.size(); ++i) {
    if (!extents[i].cut && (extents[i].gpus == 0 || extents[i].gpus == most)) continue;
    forms += (forms.empty() ? "" : " and ") + std::string(kForms[i].command);
  }
  return forms;
}

}  // namespace dsafuzz
