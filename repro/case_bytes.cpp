#include "repro/case_bytes.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace dsafuzz {
namespace {

using Json = nlohmann::json;

// Layout, version 1: [1, scenario, seed, precision, phase, [shape, value, ...], [tensor], [step]], where
//   tensor  [name, [axis text], dtype, fill, [index, number, ...], layout, parameter, device]
//   fill    [kind, ...]: constant [0, n], arange [1], uniform [2, low, high], randn [3], randint [4, from, to], literal
//   [5, n...] step    [[result], op, [name, value, ...]] value   null, bool, integer, float, text (a quoted text), [0,
//   text] (a name), [1, value...] (a list)
// Enumerators travel as their numbers.
constexpr int kVersion = 1;

Json from_number(const Number& n) {
  return std::visit([](auto v) { return Json(v); }, n);
}

Json from_fill(const Fill& f) {
  Json out = Json::array({static_cast<int>(f.kind)});
  switch (f.kind) {
    case Fill::Kind::constant: out.push_back(from_number(f.constant)); break;
    case Fill::Kind::arange:
    case Fill::Kind::randn: break;
    case Fill::Kind::uniform:
      out.push_back(f.low);
      out.push_back(f.high);
      break;
    case Fill::Kind::randint:
      out.push_back(f.from.text);
      out.push_back(f.to.text);
      break;
    case Fill::Kind::literal:
      for (const Number& n : f.literal) out.push_back(from_number(n));
      break;
  }
  return out;
}

Json from_value(const Value& value) {
  struct Writer {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(bool b) const { return b; }
    Json operator()(std::int64_t i) const { return i; }
    Json operator()(double d) const { return d; }
    Json operator()(const std::string& s) const { return s; }
    Json operator()(const Name& n) const { return Json::array({0, n.text}); }
    Json operator()(const List& list) const {
      Json out = Json::array({1});
      for (const Value& item : list) out.push_back(from_value(item));
      return out;
    }
  };
  return std::visit(Writer{}, value.v);
}

// A cursor over one array: every access is checked, and the first that fails makes all later ones fail too, so the
// decoder reads straight through and asks once.
class Reader {
 public:
  Reader(const Json& array, bool& ok) : ok_(ok) {
    if (array.is_array()) {
      array_ = &array;
    } else {
      ok_ = false;
    }
  }
  bool more() const { return ok_ && array_ && at_ < array_->size(); }
  const Json& next() {
    static const Json kNothing;
    if (more()) return (*array_)[at_++];
    ok_ = false;
    return kNothing;
  }
  std::string text() {
    const Json& j = next();
    return j.is_string() ? j.get<std::string>() : (ok_ = false, std::string());
  }
  std::int64_t integer(std::int64_t least, std::int64_t most) {
    const Json& j = next();
    // An unsigned value over INT64_MAX would be read as a negative one.
    const bool fits = j.is_number_integer() && (!j.is_number_unsigned() || j.get<std::uint64_t>() <= INT64_MAX);
    const std::int64_t value = fits ? j.get<std::int64_t>() : 0;
    if (!fits || value < least || value > most) ok_ = false;
    return value;
  }
  double real() {
    const Json& j = next();
    return j.is_number() ? j.get<double>() : (ok_ = false, 0.0);
  }
  bool boolean() {
    const Json& j = next();
    return j.is_boolean() ? j.get<bool>() : (ok_ = false, false);
  }
  Number number() {
    if (more() && (*array_)[at_].is_number_float()) return real();
    return integer(INT64_MIN, INT64_MAX);
  }
  template <typename T, std::size_t N>
  T member(const std::array<T, N>& all) {
    const std::int64_t index = integer(0, N - 1);
    for (const T m : all) {
      if (static_cast<std::int64_t>(m) == index) return m;
    }
    return all[0];
  }

