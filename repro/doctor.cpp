#include "repro/doctor.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "repro/scan.h"
#include "repro/tsv_table.h"

namespace dsafuzz {
namespace {

constexpr std::array kLevels{std::pair<std::string_view, Health>{"ok", Health::ok},
                             std::pair<std::string_view, Health>{"warning", Health::warning},
                             std::pair<std::string_view, Health>{"fault", Health::fault}};

// Whether every {fact} in a text is a fact's name.
Result<void> check_text(std::string_view text, const std::string& where) {
  while (take_until(text, "{")) {
    const auto name = take_until(text, "}");
    if (!name) return input_problem("a { has no }", where);
    if (!is_fact_name(*name)) return input_problem("'" + std::string(*name) + "' is no fact", where);
  }
  return {};
}

bool is_about_gpu(const DoctorRule& rule) { return rule.when.mentions_gpu() || contains(rule.says, "{gpu."); }

// The piece without brackets, with its facts filled in; false in `known` if one is missing.
std::string filled_piece(std::string_view text, const MachineFacts& facts, const FactValues* gpu, bool& known) {
  std::string result;
  for (;;) {
    const auto before = take_until(text, "{");
    if (!before) return result + std::string(text);
    result += *before;
    const auto name = take_until(text, "}");
    const std::string* value = name ? facts.find(*name, gpu) : nullptr;
    if (!value) known = false;
    result += value ? *value : "?";
  }
}

struct Spoken {
  std::size_t rule;
  DoctorLine line;
};

// What the rules say of the machine (`gpu` is nullptr) or of one GPU. A rule speaks only where its texts can be filled.
void speak(const std::vector<DoctorRule>& rules, const MachineFacts& facts, const FactValues* gpu,
           std::vector<Spoken>& spoken) {
  std::set<std::string_view> ids;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const DoctorRule& rule = rules[i];
    if (is_about_gpu(rule) != (gpu != nullptr) || ids.contains(rule.id) || !holds(rule.when, facts, gpu)) continue;
    ids.insert(rule.id);
    DoctorLine line{.level = rule.level,
                    .id = rule.id,
                    .topic = rule.topic,
                    .says = filled(rule.says, facts, gpu),
                    .mends = filled(rule.mends, facts, gpu),
                    .gpus = {}};
    if (gpu) line.gpus.emplace_back(gpu->contains("gpu.index") ? gpu->at("gpu.index") : "?");
    // The same words about several GPUs are one line.
    const auto same = std::ranges::find_if(spoken, [&](const Spoken& s) {
      return s.rule == i && gpu && s.line.says == line.says && s.line.mends == line.mends;
    });
    if (same == spoken.end()) {
      spoken.push_back({i, std::move(line)});
    } else {
      same->line.gpus.push_back(line.gpus.front());
    }
  }
}

bool overlaps(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  if (a.empty() || b.empty()) return a.empty() == b.empty();
  return std::ranges::any_of(a, [&](const std::string& gpu) { return std::ranges::find(b, gpu) != b.end(); });
}

}  // namespace

std::string_view to_text(Health health) { return kLevels[static_cast<std::size_t>(health)].first; }

Result<std::vector<DoctorRule>> parse_doctor_rules(std::string_view text, const std::string& path) {
  const TsvTable table = DSAFUZZ_TRY(TsvTable::parse(text, path));
  std::vector<DoctorRule> rules;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::string where = table.where(row);
    DoctorRule rule{.id = std::string(table.cell(row, "id")),
                    .topic = std::string(table.cell(row, "topic")),
                    .when = {},
                    .says = std::string(table.cell(row, "says")),
                    .mends = std::string(table.cell(row, "mends"))};
    rule.is_statement = table.cell(row, "level") == "seen";
    const auto level =
        std::ranges::find(kLevels, table.cell(row, "level"), &std::pair<std::string_view, Health>::first);
    if (level == kLevels.end() && !rule.is_statement) {
      return input_problem("'" + std::string(table.cell(row, "level")) + "' is no level", where,
                           "seen, ok, warning or fault");
    }
    rule.level = rule.is_statement ? Health::ok : level->second;
    rule.when = DSAFUZZ_TRY(parse_condition(table.cell(row, "when"), where));
    if (rule.id.empty() || rule.topic.empty() || rule.says.empty())
      return input_problem("needs an id, a topic and something to say", where);
    if (rule.level != Health::ok && rule.mends.empty())
      return input_problem("a warning or fault must say what mends it", where);
    DSAFUZZ_CHECK(check_text(rule.says, where));
    DSAFUZZ_CHECK(check_text(rule.mends, where));
    rules.push_back(std::move(rule));
  }
  return rules;
}

Result<std::vector<NotCheckable>> parse_not_checkable(std::string_view text, const std::string& path) {
  const TsvTable table = DSAFUZZ_TRY(TsvTable::parse(text, path));
  std::vector<NotCheckable> rows;
  for (std::size_t row = 0; row < table.size(); ++row) {
    rows.push_back({std::string(table.cell(row, "conflict")), std::string(table.cell(row, "reason"))});
    if (rows.back().conflict.empty() || rows.back().reason.empty())
      return input_problem("needs a conflict and a reason", table.where(row));
  }
  return rows;
}

std::string filled(std::string_view text, const MachineFacts& facts, const FactValues* gpu) {
  std::string result;
  for (;;) {
    const std::string_view before = take_until(text, "[").value_or("");
    bool known = true;
    if (before.empty() && !contains(text, "]")) return result + filled_piece(text, facts, gpu, known);
    result += filled_piece(before, facts, gpu, known);
    known = true;
    const std::string piece = filled_piece(take_until(text, "]").value_or(""), facts, gpu, known);
    if (known) result += piece;
  }
}

std::vector<DoctorLine> judge_machine(const MachineFacts& facts, const std::vector<DoctorRule>& rules) {
  std::vector<Spoken> spoken;
  speak(rules, facts, nullptr, spoken);
  for (const FactValues& gpu : facts.gpus) speak(rules, facts, &gpu, spoken);

  std::map<std::string_view, std::size_t> topics;  // their order is that of the rules
  for (const DoctorRule& rule : rules) topics.emplace(rule.topic, topics.size());
  const auto place = [&](const Spoken& s) {
    return std::tuple(topics[s.line.topic], -static_cast<int>(s.line.level), s.rule, s.line.gpus);
  };
  std::ranges::sort(spoken, [&](const Spoken& a, const Spoken& b) { return place(a) < place(b); });

  std::vector<DoctorLine> lines;
  for (const Spoken& one : spoken) {
    const bool soothes = rules[one.rule].is_statement && std::ranges::any_of(spoken, [&](const Spoken& other) {
                           return other.line.level != Health::ok && other.line.topic == one.line.topic &&
                                  overlaps(other.line.gpus, one.line.gpus);
                         });
    if (!soothes) lines.push_back(one.line);
  }
  return lines;
}

}  // namespace dsafuzz
