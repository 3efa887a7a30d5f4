#include "repro/contract_words.h"

#include <optional>

#include "repro/guard.h"

namespace dsafuzz {
namespace {

// The bound as an expression of Python.
std::string bound_of(const ContractRow& row) {
  const std::string of = argument_name(row.of);
  switch (row.size) {
    case Size::none: return {};
    case Size::class_axis: return of + ".shape[1]";
    case Size::first_axis: return of + ".shape[0]";
    case Size::last_axis: return of + ".shape[-1]";
    case Size::matrix_rows: return of + ".shape[-2]";
    case Size::dim_axis: return of + ".shape[dim]";
    case Size::listed_axis: return of + ".shape[0]";
    case Size::own_rank: return of + ".shape[" + std::string(row.argument) + ".dim() - 1]";
    case Size::elements: return of + ".numel()";
    case Size::last_two: return of + ".shape[-1] * " + of + ".shape[-2]";
    case Size::last_three: return of + ".shape[-1] * " + of + ".shape[-2] * " + of + ".shape[-3]";
    case Size::grouped: return of + ".shape[0]";
    case Size::number: return of;
    case Size::product: return "math.prod(" + of + ")";
    case Size::list_first: return of + "[0]";
    case Size::list_second: return of + "[1]";
  }
  return {};
}

// The interval of rules about each element alone, [low, high): as Python and as words.
struct Interval {
  std::string low, high, also, words;
};
std::optional<Interval> interval_of(const ContractRow& row) {
  const std::string size = bound_of(row);
  const std::string last = size + " - 1";
  switch (row.rule) {
    case Rule::position:
    case Rule::used_labels: return Interval{"0", size, "", "0 to " + last};
    case Rule::wrapping: return Interval{"-" + size, size, "", "-" + size + " to " + last};
    case Rule::label:
      return Interval{"0", size, "-100", "0 to " + last + ", or ignore_index (-100 unless it was given)"};
    case Rule::padded: return Interval{"0", size, "padding_idx", "0 to " + last + ", or padding_idx"};
    case Rule::ended_labels: return Interval{"-1", size, "", "0 to " + last + ", with -1 to end a row"};
    case Rule::one_based: return Interval{"1", size + " + 1", "", "1 to " + size};
    case Rule::up_to: return Interval{"0", size + " + 1", "", "0 to " + size};
    default: return std::nullopt;
  }
}

struct Whole {
  std::string condition, words;
};
Whole whole_of(const ContractRow& row, const std::string& x) {
  const std::string size = bound_of(row);
  const std::string rises = "(" + x + ".diff() >= 0).all()";
  switch (row.rule) {
    case Rule::probability: return {"((" + x + " >= 0) & (" + x + " <= 1)).all()", "0 to 1, no NaN"};
    case Rule::not_negative: return {"(" + x + " >= 0).all()", "0 and above, no NaN"};
    case Rule::rate: return {"(torch.isfinite(" + x + ") & (" + x + " >= 0)).all()", "finite numbers from 0 on"};
    case Rule::positive: return {"(" + x + " > 0).all()", "above 0, no NaN"};
    case Rule::finite: return {"torch.isfinite(" + x + ").all()", "finite numbers"};
    case Rule::nonzero:
    case Rule::divisor: return {"(" + x + " != 0).all()", "anything but 0"};
    case Rule::weights:
      return {"(torch.isfinite(" + x + ") & (" + x + " >= 0)).all() and (" + x + ".sum(-1) > 0).all()",
              "finite numbers from 0 on, with one above 0 in each row"};
    case Rule::lengths:
      return {"(" + x + " >= 0).all() and (" + x + ".sum(-1) <= " + size + ").all()",
              "lengths from 0 on that add up to at most " + size};
    case Rule::counts:
      return {"(" + x + " >= 0).all() and (" + size + " is None or " + x + ".sum() == " + size + ")",
              "counts from 0 on that add up to " + size + " where that is given"};
    case Rule::offsets:
      return {x + "[0] == 0 and " + rises + " and " + x + "[-1] <= " + size,
              "offsets that start at 0, never decrease and end at most at " + size};
    case Rule::starts:
      return {x + "[0] == 0 and " + rises + " and " + x + "[-1] == " + size,
              "offsets that start at 0, never decrease and end at " + size};
    case Rule::ends:
      return {"(" + x + " >= 0).all() and " + rises + " and (" + x + " <= " + size + ").all()",
              "ends that never decrease, from 0 to " + size};
    case Rule::coordinates:
      return {"(" + x + " >= 0).all() and (" + x + ".t() < torch.tensor(" + argument_name(row.of) + ", device=" + x +
                  ".device)).all()",
              "coordinates inside " + argument_name(row.of)};
    case Rule::mask: return {x + ".sum() <= " + size, "at most as many true elements as " + size};
    case Rule::between:
      return {"((" + x + " >= quant_min) & (" + x + " <= quant_max)).all()", "quant_min to quant_max"};
    default: return {"True", "what the operator documents"};
  }
}

}  // namespace

std::string argument_name(std::string_view schema_name) {
  return schema_name == "self" ? "input" : python_name(schema_name);
}

std::string legal_words(const ContractRow& row) {
  if (const auto interval = interval_of(row)) return interval->words;
  return whole_of(row, argument_name(row.argument)).words;
}

std::string guard_lines(const ContractRow& row) {
  const std::string x = argument_name(row.argument);
  const auto interval = interval_of(row);
  if (!interval) {
    const Whole whole = whole_of(row, x);
    return "assert " + whole.condition + ", \"" + x + " must hold " + whole.words + "\"";
  }
  std::string legal = "(" + x + " >= " + interval->low + ") & (" + x + " < " + interval->high + ")";
  if (!interval->also.empty()) legal = "(" + legal + ") | (" + x + " == " + interval->also + ")";
  std::string lines = row.size == Size::product ? "import math\n" : "";
  lines += "legal = " + legal + "\n";
  lines += "assert legal.all(), f\"" + x + " holds {" + x + "[~legal].unique().tolist()}, legal is " + interval->words +
           "\"";
  return lines;
}

}  // namespace dsafuzz
