// Two sentences and a guard. The rule that applies is found in a table by verdict and words of the condition; what it
// says is filled with the case's own tensors, so a reader sees which element is wrong and what would be right.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include "repro/assert_site.h"
#include "repro/breach.h"
#include "repro/diagnose.h"
#include "repro/fill.h"
#include "repro/guard.h"
#include "repro/parse_assert.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

std::string part(std::string_view text) { return std::string(text); }
std::string part(std::integral auto number) { return std::to_string(number); }

// The pattern with its {} filled in turn, or {0}, {1} by position.
template <typename... Parts>
std::string filled(std::string_view pattern, const Parts&... parts) {
  const std::array<std::string, sizeof...(Parts)> texts{part(parts)...};
  std::string out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::size_t close = pattern[i] == '{' ? pattern.find('}', i) : std::string_view::npos;
    if (close == std::string_view::npos) {
      out += pattern[i];
      continue;
    }
    const std::size_t which = close == i + 1 ? next++ : static_cast<std::size_t>(pattern[i + 1] - '0');
    out += texts.at(which);
    i = close;
  }
  return out;
}

enum class Cause {
  probability,
  cast,
  device,
  lifetime,
  bounds,
  misaligned,
  race,
  unwritten,
  barrier,
  memory,
  setup,
  hang,
  index,
  general
};

struct CauseRule {
  Verdict verdict;
  std::string_view word;  // in the condition or the kernel's name; empty: any
  Cause cause;
};
constexpr std::array kRules{
    CauseRule{Verdict::device_assert, "input_val >= zero && input_val <= one", Cause::probability},
    CauseRule{Verdict::device_assert, "probability tensor contains", Cause::probability},
    CauseRule{Verdict::device_assert, "", Cause::index},
    CauseRule{Verdict::silent, "between 0 and 1", Cause::probability},
    CauseRule{Verdict::silent, "probability tensor contains", Cause::probability},
    CauseRule{Verdict::silent, "expected scalar type", Cause::cast},
    CauseRule{Verdict::silent, "", Cause::index},
    CauseRule{Verdict::host_reject, "on the same device", Cause::device},
    CauseRule{Verdict::host_reject, "expected scalar type", Cause::cast},
    CauseRule{Verdict::host_reject, "same dtype", Cause::cast},
    CauseRule{Verdict::host_reject, "to have type", Cause::cast},
    CauseRule{Verdict::host_reject, "of scalar types", Cause::cast},
    CauseRule{Verdict::host_reject, "not implemented for", Cause::cast},
    CauseRule{Verdict::host_reject, "between 0 and 1", Cause::probability},
    CauseRule{Verdict::host_reject, "probability tensor contains", Cause::probability},
    CauseRule{Verdict::host_reject, "out of bounds", Cause::index},
    CauseRule{Verdict::host_reject, "out of range", Cause::index},
    CauseRule{Verdict::memory_fault, "freed", Cause::lifetime},
    CauseRule{Verdict::memory_fault, "use-after-free", Cause::lifetime},
    CauseRule{Verdict::memory_fault, "Double free", Cause::lifetime},
    CauseRule{Verdict::memory_fault, "on another device", Cause::device},
    CauseRule{Verdict::memory_fault, "isaligned", Cause::misaligned},
    CauseRule{Verdict::memory_fault, "Free error", Cause::lifetime},
    CauseRule{Verdict::memory_fault, "Race reported", Cause::race},
    CauseRule{Verdict::memory_fault, "hazard", Cause::race},
    CauseRule{Verdict::memory_fault, "Uninitialized", Cause::unwritten},
    CauseRule{Verdict::memory_fault, "Barrier error", Cause::barrier},
    CauseRule{Verdict::memory_fault, "", Cause::bounds},
    CauseRule{Verdict::out_of_memory, "", Cause::memory},
    CauseRule{Verdict::setup_failed, "", Cause::setup},
    CauseRule{Verdict::hang, "", Cause::hang}};

Cause cause_of(const Signature& signature) {
  for (const CauseRule& rule : kRules) {
    if (rule.verdict == signature.verdict && contains(signature.condition, rule.word)) return rule.cause;
  }
  return Cause::general;
}

