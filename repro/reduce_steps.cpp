#include "repro/reduce_steps.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "repro/needed_items.h"

namespace dsafuzz {
namespace {

void collect_names(const Value& value, std::set<std::string>& out) {
  if (const auto* name = std::get_if<Name>(&value.v)) out.insert(name->text);
  if (const auto* list = std::get_if<List>(&value.v)) {
    for (const Value& item : *list) collect_names(item, out);
  }
}

std::set<std::string> names_used(const Step& step) {
  std::set<std::string> out;
  for (const Argument& argument : step.arguments) collect_names(argument.value, out);
  return out;
}

void add_names(const Extent& extent, std::set<std::string>& out) {
  for (const std::string& name : names_in(extent)) out.insert(name);
}

// The shape variable that best explains an axis of this size, or the number itself. Among those with the value, one
// not used by the tensor yet is better, then one of the step's other tensors, in the order they use them: logits of
// [4, 21, 16, 16] beside labels of [batch, height, width] are [batch, classes, height, width].
Extent extent_for(const Case& c, const std::set<std::string>& siblings, std::int64_t size,
                  const std::vector<Extent>& used) {
  std::vector<std::string> in_order;
  for (const TensorSpec& t : c.tensors) {
    if (!siblings.contains(t.name)) continue;
    for (const Extent& extent : t.shape) in_order.push_back(extent.text);
  }
  Extent best = Extent::of(size);
  std::tuple<bool, bool, std::size_t> least;  // smaller is better
  for (const auto& [variable, value] : c.shapes) {
    if (value != size) continue;
    const auto place = std::ranges::find(in_order, variable);
    const std::tuple rank(std::ranges::find(used, Extent{variable}) != used.end(), place == in_order.end(),
                          static_cast<std::size_t>(place - in_order.begin()));
    if (best.text == Extent::of(size).text || rank < least) least = rank, best = Extent{variable};
  }
  return best;
}

TensorSpec leaf(const Case& c, const Step& user, const ResultTensor& recorded, bool needs_grad) {
  TensorSpec out;
  out.name = recorded.name;
  out.dtype = recorded.dtype;
  out.parameter = needs_grad && is_floating(recorded.dtype);
  const std::set<std::string> siblings = names_used(user);
  for (const std::int64_t size : recorded.shape) out.shape.push_back(extent_for(c, siblings, size, out.shape));
  return out;
}

bool is_leaf(const TensorSpec& tensor, const Case& before) {
  const TensorSpec* same = before.find_tensor(tensor.name);
  return same == nullptr || *same != tensor;
}

enum class LeafFill { zero, one, random };

Case with_leaves_filled(Case c, const Case& before, LeafFill fill) {
  for (TensorSpec& t : c.tensors) {
    if (!is_leaf(t, before)) continue;
    if (fill == LeafFill::one) t.fill.constant = std::int64_t{1};
    if (fill == LeafFill::random) {
      t.fill.kind = is_floating(t.dtype) ? Fill::Kind::randn : Fill::Kind::randint;
      t.fill.to = Extent{"2"};
    }
  }
  return c;
}

// The same with forward only, no precision mode, and float32 for every floating tensor that the cut made.
Case plain_modes(Case c, const Case& before, bool plain_dtypes) {
  c.phase = Phase::forward;
  c.precision = Precision::none;
  for (TensorSpec& t : c.tensors) {
    if (!is_leaf(t, before)) continue;
    t.parameter = false;
    if (plain_dtypes && is_floating(t.dtype)) t.dtype = Dtype::float32;
  }
  return c;
}

// Offers a cut of `before` in its plainest form first, then closer and closer to what was recorded. `thorough`: with
// other contents than zeros too.
bool offer_cut(ReduceSearch& search, const Case& before, const std::optional<Case>& cut, bool thorough) {
  if (!cut) return false;
  std::vector<LeafFill> fills{LeafFill::zero};
  const bool has_leaves = std::ranges::any_of(cut->tensors, [&](const TensorSpec& t) { return is_leaf(t, before); });
  if (thorough && has_leaves) fills = {LeafFill::zero, LeafFill::one, LeafFill::random};
  for (const LeafFill fill : fills) {
    const Case filled = without_unused(with_leaves_filled(*cut, before, fill));
    if (search.offer(plain_modes(filled, before, true)) || search.offer(plain_modes(filled, before, false)) ||
        search.offer(filled)) {
      return true;
    }
  }
  return false;
}

// The step to keep: where it failed; in backward, the last one.
std::optional<std::size_t> failing_step(const ReduceSearch& search) {
  const int step = search.trial().step;
  const std::size_t count = search.best().steps.size();
  if (step < 0 || count == 0) return std::nullopt;
  return std::min<std::size_t>(static_cast<std::size_t>(step), count - 1);
}

std::vector<std::size_t> first_steps(std::size_t count) {
  std::vector<std::size_t> out(count);
  std::iota(out.begin(), out.end(), 0u);
  return out;
}

}  // namespace

Case without_unused(const Case& c) {
  Case out = c;
  std::set<std::string> used;
  for (const Step& step : out.steps) used.merge(names_used(step));
  std::erase_if(out.tensors, [&](const TensorSpec& t) { return !used.contains(t.name); });
  for (const TensorSpec& t : out.tensors) {
    for (const Extent& extent : t.shape) add_names(extent, used);
    if (t.fill.kind != Fill::Kind::randint) continue;
    add_names(t.fill.from, used);
    add_names(t.fill.to, used);
  }
  std::erase_if(out.shapes, [&](const auto& entry) { return !used.contains(entry.first); });
  return out;
}

std::optional<Case> with_steps(const Case& c, const std::vector<std::size_t>& kept,
                               const std::vector<ResultTensor>& recorded) {
  Case out = c;
  out.steps.clear();
  std::set<std::string> lost;  // results of left-out steps, as far as the kept step under way could see them
  std::size_t next = 0;
  for (const std::size_t index : kept) {
    for (; next < index; ++next) lost.insert(c.steps[next].results.begin(), c.steps[next].results.end());
    next = index + 1;
    const Step& step = c.steps[index];
    for (const std::string& name : names_used(step)) {
      if (lost.erase(name) == 0) continue;
      const auto result = std::ranges::find(recorded, name, &ResultTensor::name);
      if (result == recorded.end()) return std::nullopt;
      TensorSpec made = leaf(c, step, *result, c.phase == Phase::backward);
      // A result may have taken the name of a tensor; the leaf takes its place.
      if (TensorSpec* hidden = out.find_tensor(name)) {
        *hidden = std::move(made);
      } else {
        out.tensors.push_back(std::move(made));
      }
    }
    for (const std::string& result : step.results) lost.erase(result);
    out.steps.push_back(step);
  }
  return out;
}

std::vector<Case> single_step_edits(const Case& c, const std::vector<ResultTensor>& recorded) {
  std::vector<Case> out;
  for (std::size_t gone = 0; c.steps.size() > 1 && gone < c.steps.size(); ++gone) {
    std::vector<std::size_t> kept = first_steps(c.steps.size());
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(gone));
    if (auto fewer = with_steps(c, kept, recorded)) out.push_back(without_unused(*fewer));
  }
  return out;
}

void reduce_steps(ReduceSearch& search) {
  if (search.best().steps.size() < 2) return;
  if (const auto step = failing_step(search)) {
    const std::vector<ResultTensor> recorded = search.trial().results;
    const Case start = search.best();
    if (offer_cut(search, start, with_steps(start, {*step}, recorded), true)) return;
    if (*step + 1 < start.steps.size()) {
      offer_cut(search, start, with_steps(start, first_steps(*step + 1), recorded), false);
    }
  }
  const Case base = search.best();
  const std::vector<ResultTensor> recorded = search.trial().results;
  const auto still_shows = [&](const std::vector<std::size_t>& kept) {
    return !kept.empty() && offer_cut(search, base, with_steps(base, kept, recorded), false);
  };
  needed_items(first_steps(base.steps.size()), still_shows, 200);
}

}  // namespace dsafuzz
