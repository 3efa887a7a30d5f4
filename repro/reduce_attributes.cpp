#include "repro/reduce_attributes.h"

#include "repro/needed_items.h"
#include "repro/reduce_steps.h"

namespace dsafuzz {
namespace {

Case with_argument(const Case& c, std::size_t step, std::size_t argument, Value value) {
  Case out = c;
  out.steps[step].arguments[argument].value = std::move(value);
  return without_unused(out);
}

// A named argument, or the last positional one: the operator's default takes its place.
std::optional<Case> without_argument(const Case& c, std::size_t step, std::size_t argument) {
  const std::vector<Argument>& arguments = c.steps[step].arguments;
  if (arguments[argument].name.empty()) {
    const bool last = argument + 1 == arguments.size() || !arguments[argument + 1].name.empty();
    if (!last || argument == 0) return std::nullopt;
  }
  Case out = c;
  auto& list = out.steps[step].arguments;
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(argument));
  return without_unused(out);
}

// Plainer values for an argument that has to stay.
std::vector<Value> plainer(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value.v)) {
    return *flag ? std::vector<Value>{{false}} : std::vector<Value>{};
  }
  std::vector<Value> out;
  if (const auto* integer = std::get_if<std::int64_t>(&value.v)) {
    for (const std::int64_t plain :
         {std::int64_t{0}, std::int64_t{1}, *integer / 2, *integer - (*integer > 0 ? 1 : -1)}) {
      if (plain != *integer && std::abs(plain) <= std::abs(*integer)) out.push_back({plain});
    }
  } else if (const auto* real = std::get_if<double>(&value.v)) {
    for (const double plain : {0.0, 1.0}) {
      if (plain != *real) out.push_back({plain});
    }
  } else if (const auto* list = std::get_if<List>(&value.v)) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      List shorter = *list;
      shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
      out.push_back({shorter});
      for (const Value& plain : plainer((*list)[i])) {
        List changed = *list;
        changed[i] = plain;
        out.push_back({changed});
      }
    }
  } else if (std::holds_alternative<Name>(value.v)) {
    out.push_back({std::monostate{}});
  }
  return out;
}

// Offers the candidates of `edits` until none is accepted. Fixed order, so the result is always the same.
void exhaust(ReduceSearch& search, std::vector<Case> (*edits)(const Case&)) {
  while (!search.stopped() && search.offer_each(edits(search.best()))) {
  }
}

}  // namespace

std::vector<Case> single_argument_edits(const Case& c) {
  std::vector<Case> out;
  for (std::size_t step = 0; step < c.steps.size(); ++step) {
    const std::vector<Argument>& arguments = c.steps[step].arguments;
    for (std::size_t i = arguments.size(); i-- > 0;) {
      if (auto shorter = without_argument(c, step, i)) out.push_back(std::move(*shorter));
      for (const Value& value : plainer(arguments[i].value)) {
        // The first tensor is what the operator works on; none in its place is no call at all.
        if (i == 0 && std::holds_alternative<std::monostate>(value.v)) continue;
        out.push_back(with_argument(c, step, i, value));
      }
    }
  }
  return out;
}

std::vector<Case> single_trait_edits(const Case& c) {
  std::vector<Case> out;
  for (std::size_t i = 0; i < c.tensors.size(); ++i) {
    const auto changed = [&](auto&& change) {
      Case edited = c;
      change(edited.tensors[i]);
      if (edited != c) out.push_back(std::move(edited));
    };
    changed([](TensorSpec& t) { t.layout = Layout::contiguous; });
    changed([](TensorSpec& t) { t.device = 0; });
    changed([](TensorSpec& t) { t.parameter = false; });
    // Plainer dtypes of the same sort; a label is not made a float, which is another contract.
    for (const Dtype dtype : kDtypes) {
      if (dtype >= c.tensors[i].dtype) break;
      if (is_floating(dtype) == is_floating(c.tensors[i].dtype)) changed([&](TensorSpec& t) { t.dtype = dtype; });
    }
  }
  return out;
}

std::vector<Case> single_mode_edits(const Case& c) {
  std::vector<Case> out;
  const auto changed = [&](auto&& change) {
    Case edited = c;
    change(edited);
    if (edited != c) out.push_back(std::move(edited));
  };
  changed([](Case& e) { e.phase = Phase::forward, e.precision = Precision::none; });
  changed([](Case& e) { e.phase = Phase::forward; });
  for (const Precision precision : kPrecisions) {
    if (precision < c.precision) changed([&](Case& e) { e.precision = precision; });
  }
  changed([](Case& e) { e.seed = 0; });
  return out;
}

void reduce_modes(ReduceSearch& search) { exhaust(search, single_mode_edits); }

void reduce_arguments(ReduceSearch& search) {
  // All named arguments at once first: mostly none of them matters.
  Case bare = search.best();
  for (Step& step : bare.steps) std::erase_if(step.arguments, [](const Argument& a) { return !a.name.empty(); });
  if (bare != search.best()) search.offer(without_unused(bare));
  exhaust(search, single_argument_edits);
}

void reduce_tensor_traits(ReduceSearch& search) { exhaust(search, single_trait_edits); }

}  // namespace dsafuzz