// "labels[0, 3]"
std::string element_text(const Case& c, const TensorSpec& tensor, std::int64_t flat) {
  return python_name(tensor.name) + element_position(c, tensor, flat);
}

// Steps that the diagnosis is about, the likeliest first: the operator named, then all (an error may surface late).
std::vector<const Step*> steps_of(const Case& c, const Signature& signature) {
  std::vector<const Step*> steps;
  for (const bool named : {true, false}) {
    for (const Step& step : c.steps) {
      if ((base_name(step.op) == base_name(signature.op)) == named) steps.push_back(&step);
    }
  }
  return steps;
}

// What the first broken contract of the likeliest step says.
std::optional<Advice> contract_advice(const Case& c, const Signature& signature) {
  const std::vector<Breach> found = breaches(c);
  for (const Step* step : steps_of(c, signature)) {
    const auto breach = std::ranges::find_if(found, [&](const Breach& b) { return b.use.step == step; });
    if (breach == found.end()) continue;
    const ContractUse& use = breach->use;
    const std::string where = use.tensor ? element_text(c, *use.tensor, breach->index) : std::string(use.row->argument);
    const std::string source(use.row->source.substr(0, use.row->source.find(',')));
    const bool labels = use.row->word == "classes" || use.row->word == "num_classes";
    const bool positions = !use.data.empty() || use.row->rule == Rule::position;
    Advice advice;
    advice.cause =
        filled("{} is {}, but {} needs values that {}.", where, breach->value, base_name(step->op), legal_text(use));
    advice.remedy = filled(labels      ? "Correct the labels or give the model one output for each class ({}), and "
                                         "check the range on the host before the call."
                           : positions ? "Correct the indices or enlarge the indexed tensor ({}), and check the range "
                                         "on the host before the call."
                                       : "Correct the values ({}), and check them on the host before the call.",
                           source);
    advice.guard = guard_text(use);
    return advice;
  }
  return std::nullopt;
}

// Tensors a step names directly, in the order of its arguments.
std::vector<const TensorSpec*> tensors_of(const Case& c, const Step& step) {
  const ProgramState state = state_before(c, step);
  std::vector<const TensorSpec*> tensors;
  for (const Argument& each : step.arguments) {
    const Name* name = std::get_if<Name>(&each.value.v);
    const TensorSpec* tensor = name ? state.source(name->text) : nullptr;
    if (tensor) tensors.push_back(tensor);
  }
  return tensors;
}

