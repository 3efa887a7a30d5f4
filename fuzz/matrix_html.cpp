// The matrix as one page: a table coloured by verdict, with a filter. The page carries its own style and script and
// loads nothing; what comes from rows stands in text and attributes, escaped.
#include "fuzz/matrix.h"
#include "repro/case_text.h"
#include "repro/escape.h"

namespace dsafuzz {
namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>dsafuzz: error parity</title>
<style>
body { font: 14px/1.4 system-ui, sans-serif; margin: 1.5rem; color: #1b1f24; background: #fff; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #d0d7de; }
th { position: sticky; top: 0; background: #f6f8fa; }
code { font: 12px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { font: 12px/1.4 ui-monospace, monospace; white-space: pre-wrap; margin: .3rem 0; }
label { margin-right: 1.5rem; }
input[type=search] { width: 22rem; max-width: 90%; padding: .3rem; }
.v { border-radius: .3rem; padding: 0 .4rem; white-space: nowrap; }
.ok { background: #d7f0dd; } .host_reject { background: #dbe9fb; } .device_assert { background: #fbd9d6; }
.memory_fault, .crash, .hang { background: #f2c0e6; } .silent, .wrong_result { background: #fde7b0; }
.out_of_memory, .setup_failed { background: #e4e4e4; }
tr.catalogue_differs td:first-child { border-left: 4px solid #b3261e; }
tr.acceptance_differs td:first-child { border-left: 4px solid #d08700; }
@media print { form { display: none; } th { position: static; } }
</style>
</head>
<body>
<h1>Error parity</h1>
<form onsubmit="return false">
<label>Filter <input type="search" id="words" placeholder="operator, dtype, verdict, condition"></label>
<label><input type="checkbox" id="base"> without variants</label>
<label><input type="checkbox" id="differ"> disagreements only</label>
<span id="shown" role="status"></span>
</form>
)";

constexpr std::string_view kTail = R"(<script>
const rows = [...document.querySelectorAll("tbody tr")];
function filter() {
  const words = document.getElementById("words").value.toLowerCase().split(/\s+/).filter(Boolean);
  const base = document.getElementById("base").checked, differ = document.getElementById("differ").checked;
  let shown = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    const show = words.every(w => text.includes(w)) && !(base && row.dataset.variant) &&
                 !(differ && row.classList.contains("agrees"));
    row.hidden = !show;
    shown += show;
  }
  document.getElementById("shown").textContent = shown + " of " + rows.length + " rows";
}
for (const id of ["words", "base", "differ"]) document.getElementById(id).addEventListener("input", filter);
filter();
</script>
</body>
</html>
)";

std::string cell_html(const MatrixCell& cell) {
  const std::string verdict(to_text(cell.signature.verdict));
  std::string html = "<td><span class=\"v " + verdict + "\">" + verdict + "</span>";
  if (!cell.site.empty()) {
    html += "<br><code>" + html_escaped(cell.site + " " + cell.signature.condition) + "</code>";
  } else if (!cell.error.empty()) {
    html += "<br><code>" + html_escaped(cell.error.substr(0, 300)) + "</code>";
  } else if (cell.signature.verdict == Verdict::silent) {
    html += "<br><code>" + html_escaped(cell.signature.condition) + "</code>";
  }
  return html + "</td>";
}

std::string_view catalogue_word(const std::optional<bool>& matches) {
  if (!matches) return "does not say";
  return *matches ? "the same" : "differs";
}

}  // namespace

std::string matrix_html(const std::vector<MatrixRow>& rows) {
  std::string html(kHead);
  html += "<table><thead><tr><th>id</th><th>operators</th>";
  if (!rows.empty()) {
    for (const MatrixCell& cell : rows.front().cells) html += "<th>" + html_escaped(cell.device) + "</th>";
  }
  html += "<th>catalogue</th></tr></thead>\n<tbody>\n";
  for (const MatrixRow& row : rows) {
    html += "<tr class=\"" + std::string(to_text(row.agreement)) + "\" data-variant=\"" +
            html_escaped(row.variant.text()) + "\"><td>" + html_escaped(row.id()) + "</td>";
    html += "<td>" + html_escaped(row.catalogue.operators) + "<details><summary>case</summary><pre>" +
            html_escaped(to_yaml(row.the_case)) + "</pre></details></td>";
    for (const MatrixCell& cell : row.cells) html += cell_html(cell);
    html += "<td>" + std::string(catalogue_word(row.matches_catalogue)) + "<br><code>" +
            html_escaped(row.catalogue.source + " " + row.catalogue.condition) + "</code>";
    if (!row.catalogue.exception.empty()) html += "<br>" + html_escaped(row.catalogue.exception);
    html += "</td></tr>\n";
  }
  html += "</tbody></table>\n";
  return html + std::string(kTail);
}

}  // namespace dsafuzz
