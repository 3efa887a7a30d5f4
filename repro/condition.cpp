#include "repro/condition.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "repro/scan.h"
#include "repro/version_number.h"

namespace dsafuzz {
namespace {

using Op = FactTest::Op;

constexpr std::array<std::pair<std::string_view, Op>, 10> kOperators{{{"known", Op::known},
                                                                      {"unknown", Op::unknown},
                                                                      {"=", Op::equal},
                                                                      {"!=", Op::unequal},
                                                                      {"<", Op::less},
                                                                      {"<=", Op::at_most},
                                                                      {">", Op::more},
                                                                      {">=", Op::at_least},
                                                                      {"has", Op::has},
                                                                      {"lacks", Op::lacks}}};

// The next word, or a text with its quotes; empty at the end.
Result<std::string_view> take_token(std::string_view& s, const std::string& where) {
  skip_blanks(s);
  std::size_t end = std::min(s.find(' '), s.size());
  if (s.starts_with('\'')) {
    end = s.find('\'', 1);
    if (end == std::string_view::npos) return input_problem("a text has no closing '", where);
    ++end;
  }
  const std::string_view token = s.substr(0, end);
  s.remove_prefix(end);
  return token;
}

Result<std::string> take_fact(std::string_view& s, const std::string& where) {
  const std::string_view name = DSAFUZZ_TRY(take_token(s, where));
  if (is_fact_name(name)) return std::string(name);
  return input_problem("'" + std::string(name) + "' is no fact", where, "the names are in repro/machine_facts.cpp");
}

Result<FactTest> take_test(std::string_view& s, const std::string& where) {
  FactTest test{.fact = DSAFUZZ_TRY(take_fact(s, where)), .operand = {}};
  const std::string_view word = DSAFUZZ_TRY(take_token(s, where));
  const auto op = std::ranges::find(kOperators, word, &std::pair<std::string_view, Op>::first);
  if (op == kOperators.end()) {
    return input_problem("'" + std::string(word) + "' is no operator", where,
                         "known, unknown, =, !=, <, <=, >, >=, has or lacks");
  }
  test.op = op->second;
  if (test.op == Op::known || test.op == Op::unknown) return test;
  std::string_view before = s;
  const std::string_view operand = DSAFUZZ_TRY(take_token(s, where));
  if (operand.starts_with('\'')) {
    test.operand = operand.substr(1, operand.size() - 2);
  } else if (!operand.empty() && is_digit(operand.front())) {
    test.operand = operand;
  } else {
    test.operand = DSAFUZZ_TRY(take_fact(before, where));
    test.operand_is_fact = true;
  }
  return test;
}

bool passes(Op op, std::string_view left, std::string_view right) {
  if (op == Op::has) return contains(left, right);
  if (op == Op::lacks) return !contains(left, right);
  const bool versions = !left.empty() && !right.empty() && is_digit(left.front()) && is_digit(right.front());
  if (!versions) return (op == Op::equal && left == right) || (op == Op::unequal && left != right);
  const auto order = compare_versions(left, right);
  switch (op) {
    case Op::equal: return order == 0;
    case Op::unequal: return order != 0;
    case Op::less: return order < 0;
    case Op::at_most: return order <= 0;
    case Op::more: return order > 0;
    case Op::at_least: return order >= 0;
    case Op::known:
    case Op::unknown:
    case Op::has:
    case Op::lacks: return false;  // not comparisons
  }
  return false;
}

bool holds(const FactTest& test, const MachineFacts& facts, const FactValues* gpu) {
  const std::string* left = facts.find(test.fact, gpu);
  if (test.op == Op::unknown) return !left;
  if (!left) return false;
  if (test.op == Op::known) return true;
  const std::string* right = test.operand_is_fact ? facts.find(test.operand, gpu) : &test.operand;
  return right && passes(test.op, *left, *right);
}

}  // namespace

bool Condition::mentions_gpu() const {
  const auto of_gpu = [](std::string_view name) { return name.starts_with("gpu."); };
  for (const auto& tests : alternatives) {
    for (const FactTest& test : tests) {
      if (of_gpu(test.fact) || (test.operand_is_fact && of_gpu(test.operand))) return true;
    }
  }
  return false;
}

Result<Condition> parse_condition(std::string_view text, const std::string& where) {
  Condition condition;
  condition.alternatives.emplace_back();
  for (;;) {
    condition.alternatives.back().push_back(DSAFUZZ_TRY(take_test(text, where)));
    const std::string_view word = DSAFUZZ_TRY(take_token(text, where));
    if (word.empty()) return condition;
    if (word == "or") {
      condition.alternatives.emplace_back();
    } else if (word != "and") {
      return input_problem("'" + std::string(word) + "' stands where a condition goes on", where, "and, or");
    }
  }
}

bool holds(const Condition& condition, const MachineFacts& facts, const FactValues* gpu) {
  return std::ranges::any_of(condition.alternatives, [&](const std::vector<FactTest>& tests) {
    return std::ranges::all_of(tests, [&](const FactTest& test) { return holds(test, facts, gpu); });
  });
}

}  // namespace dsafuzz
