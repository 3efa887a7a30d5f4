// A run of a regression corpus as SARIF 2.1.0, which code-scanning pages show: one rule for each verdict, one result
// for each case that does not show what it should, placed at the case's file. Cases that are as expected give nothing.
//
// partialFingerprints: deviceAssert/v1 is the signature's folder name, so that results of one bug are one bug whatever
// line or kernel version it was seen with; where a bug is gone it names the signature that was expected. caseName/v1
// tells cases apart.
#include <nlohmann/json.hpp>
#include <utility>

#include "repro/escape.h"
#include "repro/regress_run.h"

namespace dsafuzz {
namespace {

using Json = nlohmann::ordered_json;

const char* meaning(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok: return "Nothing wrong was seen where a failure was expected.";
    case Verdict::host_reject: return "An ordinary error before any kernel ran.";
    case Verdict::device_assert: return "A kernel's device-side assert failed; the context is lost.";
    case Verdict::memory_fault: return "An illegal or misaligned access, use after free, or a race in device memory.";
    case Verdict::silent: return "The device accepts an input that the operator's contract or the CPU refuses.";
    case Verdict::wrong_result: return "The device returns something else than it should.";
    case Verdict::hang: return "The time limit passed.";
    case Verdict::crash: return "The process died without a record of its cause.";
    case Verdict::out_of_memory: return "The case takes more memory than there is.";
    case Verdict::setup_failed: return "The case could not be run.";
  }
  std::unreachable();
}

Json rules() {
  Json out = Json::array();
  for (const Verdict verdict : kVerdicts) {
    out.push_back({{"id", to_text(verdict)},
                   {"shortDescription", {{"text", meaning(verdict)}}},
                   {"defaultConfiguration", {{"level", is_bug(verdict) ? "error" : "warning"}}}});
  }
  return out;
}

Json message(std::string_view text) { return {{"text", as_utf8(text)}}; }

Json location(const RegressRow& row) {
  return {
      {"physicalLocation", {{"artifactLocation", {{"uri", uri_reference(row.file)}}}, {"region", {{"startLine", 1}}}}}};
}

std::string fingerprint(const RegressRow& row) {
  if (is_bug(row.seen->verdict)) return row.seen->folder_name();
  return Signature{.verdict = row.seen->verdict, .op = {}, .file = {}, .kernel = {}, .condition = row.expected}
      .folder_name();
}

Json result(const RegressRow& row) {
  const Verdict verdict = row.seen->verdict;
  const auto index = std::ranges::find(kVerdicts, verdict) - kVerdicts.begin();
  Json evidence = Json::array();
  for (const std::string& line : row.evidence) evidence.push_back(as_utf8(line));
  return {{"ruleId", to_text(verdict)},
          {"ruleIndex", index},
          {"kind", "fail"},
          {"level", "error"},
          {"message", message(row.name + ": " + row_text(row))},
          {"locations", Json::array({location(row)})},
          {"partialFingerprints", {{"deviceAssert/v1", fingerprint(row)}, {"caseName/v1", as_utf8(row.name)}}},
          {"properties",
           {{"case", as_utf8(row.name)},
            {"caseId", row.case_id},
            {"device", as_utf8(row.device)},
            {"status", to_text(row.status)},
            {"expected", as_utf8(row.expected)},
            {"seen", as_utf8(seen_text(*row.seen))},
            {"evidence", evidence}}}};
}

}  // namespace

std::string regress_sarif(const RegressRun& run) {
  Json results = Json::array(), notifications = Json::array();
  for (const RegressRow& row : run.rows) {
    const bool differs = row.status == RegressStatus::differs || row.status == RegressStatus::flaky;
    if (differs && row.seen) results.push_back(result(row));
    if (row.status == RegressStatus::unreadable || row.status == RegressStatus::not_run) {
      notifications.push_back({{"level", "error"},
                               {"message", message(row.name + ": " + row_text(row))},
                               {"locations", Json::array({location(row)})}});
    }
  }
  const bool whole = notifications.empty();
  Json invocation{{"executionSuccessful", whole}};
  if (!whole) invocation["toolExecutionNotifications"] = std::move(notifications);
  const Json driver{{"name", "dsafuzz"}, {"version", as_utf8(run.program)}, {"rules", rules()}};
  Json properties{{"device", as_utf8(run.device)}};
  for (const auto& [name, version] : run.versions) properties["versions"][as_utf8(name)] = as_utf8(version);
  const Json out{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", Json::array({{{"tool", {{"driver", driver}}},
                                        {"invocations", Json::array({invocation})},
                                        {"columnKind", "utf16CodeUnits"},
                                        {"results", results},
                                        {"properties", properties}}})}};
  return out.dump(2) + "\n";
}

}  // namespace dsafuzz
