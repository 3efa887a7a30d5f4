// The matrix as text and as JSON.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "fuzz/matrix.h"
#include "repro/case_text.h"

namespace dsafuzz {
namespace {

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

std::string_view heading(Agreement agreement) {
  switch (agreement) {
    case Agreement::catalogue_differs: return "Not what the catalogue says";
    case Agreement::acceptance_differs: return "One device accepts what another refuses";
    case Agreement::manner_differs: return "All refuse it, one of them by an error that its context survives";
    case Agreement::agrees: return "All devices agree";
    case Agreement::not_run: return "Not run";
  }
  return "";
}

// The operator that a device complained about; else the one that runs last.
std::string operator_of(const MatrixRow& row) {
  for (const MatrixCell& cell : row.cells) {
    if (cell.signature.op.contains("::")) return cell.signature.op;
  }
  return row.the_case.steps.empty() ? "" : row.the_case.steps.back().op;
}

// What there is to say beyond the verdicts: the assert, or what the first device that refuses says.
std::string remark(const MatrixRow& row) {
  std::string text;
  for (const MatrixCell& cell : row.cells) {
    if (cell.site.empty()) continue;
    text = cell.site + " `" + cell.signature.condition + "`";
    break;
  }
  if (text.empty()) {
    const auto silent =
        std::ranges::find(row.cells, Verdict::silent, [](const auto& c) { return c.signature.verdict; });
    if (silent != row.cells.end()) text = silent->signature.condition;
  }
  if (text.empty()) {
    const auto refused = std::ranges::find_if(row.cells, [](const MatrixCell& cell) { return !cell.error.empty(); });
    if (refused != row.cells.end()) text = refused->error.substr(0, 100);
  }
  if (row.agreement == Agreement::not_run) return row.catalogue.exception;
  if (row.agreement == Agreement::catalogue_differs) {
    text += " (catalogue: " + row.catalogue.expected;
    if (!row.catalogue.condition.empty() && row.variant.is_base()) {
      text += " at " + row.catalogue.source.substr(row.catalogue.source.rfind('/') + 1) + " `" +
              row.catalogue.condition + "`";
    }
    text += row.catalogue.exception.empty() ? ")" : "; " + row.catalogue.exception + ")";
  }
  return text;
}

// A row, and the variants of the same input that got the same answers.
struct Line {
  const MatrixRow* row;
  int alike = 0;
  std::string id() const { return row->id() + (alike > 0 ? " +" + std::to_string(alike) : ""); }
};

bool same_answers(const MatrixRow& a, const MatrixRow& b) {
  return a.catalogue.id == b.catalogue.id && a.agreement == b.agreement &&
         std::ranges::equal(a.cells, b.cells, [](const MatrixCell& x, const MatrixCell& y) {
           return x.signature.verdict == y.signature.verdict && x.site == y.site;
         });
}

std::vector<Line> lines_of(const std::vector<MatrixRow>& rows) {
  std::vector<Line> lines;
  for (const MatrixRow& row : rows) {
    const auto alike = std::ranges::find_if(lines, [&](const Line& line) { return same_answers(*line.row, row); });
    if (alike == lines.end()) {
      lines.push_back({&row});
    } else {
      ++alike->alike;
    }
  }
  return lines;
}

}  // namespace

std::string matrix_text(const std::vector<MatrixRow>& rows) {
  const std::vector<Line> lines = lines_of(rows);
  std::size_t ids = 2, operators = 8;
  for (const Line& line : lines) {
    ids = std::max(ids, line.id().size());
    operators = std::max(operators, operator_of(*line.row).size());
  }
  std::string text;
  std::optional<Agreement> group;
  for (const Line& line : lines) {
    const MatrixRow& row = *line.row;
    if (group != row.agreement) {
      group = row.agreement;
      text += (text.empty() ? "" : "\n") + std::string(heading(row.agreement)) + "\n  " + padded("id", ids) + "  " +
              padded("operator", operators);
      for (const MatrixCell& cell : row.cells) text += "  " + padded(cell.device, 13);
      text += "\n";
    }
    text += "  " + padded(line.id(), ids) + "  " + padded(operator_of(row), operators);
    for (const MatrixCell& cell : row.cells) {
      text += "  " + padded(std::string(to_text(cell.signature.verdict)), 13);
    }
    text += "  " + remark(row) + "\n";
  }

  // Base rows by what the catalogue expects: how many answer so.
  struct Count {
    int met = 0, all = 0;
  };
  std::map<std::string, Count> counts;
  int variants = 0, strange = 0;
  for (const MatrixRow& row : rows) {
    if (row.variant.is_base()) {
      Count& count = counts[row.catalogue.expected];
      ++count.all;
      count.met += row.matches_catalogue == true;
    } else {
      ++variants;
      strange += row.matches_catalogue == false;
    }
  }
  text += "\n";
  for (const auto& [expected, count] : counts) {
    text += expected + ": " + std::to_string(count.met) + " of " + std::to_string(count.all) +
            " rows as in the catalogue\n";
  }
  if (variants > 0)
    text += std::to_string(variants) + " variants, " + std::to_string(strange) +
            " with an assert that the catalogue lacks\n";
  return text;
}

std::string matrix_json(const std::vector<MatrixRow>& rows) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const MatrixRow& row : rows) {
    nlohmann::ordered_json line{{"id", row.id()},
                                {"catalogue_id", row.catalogue.id},
                                {"op", operator_of(row)},
                                {"condition", row.catalogue.condition},
                                {"source", row.catalogue.source},
                                {"function", row.catalogue.function},
                                {"expected", row.catalogue.expected},
                                {"dtype", row.variant.dtype},
                                {"reduction", row.variant.reduction},
                                {"precision", row.variant.precision},
                                {"layout", row.variant.layout}};
    for (const MatrixCell& cell : row.cells) {
      line[cell.device] = {{"verdict", to_text(cell.signature.verdict)},
                           {"signature", cell.signature.text()},
                           {"site", cell.site},
                           {"error", cell.error}};
    }
    line["matches_catalogue"] = row.matches_catalogue ? nlohmann::ordered_json(*row.matches_catalogue) : nullptr;
    line["agreement"] = to_text(row.agreement);
    line["exception"] = row.catalogue.exception;
    line["case"] = to_yaml(row.the_case);
    out.push_back(std::move(line));
  }
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace dsafuzz
