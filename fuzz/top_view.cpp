#include "fuzz/top_view.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "repro/escape.h"

namespace dsafuzz {
namespace {

enum class Paint { plain, bold, soft, alarm, good };

// A line whose length is that of what is seen: colours take no room in it, and it is cut at the width.
class Line {
 public:
  explicit Line(const TopLook& look) : look_(look) {}

  // `text` may hold UTF-8 of ours; foreign text goes through foreign().
  Line& add(const std::string& text, Paint paint = Paint::plain) {
    std::string kept;
    for (const char c : text) {
      const bool starts = (static_cast<unsigned char>(c) & 0xc0) != 0x80;
      if (starts && used_ == look_.width) {
        full_ = true;
        break;
      }
      if (starts) ++used_;
      if (!full_) kept += c;
    }
    if (kept.empty()) return *this;
    const char* code = sequence(paint);
    text_ += look_.colour && *code ? std::string(code) + kept + "\033[0m" : kept;
    return *this;
  }

  Line& pad_to(int column) { return add(std::string(static_cast<std::size_t>(std::max(0, column - used_)), ' ')); }
  Line& right(const std::string& text, int width, Paint paint = Paint::plain) {
    return add(std::string(static_cast<std::size_t>(std::max(0, width - static_cast<int>(text.size()))), ' '))
        .add(text, paint);
  }
  int room() const { return look_.width - used_; }
  std::string text() const { return text_; }

 private:
  static const char* sequence(Paint paint) {
    switch (paint) {
      case Paint::plain: return "";
      case Paint::bold: return "\033[1m";
      case Paint::soft: return "\033[2m";
      case Paint::alarm: return "\033[1;31m";
      case Paint::good: return "\033[32m";
    }
    return "";
  }