 private:
  const Json* array_ = nullptr;
  std::size_t at_ = 0;
  bool& ok_;
};

Fill to_fill(const Json& json, bool& ok) {
  static constexpr std::array kKinds{Fill::Kind::constant, Fill::Kind::arange,  Fill::Kind::uniform,
                                     Fill::Kind::randn,    Fill::Kind::randint, Fill::Kind::literal};
  Reader r(json, ok);
  Fill f;
  f.kind = r.member(kKinds);
  switch (f.kind) {
    case Fill::Kind::constant: f.constant = r.number(); break;
    case Fill::Kind::arange:
    case Fill::Kind::randn: break;
    case Fill::Kind::uniform:
      f.low = r.real();
      f.high = r.real();
      break;
    case Fill::Kind::randint: {
      const auto from = parse_extent(r.text()), to = parse_extent(r.text());
      if (from && to) {
        f.from = *from;
        f.to = *to;
      } else {
        ok = false;
      }
      break;
    }
    case Fill::Kind::literal:
      while (r.more()) f.literal.push_back(r.number());
      break;
  }
  if (r.more()) ok = false;
  return f;
}

Value to_value(const Json& json, bool& ok, int depth) {
  if (depth > 8) ok = false;
  if (!ok || json.is_null()) return {};
  if (json.is_boolean()) return {json.get<bool>()};
  if (json.is_number_float()) return {json.get<double>()};
  if (json.is_string()) return {json.get<std::string>()};
  if (json.is_number_integer()) {
    const Json one = Json::array({json});
    return {Reader(one, ok).integer(INT64_MIN, INT64_MAX)};
  }
  Reader r(json, ok);
  if (r.integer(0, 1) == 0) return {Name{r.text()}};
  List list;
  while (r.more()) list.push_back(to_value(r.next(), ok, depth + 1));
  return {std::move(list)};
}

TensorSpec to_tensor(const Json& json, bool& ok) {
  Reader r(json, ok);
  TensorSpec t;
  t.name = r.text();
  for (Reader axes(r.next(), ok); axes.more();) {
    const auto extent = parse_extent(axes.text());
    if (!extent) {
      ok = false;
      break;
    }
    t.shape.push_back(*extent);
  }
  t.dtype = r.member(kDtypes);
  t.fill = to_fill(r.next(), ok);
  for (Reader set(r.next(), ok); set.more();) {
    const std::int64_t index = set.integer(0, kElementLimit);
    t.set[index] = set.number();
  }
  t.layout = r.member(kLayouts);
  t.parameter = r.boolean();
  t.device = static_cast<int>(r.integer(0, 15));
  return t;
}

Step to_step(const Json& json, bool& ok) {
  Reader r(json, ok);
  Step step;
  for (Reader results(r.next(), ok); results.more();) step.results.push_back(results.text());
  step.op = r.text();
  for (Reader arguments(r.next(), ok); arguments.more();) {
    std::string name = arguments.text();
    step.arguments.push_back({std::move(name), to_value(arguments.next(), ok, 0)});
  }
  return step;
}

Case to_case(const Json& json, bool& ok) {
  Reader r(json, ok);
  Case c;
  r.integer(kVersion, kVersion);
  c.scenario = r.text();
  c.seed = static_cast<std::uint64_t>(r.integer(0, INT64_MAX));
  c.precision = r.member(kPrecisions);
  c.phase = r.member(kPhases);
  for (Reader shapes(r.next(), ok); shapes.more();) {
    std::string name = shapes.text();
    c.shapes[std::move(name)] = shapes.integer(0, kElementLimit);
  }
  for (Reader tensors(r.next(), ok); tensors.more();) c.tensors.push_back(to_tensor(tensors.next(), ok));
  for (Reader steps(r.next(), ok); steps.more();) c.steps.push_back(to_step(steps.next(), ok));
  return c;
}

// The parser recurses once a level, so the depth of foreign bytes is bounded before it sees them. Walks the item heads:
// definite lengths only (all that encode writes), no tags; contents of strings are skipped.
bool is_shallow(std::span<const std::uint8_t> bytes) {
  static constexpr int kDepth = 16;
  std::uint64_t left[kDepth] = {1};  // items still to come at each level
  int level = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const int major = bytes[at] >> 5, low = bytes[at] & 31;
    ++at;
    const int extra = low < 24 ? 0 : low <= 27 ? 1 << (low - 24) : -1;
    if (extra < 0 || at + extra > bytes.size()) return false;
    std::uint64_t count = low;
    if (extra > 0) count = 0;
    for (int i = 0; i < extra; ++i) count = count << 8 | bytes[at++];
    --left[level];
    if (major == 2 || major == 3) {
      if (count > bytes.size() - at) return false;
      at += count;
    } else if (major == 4) {
      if (count > bytes.size() || ++level == kDepth) return false;
      left[level] = count;
    } else if (major == 5 || major == 6) {
      return false;
    }
    while (left[level] == 0) {
      if (level-- == 0) return at == bytes.size();
    }
  }
  return false;
}

}  // namespace

std::vector<std::uint8_t> encode(const Case& c) {
  Json tensors = Json::array(), steps = Json::array(), shapes = Json::array();
  for (const auto& [name, value] : c.shapes) {
    shapes.push_back(name);
    shapes.push_back(value);
  }
  for (const TensorSpec& t : c.tensors) {
    Json axes = Json::array(), set = Json::array();
    for (const Extent& e : t.shape) axes.push_back(e.text);
    for (const auto& [index, number] : t.set) {
      set.push_back(index);
      set.push_back(from_number(number));
    }
    tensors.push_back(Json::array({t.name, std::move(axes), static_cast<int>(t.dtype), from_fill(t.fill),
                                   std::move(set), static_cast<int>(t.layout), t.parameter, t.device}));
  }
  for (const Step& s : c.steps) {
    Json arguments = Json::array();
    for (const Argument& a : s.arguments) {
      arguments.push_back(a.name);
      arguments.push_back(from_value(a.value));
    }
    steps.push_back(Json::array({s.results, s.op, std::move(arguments)}));
  }
  return Json::to_cbor(
      Json::array({kVersion, c.scenario, static_cast<std::int64_t>(c.seed), static_cast<int>(c.precision),
                   static_cast<int>(c.phase), std::move(shapes), std::move(tensors), std::move(steps)}));
}

Result<Case> decode_case(std::span<const std::uint8_t> bytes) {
  if (bytes.size() > kCaseBytesLimit)
    return input_problem("a case of " + std::to_string(bytes.size()) + " bytes is too large");
  bool ok = is_shallow(bytes);
  const Json json = ok ? Json::from_cbor(bytes.begin(), bytes.end(), true, false) : Json();
  ok = ok && !json.is_discarded();
  Case c;
  if (ok) c = to_case(json, ok);
  if (!ok)
    return input_problem("these bytes are not a case", {}, "a case is CBOR, version " + std::to_string(kVersion));
  DSAFUZZ_CHECK(validate(c));
  return c;
}

}  // namespace dsafuzz
