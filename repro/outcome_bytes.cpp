#include "repro/outcome_bytes.h"

#include <nlohmann/json.hpp>

namespace dsafuzz {
namespace {
using Json = nlohmann::json;
}

std::vector<std::uint8_t> encode(const Outcome& o) {
  // Arrays, since short runs are frequent and keys would be most of the bytes. Texts may hold any byte, so they travel
  // as CBOR byte strings.
  const auto bytes = [](const std::string& text) { return Json::binary({text.begin(), text.end()}); };
  Json results = Json::array();
  for (const ResultTensor& r : o.results) results.push_back(Json::array({r.name, static_cast<int>(r.dtype), r.shape}));
  return Json::to_cbor(Json::array({static_cast<int>(o.end), o.code, o.step, o.op, o.error_type, bytes(o.error),
                                    std::move(results), o.seconds, o.peak_device_bytes, o.device, o.versions}));
}

Result<Outcome> decode_outcome(std::span<const std::uint8_t> bytes) {
  const Json json = Json::from_cbor(bytes.begin(), bytes.end(), true, false);
  const auto bad = [] {
    return environment_problem("the worker's answer cannot be read", "worker", "is it of the same build?");
  };
  if (!json.is_array() || json.size() != 11) return bad();
  try {
    Outcome o;
    const int end = json[0].get<int>();
    if (end < 0 || end > static_cast<int>(Outcome::End::not_run)) return bad();
    o.end = static_cast<Outcome::End>(end);
    o.code = json[1].get<int>();
    o.step = json[2].get<int>();
    o.op = json[3].get<std::string>();
    o.error_type = json[4].get<std::string>();
    const auto& error = json[5].get_binary();
    o.error.assign(error.begin(), error.end());
    for (const Json& r : json[6]) {
      const int dtype = r.at(1).get<int>();
      if (dtype < 0 || dtype >= static_cast<int>(kDtypes.size())) return bad();
      o.results.push_back(
          {r.at(0).get<std::string>(), static_cast<Dtype>(dtype), r.at(2).get<std::vector<std::int64_t>>()});
    }
    o.seconds = json[7].get<double>();
    o.peak_device_bytes = json[8].get<std::int64_t>();
    o.device = json[9].get<std::string>();
    o.versions = json[10].get<std::map<std::string, std::string>>();
    return o;
  } catch (const Json::exception&) {
    return bad();
  }
}

}  // namespace dsafuzz
