#include "repro/missing_check.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "repro/assert_site.h"
#include "repro/breach.h"
#include "repro/step_argument.h"

namespace dsafuzz {
namespace {

enum class Check : std::uint8_t {
  class_label,
  index,
  probability,
  parameter,
  weights,
  offsets,
  divisor,
  value_range,
  own_assertion,
  dtype,
  device,
  bounds,
  lifetime,
  alignment,
  race,
  unwritten,
  barrier,
  wrong_result,
  no_end,
  death,
  memory,
  other
};

constexpr std::string_view kOrdinaryError =
    "An ordinary error that names the argument and its legal range, raised before a kernel runs.";
constexpr std::string_view kKernel = "The kernel stays inside the memory that it was given, for every size.";

// In the order of Check.
constexpr std::array kChecks{
    MissingCheck{"class_label", "class label not compared with the number of classes", kOrdinaryError},
    MissingCheck{"index", "index not compared with the size of its dimension", kOrdinaryError},
    MissingCheck{"probability", "probability not checked to lie in [0, 1]", kOrdinaryError},
    MissingCheck{"distribution_parameter", "parameter of a distribution not checked for sign, infinity or NaN",
                 kOrdinaryError},
    MissingCheck{"weights", "weights not checked to be finite, not negative and not all zero", kOrdinaryError},
    MissingCheck{"offsets", "offsets or lengths not checked against what they divide", kOrdinaryError},
    MissingCheck{"divisor", "integer divisor not compared with zero", kOrdinaryError},
    MissingCheck{"value_range", "value not compared with the range declared beside it", kOrdinaryError},
    MissingCheck{"own_assertion", "an assertion that the program itself makes on the device",
                 "The asserted tensor holds what the program says it does."},
    MissingCheck{"dtype", "dtype not checked before the operator runs", kOrdinaryError},
    MissingCheck{"device", "tensors of different devices not told apart", kOrdinaryError},
    MissingCheck{"memory_bounds", "memory fault: access outside an allocation", kKernel},
    MissingCheck{"memory_lifetime", "memory fault: memory used after it was freed, or freed twice",
                 "The memory lives until the last kernel that uses it has ended."},
    MissingCheck{"memory_alignment", "memory fault: misaligned access",
                 "The kernel looks at the address before it loads several elements at once."},
    MissingCheck{"race", "memory fault: accesses that race", "An atomic operation, a barrier or an event orders them."},
    MissingCheck{"unwritten_memory", "memory fault: memory read before anything was written to it",
                 "Every element that is read was written before."},
    MissingCheck{"barrier", "memory fault: barrier that not all threads reach",
                 "All threads of the block reach the barrier, or none does."},
    MissingCheck{"wrong_result", "result differs from the CPU's", "The CPU's result, within rounding."},
    MissingCheck{"no_end", "operator that does not end", "It ends, or refuses the input."},
    MissingCheck{"death", "process that dies without a record of its cause", kOrdinaryError},
    MissingCheck{"out_of_memory", "out of memory", "A size that fits, or an error that names the size."},
    MissingCheck{"other", "other findings", kOrdinaryError},
};
static_assert(kChecks.size() == static_cast<std::size_t>(Check::other) + 1);

Check check_of(const ContractRow& row) {
  switch (row.rule) {
    case Rule::label:
    case Rule::ended_labels:
    case Rule::used_labels: return Check::class_label;
    case Rule::position:
    case Rule::wrapping:
    case Rule::padded: {
      const bool labels = row.word == "classes" || row.word == "num_classes";
      return labels ? Check::class_label : Check::index;
    }
    case Rule::one_based:
    case Rule::coordinates: return Check::index;
    case Rule::probability: return Check::probability;
    case Rule::not_negative:
    case Rule::rate:
    case Rule::positive: return Check::parameter;
    case Rule::weights: return Check::weights;
    case Rule::up_to:
    case Rule::lengths:
    case Rule::counts:
    case Rule::offsets:
    case Rule::ends:
    case Rule::starts: return Check::offsets;
    case Rule::divisor: return Check::divisor;
    case Rule::nonzero: return Check::own_assertion;
    case Rule::between:
    case Rule::finite:
    case Rule::mask: return Check::value_range;
  }
  std::unreachable();
}

// The operator blamed comes first; a step before it may break a contract, too, and a late error names no step.
std::optional<Check> of_contract(const Case& c, const Signature& signature) {
  const std::vector<Breach> found = breaches(c);
  const auto blamed = std::ranges::find_if(
      found, [&](const Breach& b) { return base_name(b.use.step->op) == base_name(signature.op); });
  if (blamed != found.end()) return check_of(*blamed->use.row);
  if (!found.empty()) return check_of(*found.front().use.row);
  // Values that are computed are not known here; but where all contracts of an operator are of one sort, so is this.
  std::optional<Check> only;
  for (const ContractRow* row : contract_rows(base_name(signature.op))) {
    if (only && *only != check_of(*row)) return std::nullopt;
    only = check_of(*row);
  }
  return only;
}

struct Word {
  std::string_view text;
  Check check;
};

std::optional<Check> of_words(std::string_view text, std::span<const Word> words) {
  for (const Word& word : words) {
    if (text.contains(word.text)) return word.check;
  }
  return std::nullopt;
}

constexpr std::array kMemoryWords{
    Word{"isaligned", Check::alignment}, Word{"free", Check::lifetime},
    Word{"Free", Check::lifetime},       Word{"Race", Check::race},
    Word{"hazard", Check::race},         Word{"Uninitialized", Check::unwritten},
    Word{"Barrier", Check::barrier},     Word{"on another device", Check::device},
};
// Of conditions, of errors and of the catalogue's triggers.
constexpr std::array kWords{
    Word{"on the same device", Check::device},
    Word{"input_val >= zero && input_val <= one", Check::probability},
    Word{"probability tensor contains", Check::weights},
    Word{"between 0 and 1", Check::probability},
    Word{"n_classes", Check::class_label},
    Word{"num_classes", Check::class_label},
    Word{"label", Check::class_label},
    Word{"arget", Check::class_label},
    Word{"scalar type", Check::dtype},
    Word{"same dtype", Check::dtype},
    Word{"to have type", Check::dtype},
    Word{"not implemented for", Check::dtype},
    Word{"probabilit", Check::probability},
    Word{"offset", Check::offsets},
    Word{"length", Check::offsets},
    Word{"end >= begin", Check::offsets},
    Word{"division by zero", Check::divisor},
    Word{"ZeroDivision", Check::divisor},
    Word{"out of bounds", Check::index},
    Word{"out of range", Check::index},
    Word{"index", Check::index},
    Word{"Index", Check::index},
    Word{"indices", Check::index},
};

Check check_of(const Case& c, const Signature& signature) {
  if (signature.op.starts_with("aten::") || signature.op == "backward") {
    if (const auto check = of_contract(c, signature)) return *check;
  }
  switch (signature.verdict) {
    case Verdict::memory_fault: return of_words(signature.condition, kMemoryWords).value_or(Check::bounds);
    case Verdict::wrong_result: return Check::wrong_result;
    case Verdict::hang: return Check::no_end;
    case Verdict::crash: return Check::death;
    case Verdict::out_of_memory: return Check::memory;
    case Verdict::device_assert:
    case Verdict::silent:
    case Verdict::host_reject:
    case Verdict::ok:
    case Verdict::setup_failed: break;
  }
  if (const auto check = of_words(signature.condition, kWords)) return *check;
  PrintedAssert printed;
  printed.file = signature.file;
  printed.condition = signature.condition;
  if (!signature.kernel.empty()) printed.function = signature.kernel;
  const auto rows = rows_of_operator(find_assert(printed), signature.op);
  return of_words(triggers_of(rows), kWords).value_or(Check::other);
}

}  // namespace

const MissingCheck& missing_check(const Case& c, const Signature& signature) {
  return kChecks[static_cast<std::size_t>(check_of(c, signature))];
}

const MissingCheck* find_missing_check(std::string_view name) {
  const auto found = std::ranges::find(kChecks, name, &MissingCheck::name);
  return found == kChecks.end() ? nullptr : &*found;
}

}  // namespace dsafuzz
