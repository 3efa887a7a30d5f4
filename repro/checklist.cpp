#include "repro/checklist.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "repro/escape.h"

namespace dsafuzz {
namespace {

void add_lines(std::string& out, std::string_view mark, const std::vector<std::string>& lines) {
  static constexpr std::size_t kLine = 400;
  for (const std::string& line : lines) {
    out += "    ";
    out += mark;
    out += comment_text(line, kLine);
    out += '\n';
  }
}

}  // namespace

ChecklistItem::State ChecklistItem::state() const {
  if (!failed.empty()) return State::failed;
  return checked.empty() && notes.empty() ? State::unchecked : State::passed;
}

std::string_view to_text(ChecklistItem::State state) {
  switch (state) {
    case ChecklistItem::State::passed: return "passed";
    case ChecklistItem::State::failed: return "failed";
    case ChecklistItem::State::unchecked: return "not checked";
  }
  return "";
}

bool Checklist::has_failed() const {
  return std::ranges::any_of(items, [](const auto& i) { return i.state() == ChecklistItem::State::failed; });
}

std::string checklist_text(const Checklist& list) {
  std::string out = comment_text(list.file, 400) + ": " + list.name + ", id " + list.id + ", on " + list.device + "\n";
  int passed = 0, failed = 0, unchecked = 0;
  for (const ChecklistItem& item : list.items) {
    const auto state = item.state();
    (state == ChecklistItem::State::failed ? failed : state == ChecklistItem::State::passed ? passed : unchecked) += 1;
    std::string word(to_text(state));
    word.resize(12, ' ');
    out += word + item.name + "\n";
    add_lines(out, "FAILED  ", item.failed);
    add_lines(out, "checked ", item.checked);
    add_lines(out, "not checked: ", item.unchecked);
    add_lines(out, "", item.notes);
  }
  return out + std::to_string(passed) + " passed, " + std::to_string(failed) + " failed, " + std::to_string(unchecked) +
         " not checked\n";
}

std::string checklist_json(const Checklist& list) {
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (const ChecklistItem& item : list.items) {
    items.push_back({{"name", item.name},
                     {"state", to_text(item.state())},
                     {"checked", item.checked},
                     {"failed", item.failed},
                     {"unchecked", item.unchecked},
                     {"notes", item.notes}});
  }
  const nlohmann::ordered_json out{{"file", list.file},     {"case", list.name},           {"id", list.id},
                                   {"device", list.device}, {"failed", list.has_failed()}, {"items", items}};
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace dsafuzz