std::string number_text(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::optional<Advice> probability_advice(const Case& c, const Signature& signature) {
  const bool bounded = !contains(signature.condition, "probability tensor");  // weights need not stay below 1
  // Any number is legal elsewhere: where the failing operator is known, the tensors of others are not to blame.
  std::vector<const Step*> steps = steps_of(c, signature);
  const auto failing = [&](const Step* step) { return base_name(step->op) == base_name(signature.op); };
  if (std::ranges::any_of(steps, failing)) std::erase_if(steps, std::not_fn(failing));
  for (const Step* step : steps) {
    for (const TensorSpec* tensor : tensors_of(c, *step)) {
      if (!is_floating(tensor->dtype)) continue;
      Bounds legal;
      legal.real = true;
      legal.real_to = bounded ? 1.0 : std::numeric_limits<double>::max();
      std::optional<std::pair<std::int64_t, double>> illegal;
      visit_outside(c, *tensor, legal, [&](std::int64_t index, const Number& value) {
        illegal = {index, as_double(value)};
        return false;
      });
      if (!illegal) continue;
      const std::string name = python_name(tensor->name);
      Advice advice;
      advice.cause = filled("{} is {}, which is no probability.", element_text(c, *tensor, illegal->first),
                            number_text(illegal->second));
      advice.remedy = bounded ? "Use the form of the loss that takes logits, or clamp the input to [0, 1] and keep NaN "
                                "out of it."
                              : "Remove NaN, infinite and negative weights before sampling, for example by computing "
                                "softmax in float32.";
      advice.guard = bounded ? filled("assert (({0} >= 0) & ({0} <= 1)).all(), \"{0} must lie in [0, 1]\"", name)
                             : filled(
                                   "assert (torch.isfinite({0}) & ({0} >= 0)).all(), \"{0} must be finite and "
                                   "not negative\"",
                                   name);
      return advice;
    }
  }
  return std::nullopt;
}

// Two tensors of the failing step that differ in `property`, as a guard over both.
template <typename Property>
std::optional<Advice> mismatch_advice(const Case& c, const Signature& signature, Property property,
                                      std::string_view attribute, std::string_view remedy) {
  for (const Step* step : steps_of(c, signature)) {
    const auto tensors = tensors_of(c, *step);
    for (const TensorSpec* tensor : tensors) {
      if (property(*tensor) == property(*tensors[0])) continue;
      const std::string first = python_name(tensors[0]->name), second = python_name(tensor->name);
      Advice advice;
      advice.cause = filled("{0} and {1} of {2} differ in {3}.", first, second, base_name(step->op), attribute);
      advice.remedy = std::string(remedy);
      advice.guard =
          filled("assert {0}.{2} == {1}.{2}, \"{0} and {1} must have the same {2}\"", first, second, attribute);
      return advice;
    }
  }
  return std::nullopt;
}

std::optional<Advice> cast_advice(const Case& c, const Signature& signature) {
  static constexpr std::array<std::string_view, 4> kLabelled{"cross_entropy_loss", "nll_loss", "nll_loss_nd",
                                                             "nll_loss2d"};
  for (const Step& step : c.steps) {
    if (std::ranges::find(kLabelled, base_name(step.op)) == kLabelled.end()) continue;
    const Value* target = argument(step, "target", 1);
    const Name* name = target ? std::get_if<Name>(&target->v) : nullptr;
    const TensorSpec* tensor = name ? state_before(c, step).source(name->text) : nullptr;
    if (!tensor || tensor->dtype == Dtype::int64 || tensor->dtype == Dtype::uint8) continue;
    const std::string label = python_name(name->text);
    Advice advice;
    advice.cause =
        filled("{} is {}, but {} takes class indices of int64.", label, to_text(tensor->dtype), base_name(step.op));
    advice.remedy = "Convert the labels with .long() after checking that they hold whole class numbers.";
    advice.guard = filled("assert {0}.dtype == torch.int64, \"{0} must be int64\"", label);
    return advice;
  }
  return mismatch_advice(
      c, signature, [](const TensorSpec& t) { return t.dtype; }, "dtype",
      "Bring both to one dtype before the call, or run it under autocast.");
}

std::string site_text(const Signature& signature) {
  if (!signature.kernel.empty()) return "Kernel " + signature.kernel;
  return signature.op.empty() ? "The program" : "Operator " + signature.op;
}

// The condition as a part of a sentence.
std::string quoted(const Signature& signature) {
  return signature.condition.empty() ? "" : filled(" with \"{}\"", signature.condition);
}

Advice general_advice(const Signature& signature) {
  const std::string said = quoted(signature);
  switch (signature.verdict) {
    case Verdict::ok: return {};
    case Verdict::host_reject:
      return {filled("{} refuses this input{}.", site_text(signature), said),
              "Check the arguments against the operator's documentation before the call.", ""};
    case Verdict::device_assert:
      return {filled("{} stopped at a failed device assert{}.", site_text(signature), said),
              "Check on the host what the assert demands before the call, and start a new process, since this one's "
              "device context is lost.",
              ""};
    case Verdict::silent:
      return {filled("The CPU refuses this input{} and the device accepts it.", said),
              "Check the input on the host before the call, and do not trust the device's result.", ""};
    case Verdict::wrong_result:
      return {filled("{} gives another result than the CPU.", site_text(signature)),
              "Compare both results element by element, first in float64.", ""};
    case Verdict::crash:
      return {filled("The process died{} without a record of the cause.", said),
              "Run the case under a debugger or AddressSanitizer to find the place.", ""};
    case Verdict::memory_fault:
    case Verdict::hang:
    case Verdict::out_of_memory:
    case Verdict::setup_failed: break;
  }
  return {filled("{} failed{}.", site_text(signature), said), "Run the case alone and read its log.", ""};
}

// What the catalogue knows of the line that was printed: on which values it fails, and whose it may be where the
// failing operator is not known.
std::optional<Advice> assert_advice(const Diagnosis& diagnosis) {
  const Signature& signature = diagnosis.signature;
  PrintedAssert printed{signature.file, 0, signature.kernel, signature.condition};
  if (!diagnosis.evidence.empty()) {
    const AssertReading reading = parse_asserts(read_log_text(diagnosis.evidence.front()));
    if (!reading.records.empty()) printed.line = reading.records.front().line;
  }
  const auto rows = rows_of_operator(find_assert(printed), signature.op);
  const std::string triggers = triggers_of(rows);
  if (triggers.empty()) return std::nullopt;
  Advice advice = general_advice(signature);
  advice.cause += filled(" Known from {}: {}.", operators_of(rows), triggers);
  return advice;
}

Advice memory_advice(const Signature& signature, std::string_view what, std::string_view remedy) {
  const std::string detail = signature.condition.empty() ? std::string() : ": " + signature.condition;
  return {filled("{} {}{}.", site_text(signature), what, detail), std::string(remedy), ""};
}

}  // namespace

