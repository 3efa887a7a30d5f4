#include "fuzz/matrix.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>
#include <tuple>

#include "repro/case_text.h"
#include "repro/judge.h"
#include "repro/parse_log.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

struct Answer {
  Outcome outcome;
  MatrixCell cell;
  std::string function, condition;  // of the first assert line
};

std::string short_site(std::string_view file, std::int64_t line) {
  return std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(line);
}

// One thread's executors, one for each device.
class Bench {
 public:
  static Result<Bench> start(const MatrixOptions& options) {
    Bench bench;
    for (const Device& device : options.devices) {
      RunSettings settings = options.settings;
      settings.device = device;
      bench.executors_.push_back(DSAFUZZ_TRY(options.start_workers(settings)));
    }
    return bench;
  }

  Result<void> fill(MatrixRow& row, const std::vector<CatalogueRow>& catalogue) {
    if (row.agreement == Agreement::not_run) return {};
    DSAFUZZ_CHECK(ask(row, catalogue, false));
    if (row.matches_catalogue == false) DSAFUZZ_CHECK(ask(row, catalogue, true));
    row.agreement = agreement_of(row);
    return {};
  }

 private:
  Result<void> ask(MatrixRow& row, const std::vector<CatalogueRow>& catalogue, bool fresh) {
    row.cells.clear();
    row.matches_catalogue = std::nullopt;
    std::optional<Outcome> cpu;
    for (const auto& executor : executors_) {
      const Device device = executor->settings().device;
      Outcome outcome = DSAFUZZ_TRY(fresh ? executor->run_fresh(row.the_case) : executor->run(row.the_case));
      const bool is_cpu = device.kind == Device::Kind::cpu;
      const Diagnosis diagnosis = judge(row.the_case, outcome, cpu && !is_cpu ? &*cpu : nullptr);
      MatrixCell cell{
          .device = device.text(), .signature = diagnosis.signature, .error = std::string(first_line(outcome.error))};
      std::string line, function;
      if (cell.signature.verdict == Verdict::device_assert) {
        const LogReading reading = parse_log(outcome.log);
        if (!reading.asserts.records.empty()) {
          const AssertRecord& record = reading.asserts.records.front();
          cell.site = short_site(record.file, record.line);
          line = std::to_string(record.line);
          function = record.function.value_or("");
        }
      }
      if (!is_cpu) note_match(row, catalogue, cell.signature, line, function);
      row.cells.push_back(std::move(cell));
      if (is_cpu) cpu = std::move(outcome);
    }
    return {};
  }

  // A device's answer to the catalogue's own input must be the catalogue's. A variant may take another way through the
  // operator: what counts is that an assert it meets is one that the catalogue knows.
  static void note_match(MatrixRow& row, const std::vector<CatalogueRow>& catalogue, const Signature& signature,
                         const std::string& line, const std::string& function) {
    const auto is_site = [&](const CatalogueRow& known) {
      return known.expected == "device_assert" && signature.file == known.file() && line == known.line() &&
             function == known.function && signature.condition == known.condition;
    };
    const bool asserts = signature.verdict == Verdict::device_assert;
    std::optional<bool> matches;
    if (row.variant.is_base()) {
      matches = to_text(signature.verdict) == row.catalogue.expected && (!asserts || is_site(row.catalogue));
    } else if (asserts) {
      matches = std::ranges::any_of(catalogue, is_site);
    }
    if (matches) row.matches_catalogue = row.matches_catalogue.value_or(true) && *matches;
  }

  static Agreement agreement_of(const MatrixRow& row) {
    if (row.matches_catalogue == false) return Agreement::catalogue_differs;
    const auto accepts = [](const MatrixCell& cell) {
      const Verdict v = cell.signature.verdict;
      return v == Verdict::ok || v == Verdict::silent || v == Verdict::wrong_result;
    };
    for (const MatrixCell& cell : row.cells) {
      if (accepts(cell) != accepts(row.cells.front())) return Agreement::acceptance_differs;
    }
    for (const MatrixCell& cell : row.cells) {
      if (cell.signature.verdict != row.cells.front().signature.verdict) return Agreement::manner_differs;
    }
    return Agreement::agrees;
  }

  std::vector<std::unique_ptr<Executor>> executors_;
};

bool is_wanted(const CatalogueRow& row, const std::vector<std::string>& operators) {
  if (operators.empty()) return true;
  return std::ranges::any_of(operators, [&](const std::string& wanted) {
    return row.id == wanted || row.operators.find(wanted) != std::string::npos;
  });
}

// "U9" before "U10", "U61a" before "U61b".
std::tuple<char, int, std::string> order_of(const std::string& id) {
  return {id.empty() ? ' ' : id[0], std::atoi(id.c_str() + std::min<std::size_t>(1, id.size())), id};
}

}  // namespace

std::string_view to_text(Agreement agreement) {
  switch (agreement) {
    case Agreement::catalogue_differs: return "catalogue_differs";
    case Agreement::acceptance_differs: return "acceptance_differs";
    case Agreement::manner_differs: return "manner_differs";
    case Agreement::agrees: return "agrees";
    case Agreement::not_run: return "not_run";
  }
  return "";
}

std::string MatrixRow::id() const { return variant.is_base() ? catalogue.id : catalogue.id + "/" + variant.text(); }

Result<std::vector<MatrixRow>> run_matrix(const MatrixOptions& options) {
  const std::vector<CatalogueRow> catalogue = DSAFUZZ_TRY(load_catalogue(options.catalogue));
  std::vector<MatrixRow> rows;
  for (const CatalogueRow& row : catalogue) {
    const auto expected = parse_verdict(row.expected);
    if (!expected || !is_wanted(row, options.operators)) continue;
    const std::string file = options.catalogue + "/cases/" + row.id + ".yaml";
    if (std::error_code ignored; !row.exception.empty() && !std::filesystem::exists(file, ignored)) {
      rows.push_back({.catalogue = row, .agreement = Agreement::not_run});
      continue;
    }
    const Case base = DSAFUZZ_TRY(load_case(file));
    for (VariantCase& made : variants_of(base)) {
      if (!options.variants && !made.variant.is_base()) continue;
      rows.push_back({.catalogue = row, .variant = std::move(made.variant), .the_case = std::move(made.the_case)});
    }
  }
  if (rows.empty()) {
    return input_problem("no row of the catalogue has this id or operator", options.operators.front(),
                         "`dsafuzz matrix` without a name shows all");
  }

  std::atomic<std::size_t> next = 0;
  std::size_t done = 0;
  std::mutex mutex;
  std::optional<Problem> problem;
  const auto work = [&] {
    Result<Bench> bench = Bench::start(options);
    for (;;) {
      Result<void> ok;
      const std::size_t i = next++;
      if (!bench) {
        ok = std::unexpected(bench.error());
      } else if (i < rows.size()) {
        ok = bench->fill(rows[i], catalogue);
      } else {
        return;
      }
      const std::scoped_lock lock(mutex);
      if (!ok && !problem) problem = ok.error();
      if (problem) return;
      if (options.progress) options.progress(++done, rows.size());
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::min(options.jobs, rows.size()); ++i) threads.emplace_back(work);
  }
  if (problem) return std::unexpected(*problem);
  std::ranges::sort(rows, {}, [](const MatrixRow& row) {
    return std::tuple(row.agreement, order_of(row.catalogue.id), !row.variant.is_base(), row.variant.text());
  });
  return rows;
}

}  // namespace dsafuzz
