#include "repro/reduce.h"

#include "repro/reduce_attributes.h"
#include "repro/reduce_search.h"
#include "repro/reduce_shapes.h"
#include "repro/reduce_steps.h"
#include "repro/reduce_values.h"
#include "repro/simpler.h"

namespace dsafuzz {
namespace {

// The passes in the order of what simpler.h weighs most: the program, then what it works on, then how it is written.
void run_passes(ReduceSearch& search) {
  reduce_steps(search);
  search.restate(without_unused(search.best()));
  write_out_fills(search);
  reduce_modes(search);
  reduce_culprits(search);
  reduce_sizes(search);
  reduce_magnitudes(search);
  reduce_arguments(search);
  reduce_tensor_traits(search);
}

// The closed list of single edits. Every one that is well-formed and simpler is tried on the final case.
std::vector<Case> single_edits(const Case& c, const std::vector<ResultTensor>& recorded) {
  std::vector<Case> out;
  for (std::size_t gone = 0; c.steps.size() > 1 && gone < c.steps.size(); ++gone) {
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < c.steps.size(); ++i) {
      if (i != gone) kept.push_back(i);
    }
    if (auto fewer = with_steps(c, kept, recorded)) out.push_back(without_unused(*fewer));
  }
  for (auto* edits : {single_size_edits, single_value_edits, single_argument_edits,
                      single_trait_edits, single_mode_edits}) {
    for (Case& edited : edits(c)) out.push_back(std::move(edited));
  }
  return out;
}

// True: no single edit keeps the bug.
bool sweep(ReduceSearch& search) {
  search.reset_rejected();
  for (const Case& edited : single_edits(search.best(), search.trial().results)) {
    if (search.offer(edited)) return false;
    if (search.stopped()) return false;
  }
  return true;
}

}  // namespace

Result<Reduction> reduce(const Case& start, const Signature& wanted, const TryCase& try_case,
                         const ReduceLimits& limits) {
  ReduceSearch search(wanted, try_case, limits);
  if (auto begun = search.begin(start); !begun) return std::unexpected(begun.error());
  bool one_minimal = false;
  while (!one_minimal && !search.stopped()) {
    Case before;
    do {
      before = search.best();
      run_passes(search);
    } while (search.best() != before && !search.stopped());
    one_minimal = !search.stopped() && sweep(search);
  }
  reword_fills(search);

  Reduction out;
  // Contents written out for the passes may have made a case that could not be reduced longer than it was.
  out.minimal = simpler(search.best(), start) ? search.best() : start;
  out.executions = search.executions();
  out.cached = search.cached();
  out.one_minimal = one_minimal;
  out.edits_rejected = search.rejected();
  out.slips = search.slips();
  return out;
}

}  // namespace dsafuzz
