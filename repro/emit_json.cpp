// The finding for scripts. Version 1 of the format; text is UTF-8, other bytes are written \xNN within it.
//
//   format          "dsafuzz-finding", version 1
//   signature       {verdict, op, file, kernel, condition, text, folder}
//   class           {name, title}: the check that is missing (missing_check.h)
//   original        the case as first met, as YAML text
//   minimal         the reduced case, as YAML text; minimal_id is its id
//   device          where it was found: "cpu", "vcuda", "cuda:0"; on_gpu is true for the last only
//   settings        {device, blocking, cpp_stacks, caching, time_limit_ms, start_limit_ms, memory_bytes, output_bytes,
//                   tool: where one was chosen}
//   outcome         {end, code, step, op, error_type, error, log, log_cut, seconds, peak_device_bytes, versions,
//                   results: [{name, dtype, shape}]}
//   evidence        verbatim lines
//   earliest_frame  {function, file, line} or null
//   cpu_opinion     one line
//   advice          {cause, remedy, guard}
//   confirmation    {confirmed, of}
//   devices         {DEVICE: {confirmed, of, instead: where a run differed}}: the minimal case on the device it was
//   found
//                   on and on the campaign's other ones
//   reduction       {executions, one_minimal}
#include <nlohmann/json.hpp>
#include <utility>

#include "repro/case_text.h"
#include "repro/emit.h"
#include "repro/escape.h"
#include "repro/missing_check.h"

namespace dsafuzz {
namespace {

using Json = nlohmann::ordered_json;

std::string end_text(Outcome::End end) {
  switch (end) {
    case Outcome::End::returned: return "returned";
    case Outcome::End::threw: return "threw";
    case Outcome::End::exited: return "exited";
    case Outcome::End::signalled: return "signalled";
    case Outcome::End::timed_out: return "timed_out";
    case Outcome::End::not_run: return "not_run";
  }
  std::unreachable();
}

Json outcome_json(const Outcome& outcome) {
  Json versions = Json::object();
  for (const auto& [name, version] : outcome.versions) versions[as_utf8(name)] = as_utf8(version);
  Json results = Json::array();
  for (const ResultTensor& r : outcome.results) {
    results.push_back({{"name", as_utf8(r.name)}, {"dtype", std::string(to_text(r.dtype))}, {"shape", r.shape}});
  }
  return {{"end", end_text(outcome.end)},
          {"code", outcome.code},
          {"step", outcome.step},
          {"op", as_utf8(outcome.op)},
          {"error_type", as_utf8(outcome.error_type)},
          {"error", as_utf8(outcome.error)},
          {"log", as_utf8(outcome.log)},
          {"log_cut", outcome.log_cut},
          {"seconds", outcome.seconds},
          {"peak_device_bytes", outcome.peak_device_bytes},
          {"versions", versions},
          {"results", results}};
}

}  // namespace

std::string emit_json(const Finding& finding) {
  const Signature& s = finding.signature;
  const RunSettings& settings = finding.settings;
  const std::string device = finding.outcome.device.empty() ? settings.device.text() : finding.outcome.device;
  Json out{{"format", "dsafuzz-finding"}, {"version", 1}};
  out["signature"] = {{"verdict", std::string(to_text(s.verdict))},
                      {"op", as_utf8(s.op)},
                      {"file", as_utf8(s.file)},
                      {"kernel", as_utf8(s.kernel)},
                      {"condition", as_utf8(s.condition)},
                      {"text", as_utf8(s.text())},
                      {"folder", s.folder_name()}};
  const MissingCheck& check = missing_check(finding.minimal, s);
  out["class"] = {{"name", std::string(check.name)}, {"title", std::string(check.title)}};
  out["original"] = as_utf8(to_yaml(finding.original));
  out["minimal"] = as_utf8(to_yaml(finding.minimal));
  out["minimal_id"] = case_id(finding.minimal);
  out["device"] = as_utf8(device);
  out["on_gpu"] = device.starts_with("cuda");
  out["settings"] = {{"device", settings.device.text()},
                     {"blocking", settings.blocking},
                     {"cpp_stacks", settings.cpp_stacks},
                     {"caching", settings.caching},
                     {"time_limit_ms", settings.time_limit.count()},
                     {"start_limit_ms", settings.start_limit.count()},
                     {"memory_bytes", settings.memory_bytes},
                     {"output_bytes", settings.output_bytes}};
  if (settings.tool) out["settings"]["tool"] = std::string(to_text(*settings.tool));
  out["outcome"] = outcome_json(finding.outcome);
  out["evidence"] = Json::array();
  for (const std::string& line : finding.evidence) out["evidence"].push_back(as_utf8(line));
  out["earliest_frame"] = nullptr;
  if (const auto& frame = finding.earliest_frame) {
    out["earliest_frame"] = {
        {"function", as_utf8(frame->function)}, {"file", as_utf8(frame->file)}, {"line", frame->line}};
  }
  out["cpu_opinion"] = as_utf8(finding.cpu_opinion);
  out["advice"] = {{"cause", as_utf8(finding.advice.cause)},
                   {"remedy", as_utf8(finding.advice.remedy)},
                   {"guard", as_utf8(finding.advice.guard)}};
  out["confirmation"] = {{"confirmed", finding.confirmed}, {"of", finding.confirmations}};
  out["devices"] = {{as_utf8(device), out["confirmation"]}};
  for (const DeviceCheck& other : finding.elsewhere) {
    Json check{{"confirmed", other.confirmed}, {"of", other.of}};
    if (!other.instead.empty()) check["instead"] = as_utf8(other.instead);
    out["devices"][as_utf8(other.device)] = std::move(check);
  }
  out["reduction"] = {{"executions", finding.executions}, {"one_minimal", finding.one_minimal}};
  return out.dump(2) + "\n";
}

}  // namespace dsafuzz
