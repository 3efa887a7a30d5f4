#include "repro/guard.h"

#include <algorithm>
#include <array>

#include "repro/scan.h"

namespace dsafuzz {
namespace {

// The bound as Python computes it from the step's own names, or as a number.
std::string size_text(const ContractUse& use) {
  if (use.data.empty()) return std::to_string(use.size.value_or(0));
  const std::string data = python_name(use.data);
  return use.axis < 0 ? data + ".numel()" : data + ".shape[" + std::to_string(use.axis) + "]";
}

std::string interval_guard(const ContractUse& use, const std::string& x) {
  std::string low = std::to_string(use.bounds.from), high = std::to_string(use.bounds.to);
  switch (use.row->rule) {
    case Rule::position:
    case Rule::wrapping:
    case Rule::label:
    case Rule::padded:
    case Rule::ended_labels:
    case Rule::used_labels:
      if (use.bounds.from < -1 || use.row->rule == Rule::wrapping) low = "-" + size_text(use);
      // Only the product of two axes has no name of its own in Python.
      if (use.row->size != Size::last_two && use.row->size != Size::last_three) high = size_text(use);
      break;
    default: break;
  }
  std::string legal = "(" + x + " >= " + low + ") & (" + x + " < " + high + ")";
  for (const std::int64_t value : use.bounds.also) {
    legal = "(" + legal + ") | (" + x + " == " + std::to_string(value) + ")";
  }
  return "(" + legal + ").all()";
}

// Without replacement, each draw needs a positive weight of its own.
bool draws_many(const ContractUse& use) { return use.size.value_or(1) > 1; }

std::string condition_text(const ContractUse& use, const std::string& x) {
  const std::string rises = "(" + x + ".diff() >= 0).all()";
  switch (use.row->rule) {
    case Rule::position:
    case Rule::wrapping:
    case Rule::label:
    case Rule::padded:
    case Rule::ended_labels:
    case Rule::one_based:
    case Rule::up_to:
    case Rule::between:
    case Rule::used_labels: return interval_guard(use, x);
    case Rule::probability: return "((" + x + " >= 0) & (" + x + " <= 1)).all()";
    case Rule::not_negative: return "(" + x + " >= 0).all()";
    case Rule::rate: return "(torch.isfinite(" + x + ") & (" + x + " >= 0)).all()";
    case Rule::positive: return "(" + x + " > 0).all()";
    case Rule::finite: return "torch.isfinite(" + x + ").all()";
    case Rule::nonzero:
    case Rule::divisor: return "(" + x + " != 0).all()";
    case Rule::weights:
      return "(torch.isfinite(" + x + ") & (" + x + " >= 0)).all() and " +
             (draws_many(use) ? "((" + x + " > 0).sum(-1) >= " + size_text(use) + ").all()"
                              : "(" + x + ".sum(-1) > 0).all()");
    case Rule::lengths: return "(" + x + " >= 0).all() and (" + x + ".sum(-1) <= " + size_text(use) + ").all()";
    case Rule::counts: return "(" + x + " >= 0).all()" + (use.size ? " and " + x + ".sum() == " + size_text(use) : "");
    case Rule::offsets: return x + "[0] == 0 and " + rises + " and " + x + "[-1] <= " + size_text(use);
    case Rule::starts: return x + "[0] == 0 and " + rises + " and " + x + "[-1] == " + size_text(use);
    case Rule::ends:
      return "(" + x + " >= 0).all() and " + rises + " and (" + x + " <= " + std::to_string(use.size.value_or(0)) +
             ").all()";
    case Rule::coordinates: {
      std::string sizes;
      for (const std::int64_t size : use.sizes) sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
      return "((" + x + " >= 0) & (" + x + ".t() < torch.tensor([" + sizes + "], device=" + x + ".device)).t()).all()";
    }
    case Rule::mask: return x + ".sum() <= " + size_text(use);
  }
  return "True";
}

}  // namespace

std::string legal_text(const ContractUse& use) {
  const std::string size = std::to_string(use.size.value_or(0));
  switch (use.row->rule) {
    case Rule::probability: return "lie in [0, 1]";
    case Rule::not_negative: return "are >= 0";
    case Rule::rate: return "are finite and >= 0";
    case Rule::positive: return "are > 0";
    case Rule::finite: return "are finite";
    case Rule::nonzero:
    case Rule::divisor: return "differ from 0";
    case Rule::weights:
      return "are finite and >= 0, with " + (draws_many(use) ? size : std::string("one")) + " above 0 in each row";
    case Rule::lengths: return "are >= 0 and add up to at most " + size;
    case Rule::counts: return "are >= 0" + (use.size ? " and add up to " + size : "");
    case Rule::offsets: return "start at 0, never decrease and end at most at " + size;
    case Rule::starts: return "start at 0, never decrease and end at " + size;
    case Rule::ends: return "never decrease and lie in [0, " + size + "]";
    case Rule::coordinates: return "lie inside the size given";
    case Rule::mask: return "are true at most " + size + " times";
    case Rule::one_based:
    case Rule::up_to:
    case Rule::between:
      return "lie in [" + std::to_string(use.bounds.from) + ", " + std::to_string(use.bounds.to - 1) + "]";
    case Rule::position:
    case Rule::wrapping:
    case Rule::label:
    case Rule::padded:
    case Rule::ended_labels:
    case Rule::used_labels: break;
  }
  return interval_text(use.bounds);
}

std::string interval_text(const Bounds& bounds) {
  std::string text = "lie in [" + std::to_string(bounds.from) + ", " + std::to_string(bounds.to) + ")";
  for (const std::int64_t value : bounds.also) text += " or be " + std::to_string(value);
  return text;
}

std::string guard_text(const ContractUse& use) {
  if (!use.tensor) return {};
  const std::string name = python_name(use.name);
  const std::string legal = legal_text(use);
  const std::string must =
      legal.starts_with("lie ") ? name + " must " + legal : name + " must hold values that " + legal;
  return "assert " + condition_text(use, name) + ", \"" + must + "\"";
}

std::string python_name(std::string_view name) {
  static constexpr std::array<std::string_view, 35> kKeywords{
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "for",      "finally",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  std::string out;
  for (char c : name) out += is_word(c) ? c : '_';
  if (out.empty() || is_digit(out.front())) out.insert(out.begin(), '_');
  if (std::ranges::find(kKeywords, out) != kKeywords.end()) out += '_';
  return out;
}

}  // namespace dsafuzz
