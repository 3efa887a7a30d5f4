#include "repro/checklist_case.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "repro/breach.h"
#include "repro/case_text.h"
#include "repro/guard.h"

namespace dsafuzz {
namespace {

std::string bounds_text(const Bounds& bounds) {
  if (bounds.nonzero) return "differ from 0";
  if (bounds.real) return "lie in [" + to_text(Number(bounds.real_from)) + ", " + to_text(Number(bounds.real_to)) + "]";
  return interval_text(bounds);
}

struct Outside {
  std::int64_t count = 0, first = 0;
  Number value;
};
Outside outside_of(const Case& c, const TensorSpec& tensor, const Bounds& bounds) {
  Outside out;
  visit_outside(c, tensor, bounds, [&](std::int64_t index, const Number& value) {
    if (out.count++ == 0) {
      out.first = index;
      out.value = value;
    }
    return true;
  });
  return out;
}

// "labels[3] is 5, but must lie in [0, 5) (2 of 32 elements do not)"
std::string outside_text(const Case& c, const TensorSpec& tensor, const Outside& outside, const std::string& legal) {
  return tensor.name + element_position(c, tensor, outside.first) + " is " + to_text(outside.value) +
         ", but values must " + legal + " (" + std::to_string(outside.count) + " of " +
         std::to_string(readable_elements(c, tensor)) + " elements do not)";
}

std::string spoken(const std::string& legal) {  // behind "values must"
  return legal.starts_with("are ") ? "be " + legal.substr(4) : legal;
}

// By `legal`, if it speaks of the tensor. True: it does.
bool check_stated(const Case& c, const TensorSpec& tensor, const std::map<std::string, Bounds>& legal,
                  ChecklistItem& item, std::optional<std::int64_t>& first) {
  const auto stated = legal.find(tensor.name);
  if (stated == legal.end()) return false;
  const std::string words = bounds_text(stated->second);
  const Outside outside = outside_of(c, tensor, stated->second);
  if (outside.count == 0) {
    item.checked.push_back(tensor.name + ": values must " + words + ", as the scenario says");
  } else {
    first = outside.first;
    item.failed.push_back(outside_text(c, tensor, outside, words) + ", as the scenario says");
  }
  return true;
}

void check_finite(const Case& c, const TensorSpec& tensor, ChecklistItem& item) {
  constexpr double kMost = std::numeric_limits<double>::max();
  const Bounds finite{.also = {}, .real = true, .real_from = -kMost, .real_to = kMost};
  const Outside outside = outside_of(c, tensor, finite);
  if (outside.count == 0) {
    item.checked.push_back(tensor.name + ": neither NaN nor infinite");
  } else {
    item.failed.push_back(outside_text(c, tensor, outside, "be finite"));
  }
}

std::string argument_text(const ContractUse& use) {
  return std::string(base_name(use.step->op)) + "'s " + std::string(use.row->argument);
}

void check_contract(const Case& c, const ContractUse& use, const std::vector<Breach>& broken,
                    std::optional<std::int64_t> known, ChecklistItem& item) {
  const std::string legal = spoken(legal_text(use));
  const auto breach = std::ranges::find_if(broken, [&](const Breach& b) {
    return b.use.row == use.row && b.use.step == use.step && b.use.name == use.name;
  });
  if (breach == broken.end()) {
    item.checked.push_back((use.tensor ? use.tensor->name : argument_text(use)) + ": values must " + legal + ", for " +
                           argument_text(use));
  } else if (!use.tensor) {
    item.failed.push_back(argument_text(use) + " is " + breach->value + ", but must " + legal);
  } else if (breach->outside) {
    if (known == breach->index) return;
    item.failed.push_back(outside_text(c, *use.tensor, outside_of(c, *use.tensor, use.bounds), legal) + ", for " +
                          argument_text(use));
  } else {
    item.failed.push_back(use.tensor->name + element_position(c, *use.tensor, breach->index) + ": " + breach->value +
                          " " + breach->rule + "; values must " + legal + ", for " + argument_text(use));
  }
}

}  // namespace

ChecklistItem data_ranges(const Case& c, const std::map<std::string, Bounds>& legal) {
  ChecklistItem item{.name = "data ranges"};
  const std::vector<ContractUse> uses = contract_uses(c);
  const std::vector<Breach> broken = breaches(c);
  for (const TensorSpec& tensor : c.tensors) {
    std::optional<std::int64_t> first;
    bool spoken_of = check_stated(c, tensor, legal, item, first);
    for (const ContractUse& use : uses) {
      if (use.tensor != &tensor) continue;
      spoken_of = true;
      check_contract(c, use, broken, first, item);
    }
    if (!spoken_of && is_floating(tensor.dtype)) {
      check_finite(c, tensor, item);
    } else if (!spoken_of) {
      item.unchecked.push_back(tensor.name + ": neither a scenario nor an operator's contract says what is legal");
    }
    if (readable_elements(c, tensor) > kSearchLimit) {
      item.unchecked.push_back(tensor.name + ": too large to be read whole; elements set one by one were looked at");
    }
  }
  for (const ContractUse& use : uses) {
    if (!use.tensor) check_contract(c, use, broken, std::nullopt, item);
  }
  return item;
}

ChecklistItem recommended_guards(const Case& c) {
  // What kernels/guard has a checked form of.
  static constexpr std::array<std::array<std::string_view, 2>, 11> kGuarded{
      {{"cross_entropy_loss", "cross_entropy"},
       {"nll_loss", "nll_loss"},
       {"nll_loss_nd", "nll_loss"},
       {"nll_loss2d", "nll_loss"},
       {"binary_cross_entropy", "binary_cross_entropy"},
       {"embedding", "embedding"},
       {"index_select", "index_select"},
       {"index_add", "index_add"},
       {"gather", "gather"},
       {"scatter", "scatter"},
       {"take", "take"}}};
  ChecklistItem item{.name = "guards recommended"};
  const auto add = [&](std::string line) {
    if (std::ranges::find(item.notes, line) == item.notes.end()) item.notes.push_back(std::move(line));
  };
  for (const ContractUse& use : contract_uses(c)) {
    if (!use.tensor) continue;
    add("Python: " + guard_text(use));
    const auto guarded = std::ranges::find(kGuarded, base_name(use.step->op), [](const auto& row) { return row[0]; });
    if (guarded != kGuarded.end()) {
      add("C++: dsafuzz::guard::" + std::string((*guarded)[1]) + " in place of " + use.step->op + " (dsafuzz/guard.h)");
    }
  }
  if (item.notes.empty()) item.unchecked.push_back("no argument of this program has a contract");
  return item;
}

}  // namespace dsafuzz