  const TopLook& look_;
  std::string text_;
  int used_ = 0;
  bool full_ = false;
};

// On one line, and nothing in it that a terminal would act on.
std::string foreign(const std::string& text, std::size_t limit) { return comment_text(text, limit); }

std::string with_commas(std::uint64_t n) {
  std::string text = std::to_string(n);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

const ProgressFacts* last_facts(const RunOverview& run) {
  return run.samples.empty() ? nullptr : &run.samples.back().facts;
}

std::string first_line(const std::string& out, const RunOverview& run, const TopMoment& moment, const TopLook& look) {
  const std::string state = top_state(run, moment);
  Line line(look);
  line.add("dsafuzz top", Paint::bold).add("  " + run.kind + " run " + std::to_string(run.id) + "  ");
  line.add(state, state == "cut off" || run.interrupted ? Paint::alarm : Paint::good);
  return line.add("  " + foreign(out, 200), Paint::soft).text();
}

std::string time_line(const RunOverview& run, const TopMoment& moment, const TopLook& look) {
  const ProgressFacts* facts = last_facts(run);
  Line line(look);
  line.add("time        ", Paint::soft).add(clock_time(moment.elapsed));
  if (!run.ended && moment.alive && facts && facts->seconds_left)
    line.add(", " + clock_time(*facts->seconds_left) + " left");
  return line.add("  since " + foreign(run.started, 30), Paint::soft).text();
}

void add_numbers(const RunOverview& run, const TopLook& look, std::vector<std::string>& lines) {
  const ProgressFacts* facts = last_facts(run);
  std::vector<double> rates, features;
  for (const RunSample& sample : run.samples) {
    rates.push_back(sample.facts.per_second);
    features.push_back(static_cast<double>(sample.facts.features));
  }
  constexpr int kChart = 40;
  // The total is written when a search is over; the sample may be of one that still goes on.
  const std::uint64_t executions = std::max(run.executions, facts ? facts->executions : 0);
  const auto row = [&](const char* name, std::uint64_t n, const std::string& rest, const std::vector<double>& chart) {
    Line line(look);
    line.add(name, Paint::soft).pad_to(12).right(with_commas(n), 13, Paint::bold).add("  " + rest).pad_to(38);
    lines.push_back(line.add(sparkline(chart, std::min(kChart, line.room()), look.blocks)).text());
  };
  row("executions", executions, facts ? short_number(facts->per_second) + "/s" : "", rates);
  row("features", std::max(run.features, facts ? facts->features : 0), "", features);
  const std::uint64_t candidates = facts ? facts->candidates : 0;
  Line findings(look);
  findings.add("findings", Paint::soft).pad_to(12);
  findings.right(with_commas(run.fresh), 13, run.fresh ? Paint::alarm : Paint::bold).add("  new");
  findings.add(", " + std::to_string(run.known) + " known, " + std::to_string(run.gone) + " gone");
  if (candidates) findings.add("; " + with_commas(candidates) + " to examine");
  lines.push_back(findings.text());
  Line engines(look);
  engines.add("engines", Paint::soft).pad_to(12).right(facts ? with_commas(facts->engines) : "-", 13, Paint::bold);
  if (facts) engines.add("  " + with_commas(facts->restarts) + (facts->restarts == 1 ? " restart" : " restarts"));
  if (run.problems) {
    engines.add("; ").add(with_commas(run.problems) + (run.problems == 1 ? " problem" : " problems"), Paint::alarm);
  }
  lines.push_back(engines.text());
}

void add_tables(const RunOverview& run, const TopLook& look, std::vector<std::string>& lines) {
  const auto head = [&](const char* name, const char* last) {
    lines.emplace_back();
    lines.push_back(
        Line(look).add(name, Paint::bold).pad_to(34).right("executions", 13).right("time", 9).right(last, 10).text());
  };
  const auto row = [&](const std::string& name, std::uint64_t executions, double seconds, std::uint64_t last) {
    Line line(look);
    line.add(foreign(name, 30)).pad_to(34).right(with_commas(executions), 13).right(clock_time(seconds), 9);
    lines.push_back(line.right(with_commas(last), 10).text());
  };
  if (!run.devices.empty()) head("device", "findings");
  for (const DeviceTotals& d : run.devices) row(d.name, d.executions, d.seconds, d.findings);
  constexpr std::size_t kScenarios = 8;
  if (!run.scenarios.empty()) head("scenario", "features");
  for (std::size_t i = 0; i < std::min(kScenarios, run.scenarios.size()); ++i) {
    row(run.scenarios[i].name, run.scenarios[i].executions, run.scenarios[i].seconds, run.scenarios[i].features);
  }
  if (run.scenarios.size() > kScenarios) {
    const std::string rest = "and " + std::to_string(run.scenarios.size() - kScenarios) + " more";
    lines.push_back(Line(look).add(rest, Paint::soft).text());
  }
}

}  // namespace

std::string top_state(const RunOverview& run, const TopMoment& moment) {
  if (run.ended) return run.interrupted ? "stopped before its end" : "ended";
  if (!moment.alive) return "cut off";
  const ProgressFacts* facts = last_facts(run);
  const bool searching = run.step.empty() || run.step == "fuzz";
  if (!searching) return foreign(run.step, 30);
  return facts ? foreign(facts->doing, 30) : "starting";
}

std::string sparkline(const std::vector<double>& values, int width, bool blocks) {
  static constexpr std::array<const char*, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::array<const char*, 8> kAscii{"_", ".", ":", "-", "=", "+", "*", "#"};
  const std::size_t shown = std::min(values.size(), static_cast<std::size_t>(std::max(0, width)));
  if (shown == 0) return "";
  const auto first = values.end() - static_cast<std::ptrdiff_t>(shown);
  double most = 0;
  for (auto at = first; at != values.end(); ++at) most = std::isfinite(*at) ? std::max(most, *at) : most;
  std::string text;
  for (auto at = first; at != values.end(); ++at) {
    const double part = most > 0 && std::isfinite(*at) ? std::clamp(*at / most, 0.0, 1.0) : 0;
    const auto level = static_cast<std::size_t>(std::lround(part * 7));
    text += blocks ? kBlocks[level] : kAscii[level];
  }
  return text;
}

std::vector<std::string> top_lines(const std::string& out, const RunOverview& run, const TopMoment& moment,
                                   const TopLook& look) {
  std::vector<std::string> lines{first_line(out, run, moment, look), time_line(run, moment, look)};
  add_numbers(run, look, lines);
  if (!run.newest.empty()) {
    lines.emplace_back();
    lines.push_back(Line(look).add("newest findings", Paint::bold).text());
  }
  for (const MetFinding& f : run.newest) {
    Line line(look);
    line.add(foreign(f.state, 8), f.state == "new" ? Paint::alarm : Paint::plain).pad_to(6).right(clock_time(f.at), 8);
    line.add("  " + foreign(f.verdict, 20)).pad_to(30).add(" " + foreign(f.op, 60));
    lines.push_back(line.add("  " + foreign(f.text, 300), Paint::soft).text());
  }
  add_tables(run, look, lines);
  if (look.height > 0 && lines.size() > static_cast<std::size_t>(look.height)) {
    lines.resize(static_cast<std::size_t>(look.height));
  }
  return lines;
}

}  // namespace dsafuzz
