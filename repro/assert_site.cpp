// The table is embedded as it stands when dsafuzz is built, and read at the first question.
#include "repro/assert_site.h"

#include <algorithm>
#include <charconv>

#include "repro/assert_catalogue.h"
#include "repro/escape.h"
#include "repro/normalise.h"

namespace dsafuzz {
namespace {

// This function prints what its caller passes; the row of the operator that takes a text from the user stands for all
// texts but those of other rows.
constexpr std::string_view kPrintsAnyText = "_assert_async_cuda_kernel";

std::string_view take(std::string_view& rest, char end) {
  const std::size_t at = std::min(rest.find(end), rest.size());
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return part;
}

std::vector<AssertRow> read_table() {
  // The rows' texts live as long as the program.
  static const auto& table = *new Result<std::vector<CatalogueRow>>(parse_catalogue(kAssertCatalogue, "the catalogue"));
  std::vector<AssertRow> rows;
  if (!table) return rows;
  for (const CatalogueRow& each : *table) {
    if (each.line().empty()) continue;  // a row that prints nothing
    AssertRow row{each.id,
                  each.file(),
                  0,
                  each.function,
                  each.condition,
                  each.operators,
                  each.trigger,
                  each.expected != "unreachable"};
    std::from_chars(each.line().data(), each.line().data() + each.line().size(), row.line);
    rows.push_back(row);
  }
  return rows;
}

std::string_view last_part(std::string_view path) { return path.substr(path.find_last_of("/\\") + 1); }

bool has_operator(const AssertRow& row, std::string_view op) {
  std::string_view rest = row.operators;
  while (!rest.empty()) {
    std::string_view each = take(rest, ',');
    while (each.starts_with(' ')) each.remove_prefix(1);
    // An overload belongs to its operator: `aten::scatter_` names `aten::scatter_.src`.
    if (each == op || (each.starts_with(op) && each[op.size()] == '.')) return true;
    if (op.starts_with(each) && op[each.size()] == '.') return true;
  }
  return false;
}

template <typename Keep>
std::vector<const AssertRow*> kept(const std::vector<const AssertRow*>& rows, const Keep& keep) {
  std::vector<const AssertRow*> out;
  std::ranges::copy_if(rows, std::back_inserter(out), [&](const AssertRow* row) { return keep(*row); });
  return out;
}

// Narrowed where that leaves something.
template <typename Keep>
void prefer(std::vector<const AssertRow*>& rows, const Keep& keep) {
  if (auto narrowed = kept(rows, keep); !narrowed.empty()) rows = std::move(narrowed);
}

void append_once(std::vector<std::string_view>& out, std::string_view text) {
  if (!text.empty() && std::ranges::find(out, text) == out.end()) out.push_back(text);
}

}  // namespace

std::span<const AssertRow> assert_rows() {
  static const auto& rows = *new std::vector<AssertRow>(read_table());
  return rows;
}

std::vector<const AssertRow*> find_assert(const PrintedAssert& printed) {
  const std::string function = short_kernel_name(printed.function.value_or(""));
  std::vector<const AssertRow*> rows;
  for (const AssertRow& row : assert_rows()) {
    if (last_part(row.file) == last_part(printed.file)) rows.push_back(&row);
  }
  const bool own_text = std::ranges::any_of(
      rows, [&](const AssertRow* row) { return row->condition == printed.condition && !row->condition.empty(); });
  rows = kept(rows, [&](const AssertRow& row) {
    if (row.condition == printed.condition) return true;
    return !own_text && row.function == kPrintsAnyText && row.operators.starts_with("aten::_assert_async");
  });
  if (!function.empty()) rows = kept(rows, [&](const AssertRow& row) { return row.function == function; });
  prefer(rows, [&](const AssertRow& row) { return row.line == printed.line; });
  return rows;
}

std::vector<const AssertRow*> rows_of_operator(std::vector<const AssertRow*> rows, std::string_view op) {
  if (!op.empty()) prefer(rows, [&](const AssertRow& row) { return has_operator(row, op); });
  return rows;
}

std::string operators_of(std::span<const AssertRow* const> rows) {
  std::vector<std::string_view> parts;
  for (const AssertRow* row : rows) {
    std::string_view rest = row->operators;
    while (!rest.empty()) {
      std::string_view each = take(rest, ',');
      while (each.starts_with(' ')) each.remove_prefix(1);
      append_once(parts, each);
    }
  }
  return joined(parts, ", ");
}

std::string triggers_of(std::span<const AssertRow* const> rows) {
  std::vector<std::string_view> parts;
  for (const AssertRow* row : rows) {
    if (row->reachable) append_once(parts, row->trigger);
  }
  return joined(parts, "; or ");
}

}  // namespace dsafuzz
