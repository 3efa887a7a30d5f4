// The catalogue of device asserts (corpus/catalogue/device_asserts.tsv) as data: who may have printed a line. One text
// at one line may be several operators', and every lambda prints `operator()`: the answer is then all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dsafuzz {

// A row that prints. Texts are those of the table and live as long as the program.
struct AssertRow {
  std::string_view id;         // "U28"
  std::string_view file;       // from aten/, c10/, torch/ or third_party/ on
  std::int64_t line = 0;       // in PyTorch 2.11
  std::string_view function;   // short name, or `operator()`
  std::string_view condition;  // empty where the caller gives no text
  std::string_view operators;  // comma-separated; empty if no operator gets there
  std::string_view trigger;    // which values: "a label below 0 or from C on"
  bool reachable = false;      // by an input value
};
std::span<const AssertRow> assert_rows();

// What is known of a printed line: as printed, with any path prefix and function form.
struct PrintedAssert {
  std::string file;
  std::int64_t line = 0;                // 0: unknown
  std::optional<std::string> function;  // none on Windows
  std::string condition;
};

// The rows that print this file and condition: of this line, if the table has it there (else it is another version's),
// and of this function, if it has a name of its own. Empty if there is none. The order is the table's.
std::vector<const AssertRow*> find_assert(const PrintedAssert& printed);

// Those that `op` ("aten::gather") reaches; all if it is no operator that any of them names.
std::vector<const AssertRow*> rows_of_operator(std::vector<const AssertRow*> rows, std::string_view op);

// "aten::gather, aten::take_along_dim": each once, in the order of the rows.
std::string operators_of(std::span<const AssertRow* const> rows);
// "an index below 0, or an index from numel on": their triggers, each once.
std::string triggers_of(std::span<const AssertRow* const> rows);

}  // namespace dsafuzz
