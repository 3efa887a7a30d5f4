#include "fuzz/candidate.h"

#include <array>
#include <nlohmann/json.hpp>
#include <tuple>

namespace dsafuzz {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kVersion = 1;
constexpr std::array kKinds{Candidate::Kind::failed, Candidate::Kind::suspect, Candidate::Kind::interrupted,
                            Candidate::Kind::slip};

constexpr std::array<std::pair<Outcome::End, std::string_view>, 6> kEnds{{{Outcome::End::returned, "returned"},
                                                                          {Outcome::End::threw, "threw"},
                                                                          {Outcome::End::exited, "exited"},
                                                                          {Outcome::End::signalled, "signalled"},
                                                                          {Outcome::End::timed_out, "timed_out"},
                                                                          {Outcome::End::not_run, "not_run"}}};

// The field as the type asked for, or its default: a candidate file is ours, but may have been edited or cut.
template <typename T>
T field(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end()) return T{};
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->get<std::string>() : T{};
  } else {
    return found->is_number() ? found->get<T>() : T{};
  }
}

}  // namespace

std::string_view to_text(Candidate::Kind kind) {
  switch (kind) {
    case Candidate::Kind::failed: return "failed";
    case Candidate::Kind::suspect: return "suspect";
    case Candidate::Kind::interrupted: return "interrupted";
    case Candidate::Kind::slip: return "slip";
  }
  return "";
}

std::optional<Candidate::Kind> parse_candidate_kind(std::string_view text) {
  for (Candidate::Kind kind : kKinds) {
    if (to_text(kind) == text) return kind;
  }
  return std::nullopt;
}

// A signature with bytes that are no text reads back changed, so the folder's name is kept rather than derived anew.
std::string Candidate::name() const {
  return stored_as.empty() ? signature.folder_name() + "-" + case_id(the_case) : stored_as;
}

bool examined_before(const Candidate& a, const Candidate& b) {
  const auto rank = [](const Candidate& c) {
    return std::tuple(c.the_case.scenario, c.kind == Candidate::Kind::slip, c.engine, c.sequence, c.name());
  };
  return rank(a) < rank(b);
}

std::string to_json(const Candidate& c) {
  std::string_view end;
  for (const auto& [value, text] : kEnds) {
    if (value == c.outcome.end) end = text;
  }
  const Json json{
      {"version", kVersion},
      {"kind", to_text(c.kind)},
      {"engine", c.engine},
      {"sequence", c.sequence},
      {"text", c.signature.text()},
      {"signature",
       {{"verdict", to_text(c.signature.verdict)},
        {"op", c.signature.op},
        {"file", c.signature.file},
        {"kernel", c.signature.kernel},
        {"condition", c.signature.condition}}},
      {"outcome",
       {{"end", end},
        {"code", c.outcome.code},
        {"step", c.outcome.step},
        {"op", c.outcome.op},
        {"error_type", c.outcome.error_type},
        {"error", c.outcome.error},
        {"device", c.outcome.device}}},
  };
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Candidate> parse_candidate(std::string_view text, const std::string& file) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || field<int>(json, "version") != kVersion) {
    return input_problem("is not a candidate of version " + std::to_string(kVersion), file);
  }
  const Json signature = json.value("signature", Json::object()), outcome = json.value("outcome", Json::object());
  const auto kind = parse_candidate_kind(field<std::string>(json, "kind"));
  const auto verdict = signature.is_object() ? parse_verdict(field<std::string>(signature, "verdict")) : std::nullopt;
  if (!kind || !verdict || !outcome.is_object()) return input_problem("has an unknown kind or verdict", file);
  Candidate c{.kind = *kind,
              .signature = {.verdict = *verdict,
                            .op = field<std::string>(signature, "op"),
                            .file = field<std::string>(signature, "file"),
                            .kernel = field<std::string>(signature, "kernel"),
                            .condition = field<std::string>(signature, "condition")},
              .the_case = {},
              .outcome = {},
              .engine = field<std::uint64_t>(json, "engine"),
              .sequence = field<std::uint64_t>(json, "sequence")};
  for (const auto& [value, name] : kEnds) {
    if (name == field<std::string>(outcome, "end")) c.outcome.end = value;
  }
  c.outcome.code = field<int>(outcome, "code");
  c.outcome.step = field<int>(outcome, "step");
  c.outcome.op = field<std::string>(outcome, "op");
  c.outcome.error_type = field<std::string>(outcome, "error_type");
  c.outcome.error = field<std::string>(outcome, "error");
  c.outcome.device = field<std::string>(outcome, "device");
  return c;
}

}  // namespace dsafuzz
