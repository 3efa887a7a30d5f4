#include "repro/outcome_bytes.h"

#include "repro/cbor.h"

namespace dsafuzz {

// [end, code, step, op, error type, error, [name, dtype, [size...], ...], seconds, peak bytes, device, [key,
// value...], [file, line, function, condition, ...]]; the error may hold any byte, so it travels as a byte string.
std::vector<std::uint8_t> encode(const Outcome& o) {
  CborWriter out;
  out.array(12);
  out.integer(static_cast<int>(o.end));
  out.integer(o.code);
  out.integer(o.step);
  out.text(o.op);
  out.text(o.error_type);
  out.bytes(o.error);
  out.array(3 * o.results.size());
  for (const ResultTensor& r : o.results) {
    out.text(r.name);
    out.integer(static_cast<int>(r.dtype));
    out.array(r.shape.size());
    for (const std::int64_t size : r.shape) out.integer(size);
  }
  out.real(o.seconds);
  out.integer(o.peak_device_bytes);
  out.text(o.device);
  out.array(2 * o.versions.size());
  for (const auto& [name, version] : o.versions) {
    out.text(name);
    out.text(version);
  }
  out.array(4 * o.sites.size());
  for (const ReachedSite& site : o.sites) {
    out.text(site.file);
    out.integer(site.line);
    out.text(site.function);
    out.text(site.condition);
  }
  return out.take();
}

Result<Outcome> decode_outcome(std::span<const std::uint8_t> bytes) {
  CborReader in(bytes);
  Outcome o;
  in.array_of(12);
  o.end = static_cast<Outcome::End>(in.integer(0, static_cast<int>(Outcome::End::not_run)));
  o.code = static_cast<int>(in.integer(INT32_MIN, INT32_MAX));
  o.step = static_cast<int>(in.integer(INT32_MIN, INT32_MAX));
  o.op = in.text();
  o.error_type = in.text();
  o.error = in.bytes();
  const std::uint64_t results = in.array();
  in.require(results % 3 == 0);
  for (std::uint64_t left = results / 3; in.ok() && left > 0; --left) {
    ResultTensor r;
    r.name = in.text();
    r.dtype = static_cast<Dtype>(in.integer(0, static_cast<std::int64_t>(kDtypes.size()) - 1));
    for (std::uint64_t sizes = in.array(); in.ok() && sizes > 0; --sizes)
      r.shape.push_back(in.integer(INT64_MIN, INT64_MAX));
    o.results.push_back(std::move(r));
  }
  o.seconds = in.real();
  o.peak_device_bytes = in.integer(INT64_MIN, INT64_MAX);
  o.device = in.text();
  const std::uint64_t versions = in.array();
  in.require(versions % 2 == 0);
  for (std::uint64_t left = versions / 2; in.ok() && left > 0; --left) {
    std::string name = in.text();
    o.versions[std::move(name)] = in.text();
  }
  const std::uint64_t sites = in.array();
  in.require(sites % 4 == 0);
  for (std::uint64_t left = sites / 4; in.ok() && left > 0; --left) {
    ReachedSite site;
    site.file = in.text();
    site.line = in.integer(0, INT64_MAX);
    site.function = in.text();
    site.condition = in.text();
    o.sites.push_back(std::move(site));
  }
  in.require(in.at_end());
  if (!in.ok()) return environment_problem("the worker's answer cannot be read", "worker", "is it of the same build?");
  return o;
}

}  // namespace dsafuzz
