#include "repro/reading_json.h"

#include <nlohmann/json.hpp>

#include "repro/escape.h"

namespace dsafuzz {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(as_utf8(text)); }
template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}
Json text_or_null(const std::optional<std::string>& text) { return text ? Json(as_utf8(*text)) : Json(); }

Json texts(const std::vector<std::string>& parts) {
  Json list = Json::array();
  for (const std::string& part : parts) list.push_back(as_utf8(part));
  return list;
}

Json frame_json(const std::optional<Frame>& frame) {
  if (!frame) return {};
  return {{"file", or_null(frame->file)},
          {"line", frame->line > 0 ? Json(frame->line) : Json()},
          {"function", or_null(frame->function)}};
}

Json error_json(const std::optional<CudaError>& error) {
  if (!error) return {};
  return {{"code", or_null(error->code)},
          {"name", as_utf8(error->name)},
          {"text", or_null(error->text)},
          {"exception", or_null(error->exception)}};
}

Json facts_json(const Facts& facts) {
  Json object = Json::object();
  for (const auto& [name, value] : facts) {
    Json& slot = object[std::string(name)];
    if (const auto* number = std::get_if<std::int64_t>(&value)) slot = *number;
    if (const auto* text = std::get_if<std::string>(&value)) slot = as_utf8(*text);
    if (const auto* list = std::get_if<std::vector<std::string>>(&value)) slot = texts(*list);
  }
  return object;
}

Json list_json(const std::vector<Facts>& entries) {
  Json list = Json::array();
  for (const Facts& entry : entries) list.push_back(facts_json(entry));
  return list;
}

// An object, perhaps empty, where a tool was asked; null where none was.
Json environment_json(const LogReading& reading) {
  const EnvironmentReading& environment = reading.environment;
  if (environment.source.empty() && reading.kind != LogKind::environment_failure) return {};
  Json object = facts_json(environment.facts);
  if (environment.lists_gpus) object["gpus"] = list_json(environment.gpus);
  if (environment.lists_processes) object["processes"] = list_json(environment.processes);
  return object;
}

Json assert_json(const AssertRecord& record) {
  return {{"kind", "device_assert"},
          {"file", or_null(record.file)},
          {"line", record.line},
          {"condition", as_utf8(record.condition)},
          {"count", record.count}};
}

Json sanitizer_json(const SanitizerRecord& record) {
  Json object{{"what", as_utf8(record.title)}};
  if (!record.kernel.empty()) object["kernel"] = as_utf8(record.kernel);
  if (!record.file.empty()) object["file"] = as_utf8(record.file);
  if (record.line > 0) object["line"] = record.line;
  if (!record.api_call.empty()) object["api"] = as_utf8(record.api_call);
  return object;
}

// Each fault by itself, where the log shows more than one.
Json faults_json(const LogReading& reading) {
  Json list = Json::array();
  for (const AssertRecord& record : reading.asserts.records) list.push_back(assert_json(record));
  for (const SanitizerRecord& record : reading.sanitizer.records) list.push_back(sanitizer_json(record));
  if (!reading.gdb.exception.empty()) list.push_back({{"what", as_utf8(reading.gdb.exception)}});
  if (reading.system && reading.system->kind != SystemFault::Kind::environment_failure) {
    if (reading.system->xids.empty()) list.push_back({{"kind", as_utf8(reading.system->fault)}});
    for (const Xid& xid : reading.system->xids) {
      list.push_back({{"xid", xid.number}, {"pci", as_utf8(xid.pci)}});
      if (!xid.address.empty()) list.back()["address"] = as_utf8(xid.address);
    }
  }
  if (reading.asserts.devices.size() > 1) {
    for (const DsaDevice& each : reading.asserts.devices) {
      list.push_back({{"device", each.device}, {"reported", each.reported}, {"printed", each.printed}});
    }
  }
  return list.size() > 1 ? list : Json::array();
}

Json advice_json(const Explanation& e) {
  return {{"happened", as_utf8(e.happened)},
          {"operators", texts(e.operators)},
          {"argument", or_null(e.argument)},
          {"meaning", or_null(e.meaning)},
          {"legal", or_null(e.legal)},
          {"causes", texts(e.causes)},
          {"guard", or_null(e.guard)},
          {"own_frame", or_null(e.own_frame)},
          {"own_frame_remark", or_null(e.own_frame_remark)},
          {"consequences", texts(e.echoes)},
          {"open", texts(e.open)},
          {"steps", texts(e.steps)},
          {"scenario", or_null(e.scenario)},
          {"case", or_null(e.case_id)}};
}

}  // namespace

std::string reading_json(const LogReading& reading, const Explanation& advice) {
  const Json object{{"kind", std::string(to_text(reading.kind))},
                    {"origin", or_null(reading.origin)},
                    {"kernel", text_or_null(reading.kernel)},
                    {"file", or_null(reading.file)},
                    {"line", or_null(reading.line)},
                    {"condition", text_or_null(reading.condition)},
                    {"block", or_null(reading.block)},
                    {"thread", or_null(reading.thread)},
                    {"sticky_error", error_json(reading.error)},
                    {"api_call", or_null(reading.api_call)},
                    {"primary_fault", or_null(reading.primary_fault)},
                    {"count", reading.count},
                    {"earliest_user_frame", frame_json(reading.earliest_user)},
                    {"nearest_user_frame", frame_json(reading.nearest_user)},
                    {"traceback_may_be_late", or_null(reading.late_trace)},
                    {"truncated", reading.truncated},
                    {"faults", faults_json(reading)},
                    {"environment", environment_json(reading)},
                    {"advice", advice_json(advice)}};
  return object.dump(2);
}

}  // namespace dsafuzz