Advice advise(const Case& c, const Diagnosis& diagnosis) {
  const Signature& signature = diagnosis.signature;
  const bool readable = validate(c).has_value();  // contents and shapes need a valid case
  std::optional<Advice> advice;
  switch (cause_of(signature)) {
    case Cause::index:
      if (readable) advice = contract_advice(c, signature);
      break;
    case Cause::probability:
      if (readable) advice = probability_advice(c, signature);
      break;
    case Cause::cast:
      if (readable) advice = cast_advice(c, signature);
      break;
    case Cause::device:
      if (readable) {
        advice = mismatch_advice(
            c, signature, [](const TensorSpec& t) { return t.device; }, "device",
            "Move both to one device before the call.");
      }
      if (!advice && signature.verdict == Verdict::memory_fault) {
        advice = memory_advice(signature, "runs on one device and touches memory of another",
                               "Set the device before the operator allocates and launches: const c10::DeviceGuard "
                               "guard(input.device()); and take that device's current stream.");
      }
      break;
    case Cause::lifetime:
      return memory_advice(signature, "uses memory that was freed before",
                           "Keep the tensor referenced until the kernel has ended, and call record_stream where "
                           "another stream uses it.");
    case Cause::bounds:
      return memory_advice(signature, "touches memory outside its tensors",
                           "Compare the thread's index with the number of elements before each access, and pass "
                           "that number to the kernel.");
    case Cause::misaligned:
      return memory_advice(signature, "uses a misaligned address",
                           "Use vector loads only where the data pointer is a multiple of their size, and otherwise "
                           "make the tensor contiguous with .clone() first.");
    case Cause::race:
      return memory_advice(signature, "accesses one address from two threads without an order between them",
                           "Put a barrier or an atomic operation between accesses of one grid's threads, and an event "
                           "between streams.");
    case Cause::unwritten:
      return memory_advice(signature, "reads memory that nothing has written",
                           "Write every element before a kernel reads it: allocate with zeros instead of empty, or "
                           "make the kernel before it cover the whole tensor.");
    case Cause::barrier:
      return memory_advice(signature, "has a barrier that not every thread of a block reaches",
                           "Move __syncthreads() out of branches that depend on the thread, and let threads without "
                           "work go on to it instead of returning.");
    case Cause::memory:
      return {"The device has too little free memory for this input.",
              "Use smaller shapes, or free tensors that are no longer needed.", ""};
    case Cause::setup:
      return {filled("The case could not run on this machine{}.", quoted(signature)),
              "Install a driver and a PyTorch build that fit this GPU, or run the case on the virtual device.", ""};
    case Cause::hang:
      return {
          filled("{} did not end within the time limit.", site_text(signature)),
          "Look for a loop or barrier that not every thread leaves, or raise the limit if the input is merely large.",
          ""};
    case Cause::general: break;
  }
  if (!advice && signature.verdict == Verdict::device_assert) advice = assert_advice(diagnosis);
  return advice ? *std::move(advice) : general_advice(signature);
}

}  // namespace dsafuzz
