#include "repro/emit_plan.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "repro/escape.h"
#include "repro/fill.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

constexpr std::int64_t kNestedLimit = 16;       // written as nested lists up to here
constexpr std::size_t kFewSet = 8;              // single assignments up to here
constexpr std::int64_t kLiteralLimit = 65'536;  // random contents beyond are drawn by torch instead

Dtype stored(Dtype dtype, Precision precision) {
  if (dtype != Dtype::float32) return dtype;
  if (precision == Precision::half) return Dtype::float16;
  if (precision == Precision::bfloat16) return Dtype::bfloat16;
  return dtype;
}

Layout effective(Layout layout, const std::vector<std::int64_t>& shape) {
  switch (layout) {
    case Layout::contiguous:
    case Layout::offset: return layout;
    case Layout::transposed: return shape.size() < 2 ? Layout::contiguous : layout;
    case Layout::expanded: return shape.empty() || shape[0] == 0 ? Layout::contiguous : layout;
  }
  std::unreachable();
}

struct LessNumber {
  bool operator()(const Number& a, const Number& b) const {
    const double x = as_double(a), y = as_double(b);
    if (x != x || y != y) return x == x && y != y;
    if (x != y) return x < y;
    return std::holds_alternative<std::int64_t>(a) && std::holds_alternative<std::int64_t>(b) &&
           std::get<std::int64_t>(a) < std::get<std::int64_t>(b);
  }
};

// As a constant with few exceptions, where that is shorter than a list.
void plan_contents(TensorPlan& plan, const std::vector<Number>& values) {
  plan.kind = TensorPlan::Kind::literal;
  std::map<Number, std::size_t, LessNumber> counts;
  for (const Number& n : values) ++counts[n];
  const auto common =
      std::ranges::max_element(counts, [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::size_t others = values.size() - common->second;
  const bool zeros = others == 0 && as_double(common->first) == 0;
  const bool long_list = values.size() > static_cast<std::size_t>(kNestedLimit);
  if (!zeros && !(long_list && others <= kFewSet)) {
    plan.literal = values;
    return;
  }
  plan.kind = TensorPlan::Kind::constant;
  plan.constant = common->first;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!number_equal(values[i], common->first)) plan.set.emplace_back(static_cast<std::int64_t>(i), values[i]);
  }
}

bool is_random(Fill::Kind kind) {
  return kind == Fill::Kind::uniform || kind == Fill::Kind::randn || kind == Fill::Kind::randint;
}

}  // namespace

std::vector<TensorPlan> plan_tensors(const Case& c) {
  std::vector<TensorPlan> out;
  const bool any_parameter = std::ranges::any_of(c.tensors, &TensorSpec::parameter);
  for (const TensorSpec& t : c.tensors) {
    TensorPlan plan;
    plan.name = t.name;
    plan.shape = concrete_shape(t, c.shapes).value_or(std::vector<std::int64_t>{});
    plan.dtype = stored(t.dtype, c.precision);
    plan.layout = effective(t.layout, plan.shape);
    plan.device = t.device;
    plan.needs_grad = c.phase == Phase::backward && is_floating(t.dtype) && (t.parameter || !any_parameter);
    const std::int64_t count = element_count(plan.shape);
    if (count == 0) {
      plan.kind = TensorPlan::Kind::constant;
    } else if (t.fill.kind == Fill::Kind::arange && t.set.empty() && count > kNestedLimit && is_floating(t.dtype)) {
      plan.kind = TensorPlan::Kind::arange;
    } else if (t.fill.kind == Fill::Kind::arange && t.set.empty() && count > kNestedLimit &&
               count - 1 <= greatest_of(t.dtype)) {
      plan.kind = TensorPlan::Kind::arange;
    } else if (count <= kLiteralLimit) {
      plan_contents(plan, contents(c, t));
    } else {
      plan.kind = is_random(t.fill.kind) ? TensorPlan::Kind::random : TensorPlan::Kind::constant;
      if (t.fill.kind == Fill::Kind::arange) plan.kind = TensorPlan::Kind::arange;
      plan.fill = t.fill;
      plan.constant = t.fill.constant;
      if (t.fill.kind == Fill::Kind::literal) plan_contents(plan, contents(c, t));
      if (t.fill.kind == Fill::Kind::randint) {
        plan.fill.from = Extent::of(evaluate(t.fill.from, c.shapes).value_or(0));
        plan.fill.to = Extent::of(evaluate(t.fill.to, c.shapes).value_or(1));
      }
      if (plan.kind != TensorPlan::Kind::literal) {
        plan.set.clear();
        for (const auto& [index, number] : t.set) {
          if (index >= 0 && index < count) plan.set.emplace_back(index, number);
        }
      }
    }
    out.push_back(std::move(plan));
  }
  return out;
}

Evidence evidence_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::host_reject:
    case Verdict::device_assert:
    case Verdict::out_of_memory: return Evidence::message;
    case Verdict::memory_fault:
    case Verdict::crash: return Evidence::death;
    case Verdict::hang: return Evidence::timeout;
    case Verdict::wrong_result: return Evidence::difference;
    case Verdict::silent:
    case Verdict::ok:
    case Verdict::setup_failed: return Evidence::return_;
  }
  std::unreachable();
}

std::vector<std::string> expected_messages(const Finding& finding) {
  switch (finding.signature.verdict) {
    case Verdict::device_assert: return {"device-side assert triggered"};
    case Verdict::memory_fault:
      // A bad free is refused politely.
      if (finding.signature.condition.contains("Free error")) return {"invalid argument", "Free error encountered"};
      return {"illegal memory access",  "misaligned address", "unspecified launch failure", "Invalid __",
              "Free error encountered", "AddressSanitizer"};
    case Verdict::out_of_memory: return {"out of memory"};
    case Verdict::host_reject: {
      // The first line, as far as it fits: later lines hold stacks and hints.
      const std::string line(first_line(finding.outcome.error));
      return {line.empty() ? finding.signature.condition : line.substr(0, 200)};
    }
    case Verdict::ok:
    case Verdict::silent:
    case Verdict::wrong_result:
    case Verdict::hang:
    case Verdict::crash:
    case Verdict::setup_failed: return {};
  }
  std::unreachable();
}

std::string special_tool(const Finding& finding) {
  const auto tool = finding.settings.tool;
  return tool && *tool != Tool::memcheck ? std::string(to_text(*tool)) : "";
}

bool uses_own_operators(const Case& c) {
  return std::ranges::any_of(c.steps, [](const Step& s) { return s.op.starts_with("dsafuzz::"); });
}
bool uses_modules(const Case& c) {
  return std::ranges::any_of(c.steps, [](const Step& s) { return s.op.starts_with("module:"); });
}

std::vector<std::string> headline(const Finding& finding) {
  std::vector<std::string> out;
  const std::string text = finding.signature.text();
  out.push_back(comment_text(std::string(to_text(finding.signature.verdict)) + (text.empty() ? "" : ": " + text)));
  if (const std::string cause = comment_text(finding.advice.cause); !cause.empty()) out.push_back(cause);
  return out;
}

std::string backward_result(const Case& c) {
  for (auto step = c.steps.rbegin(); step != c.steps.rend(); ++step) {
    if (!step->results.empty()) return step->results[0];
  }
  return {};
}

std::string decimal(double value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  std::string out(buffer, end);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  std::erase(out, '+');  // Python's formatter writes 1e38, and C++ takes it
  return out;
}

}  // namespace dsafuzz
