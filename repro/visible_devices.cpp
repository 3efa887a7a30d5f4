#include "repro/visible_devices.h"

#include <string>
#include <string_view>
#include <vector>

#include "repro/scan.h"
#include "repro/tsv_table.h"

namespace dsafuzz {
namespace {

enum class Kind : std::uint8_t { index, uuid, mig };

Kind kind_of(std::string_view entry) {
  if (entry.starts_with("GPU-")) return Kind::uuid;
  return entry.starts_with("MIG-") ? Kind::mig : Kind::index;
}

// The GPUs that the entry may mean: none or several is wrong.
std::vector<std::size_t> matches(std::string_view entry, const std::vector<FactValues>& gpus) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const auto uuid = gpus[i].find("gpu.uuid");
    if (kind_of(entry) == Kind::uuid) {
      if (uuid != gpus[i].end() && uuid->second.starts_with(entry)) found.push_back(i);
    } else if (std::to_string(i) == entry) {
      found.push_back(i);
    }
  }
  return found;
}

// Whether a MIG device of this name exists; true where nothing is known of MIG devices. Drivers before 470 named them
// by their GPU: MIG-GPU-UUID/1/0.
bool mig_exists(std::string_view entry, const std::vector<FactValues>& gpus) {
  bool listed = false, asked = false;
  for (const FactValues& gpu : gpus) {
    const auto uuids = gpu.find("gpu.mig_uuids"), own = gpu.find("gpu.uuid"), mode = gpu.find("gpu.mig");
    if (mode != gpu.end() && mode->second == "Enabled") listed = listed || uuids == gpu.end();
    asked = asked || uuids != gpu.end() || mode != gpu.end() || gpu.contains("gpu.compute_mode");
    if (own != gpu.end() && entry.starts_with("MIG-" + own->second)) return true;
    if (uuids == gpu.end()) continue;
    for (const std::string& uuid : split(uuids->second, ' ')) {
      if (uuid.starts_with(entry)) return true;
    }
  }
  // A GPU that is split, and whose parts were not listed, may have it.
  return listed || !asked;
}

bool uuids_are_known(const MachineFacts& facts) {
  for (const FactValues& gpu : facts.gpus) {
    if (gpu.contains("gpu.uuid")) return true;
  }
  return false;
}

void show(MachineFacts& facts, std::string_view visible) {
  for (FactValues& gpu : facts.gpus) set_fact(gpu, "gpu.visible", visible);
}

void wrong(MachineFacts& facts, std::string_view state, std::string_view entry) {
  facts.set("cvd.state", state);
  facts.set("cvd.bad", entry);
}

}  // namespace

void judge_visible_devices(MachineFacts& facts) {
  const std::string* list = facts.find("env.CUDA_VISIBLE_DEVICES");
  show(facts, list ? "no" : "yes");
  if (!list) return;
  if (trimmed(*list).empty()) return facts.set("cvd.state", "empty");
  std::vector<std::string> entries = split(*list, ',');
  for (std::string& entry : entries) entry = std::string(trimmed(entry));
  if (entries.size() > 1 && entries.back().empty()) entries.pop_back();  // "0,1," ends where it should
  constexpr std::size_t kMostEntries = 1024;                             // no machine has as many devices
  if (entries.size() > kMostEntries) entries.resize(kMostEntries);
  const Kind kind = kind_of(entries.front());
  facts.set("cvd.kind", kind == Kind::index ? "index" : kind == Kind::uuid ? "uuid" : "mig");
  facts.set("cvd.state", "fine");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string& entry = entries[i];
    for (std::size_t before = 0; before < i; ++before) {
      if (entries[before] != entry) continue;
      show(facts, "no");  // PyTorch reads such a list as an empty one
      return wrong(facts, "duplicate", entry);
    }
    if (kind_of(entry) != kind) return wrong(facts, "mixed", entry);
    std::string_view digits = entry;
    if (kind == Kind::index && (!take_number(digits) || !digits.empty())) return wrong(facts, "invalid", entry);
    if (facts.gpus.empty() || (kind == Kind::uuid && !uuids_are_known(facts))) continue;
    if (kind == Kind::mig) {
      if (!mig_exists(entry, facts.gpus)) return wrong(facts, "no_match", entry);
      show(facts, "yes");
      continue;
    }
    const auto found = matches(entry, facts.gpus);
    if (found.size() != 1) return wrong(facts, kind == Kind::index ? "invalid" : "no_match", entry);
    set_fact(facts.gpus[found.front()], "gpu.visible", "yes");
  }
}

}  // namespace dsafuzz
