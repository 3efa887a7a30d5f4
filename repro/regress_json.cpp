// A run of a regression corpus for scripts and for `regress --compare`. Text is UTF-8; other bytes are written \xNN.
//
//   format     "dsafuzz-regress", version 1
//   program    version of dsafuzz
//   device     that was asked for
//   versions   {torch: "2.11.0", ...}, as the runs said
//   seconds    of the whole run
//   summary    {differs, flaky, unreadable, not_run, skipped, no_expectation, as_expected}: counts
//   cases      [{name, file, case_id, status, device, expected, seen, differed, runs, reason, error, evidence,
//   seconds}],
//              by name; seen is null or {verdict, op, file, kernel, condition, text, folder}
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "repro/escape.h"
#include "repro/regress_run.h"

namespace dsafuzz {
namespace {

using Json = nlohmann::ordered_json;

Json seen_json(const std::optional<Signature>& seen) {
  if (!seen) return nullptr;
  return {{"verdict", to_text(seen->verdict)},     {"op", as_utf8(seen->op)},
          {"file", as_utf8(seen->file)},           {"kernel", as_utf8(seen->kernel)},
          {"condition", as_utf8(seen->condition)}, {"text", as_utf8(seen->text())},
          {"folder", seen->folder_name()}};
}

Json row_json(const RegressRow& row) {
  Json evidence = Json::array();
  for (const std::string& line : row.evidence) evidence.push_back(as_utf8(line));
  return {{"name", as_utf8(row.name)},     {"file", as_utf8(row.file)},     {"case_id", row.case_id},
          {"status", to_text(row.status)}, {"device", as_utf8(row.device)}, {"expected", as_utf8(row.expected)},
          {"seen", seen_json(row.seen)},   {"differed", row.differed},      {"runs", row.runs},
          {"reason", as_utf8(row.reason)}, {"error", as_utf8(row.error)},   {"evidence", evidence},
          {"seconds", row.seconds}};
}

// Reads one file; whatever is in it, no access throws.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  Result<RegressRun> run(std::string_view text) const {
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) return problem("is not JSON");
    if (word(json, "format") != "dsafuzz-regress") return problem("is not a run of `dsafuzz regress`");
    if (number(json, "version") != 1) return problem("is of a version of the format that is not known here");
    RegressRun out;
    out.device = word(json, "device");
    out.seconds = number(json, "seconds");
    if (const auto versions = json.find("versions"); versions != json.end() && versions->is_object()) {
      for (const auto& [name, version] : versions->items()) {
        if (version.is_string()) out.versions[name] = version.get<std::string>();
      }
    }
    const auto cases = json.find("cases");
    if (cases == json.end() || !cases->is_array()) return problem("has no list of cases");
    std::set<std::string> names;
    for (const Json& one : *cases) {
      out.rows.push_back(DSAFUZZ_TRY(row(one)));
      if (!names.insert(out.rows.back().name).second) return problem("has case '" + out.rows.back().name + "' twice");
    }
    return out;
  }

 private:
  static std::string word(const Json& json, const char* key) {
    const auto at = json.find(key);
    return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
  }
  static double number(const Json& json, const char* key) {
    const auto at = json.find(key);
    return at != json.end() && at->is_number() ? at->get<double>() : 0;
  }
  static int count(const Json& json, const char* key) {
    return static_cast<int>(std::clamp(number(json, key), 0.0, 1e6));
  }
  std::unexpected<Problem> problem(std::string what) const {
    return input_problem(std::move(what), file_, "a file that `dsafuzz regress --json FILE` wrote");
  }

  Result<RegressRow> row(const Json& json) const {
    RegressRow out;
    out.name = word(json, "name");
    if (out.name.empty()) return problem("has a case without a name");
    const auto status = parse_regress_status(word(json, "status"));
    if (!status) return problem("has an unknown status for case '" + out.name + "'");
    out.status = *status;
    out.file = word(json, "file");
    out.case_id = word(json, "case_id");
    out.device = word(json, "device");
    out.expected = word(json, "expected");
    out.reason = word(json, "reason");
    out.error = word(json, "error");
    out.differed = count(json, "differed");
    out.runs = count(json, "runs");
    out.seconds = number(json, "seconds");
    if (const auto seen = json.find("seen"); seen != json.end() && !seen->is_null()) {
      const auto verdict = parse_verdict(word(*seen, "verdict"));
      if (!verdict) return problem("has an unknown verdict for case '" + out.name + "'");
      out.seen = Signature{.verdict = *verdict,
                           .op = word(*seen, "op"),
                           .file = word(*seen, "file"),
                           .kernel = word(*seen, "kernel"),
                           .condition = word(*seen, "condition")};
    }
    return out;
  }

  const std::string& file_;
};

}  // namespace

std::string regress_json(const RegressRun& run) {
  Json versions = Json::object();
  for (const auto& [name, version] : run.versions) versions[as_utf8(name)] = as_utf8(version);
  Json summary = Json::object();
  for (const RegressStatus status : kRegressStatuses) summary[std::string(to_text(status))] = run.count(status);
  std::vector<const RegressRow*> rows;
  for (const RegressRow& row : run.rows) rows.push_back(&row);
  std::ranges::sort(rows, {}, [](const RegressRow* row) { return row->name; });
  Json cases = Json::array();
  for (const RegressRow* row : rows) cases.push_back(row_json(*row));
  const Json out{{"format", "dsafuzz-regress"},
                 {"version", 1},
                 {"program", as_utf8(run.program)},
                 {"device", as_utf8(run.device)},
                 {"versions", versions},
                 {"seconds", run.seconds},
                 {"summary", summary},
                 {"cases", cases}};
  return out.dump(2) + "\n";
}

Result<RegressRun> parse_regress_json(std::string_view text, const std::string& file) { return Reader(file).run(text); }

}  // namespace dsafuzz
