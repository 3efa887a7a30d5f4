// The prevention list for one program and input: what was checked, what failed, and what could not be checked and why.
// Values only: who fills an item runs cases or reads them; printing is here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "repro/case.h"

namespace dsafuzz {

struct ChecklistItem {
  enum class State : std::uint8_t { passed, failed, unchecked };

  std::string name;                    // "data ranges"
  std::vector<std::string> checked;    // what was looked at and is in order, a line each
  std::vector<std::string> failed;     // what is wrong, with value and position
  std::vector<std::string> unchecked;  // what could not be looked at, and why
  std::vector<std::string> notes;      // recommendations; they decide nothing

  // failed: something did; unchecked: nothing could be checked; else passed, though single lines may be unchecked.
  State state() const;
  friend bool operator==(const ChecklistItem&, const ChecklistItem&) = default;
};
std::string_view to_text(ChecklistItem::State);  // "passed", "failed", "not checked"

struct Checklist {
  std::string file, name, id, device;  // of the case; where it ran
  std::vector<ChecklistItem> items;

  bool has_failed() const;
};

// For a person: an item's state and name, its lines below; the last line counts.
std::string checklist_text(const Checklist& list);
// {file, case, id, device, failed, items: [{name, state, checked, failed, unchecked, notes}]}, indented.
std::string checklist_json(const Checklist& list);

}  // namespace dsafuzz
