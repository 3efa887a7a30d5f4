#include "repro/reduce_passes.h"

#include "repro/reduce_attributes.h"
#include "repro/reduce_shapes.h"
#include "repro/reduce_steps.h"
#include "repro/reduce_values.h"

namespace dsafuzz {
namespace {

template <std::vector<Case> (*edits)(const Case&)>
std::vector<Case> of_case(const Case& c, const std::vector<ResultTensor>&) {
  return edits(c);
}

std::vector<Case> no_edits(const Case&, const std::vector<ResultTensor>&) { return {}; }

void reword(ReduceSearch& search) {
  search.restate(without_unused(search.best()));
  write_out_fills(search);
}

constexpr Pass kPasses[] = {
    {"steps", "operators, layers and models: what the failing one needs of them becomes its input", true, reduce_steps,
     single_step_edits},
    {"wording", "nothing: says the same so that the passes after it find single values", true, reword, no_edits},
    {"modes", "backward, autocast and other precision modes, the seed", true, reduce_modes, of_case<single_mode_edits>},
    {"culprits", "elements that need not differ from zero", false, reduce_culprits, no_edits},
    {"sizes", "indices along a shape variable, or along axes of one size, in all tensors at once", true, reduce_sizes,
     of_case<single_size_edits>},
    {"values", "distance from zero, or from the nearest illegal value", false, reduce_magnitudes,
     of_case<single_value_edits>},
    {"arguments", "arguments whose default does, and what stands in those that stay", false, reduce_arguments,
     of_case<single_argument_edits>},
    {"traits", "layouts, further devices, gradients, unusual dtypes", false, reduce_tensor_traits,
     of_case<single_trait_edits>},
};

}  // namespace

std::span<const Pass> passes() { return kPasses; }

}  // namespace dsafuzz
