#include "repro/case_bytes.h"

#include <array>

#include "repro/cbor.h"

namespace dsafuzz {
namespace {

// Layout, version 1: [1, scenario, seed, precision, phase, [shape, value, ...], [tensor], [step]], where
//   tensor  [name, [axis text], dtype, fill, [index, number, ...], layout, parameter, device]
//   fill    [kind, ...]: constant [0, n], arange [1], uniform [2, low, high], randn [3], randint [4, from, to],
//           literal [5, n...]
//   step    [[result], op, [name, value, ...]]
//   value   null, bool, integer, float, text (a quoted text), [0, text] (a name), [1, value...] (a list)
// Enumerators travel as their numbers.
constexpr int kVersion = 1;
constexpr int kListDepth = 8;

void write(CborWriter& out, const Number& n) {
  if (const auto* integer = std::get_if<std::int64_t>(&n)) {
    out.integer(*integer);
  } else {
    out.real(std::get<double>(n));
  }
}

void write(CborWriter& out, const Fill& f) {
  const auto begin = [&](std::size_t more) {
    out.array(1 + more);
    out.integer(static_cast<int>(f.kind));
  };
  switch (f.kind) {
    case Fill::Kind::constant:
      begin(1);
      write(out, f.constant);
      break;
    case Fill::Kind::arange:
    case Fill::Kind::randn: begin(0); break;
    case Fill::Kind::uniform:
      begin(2);
      out.real(f.low);
      out.real(f.high);
      break;
    case Fill::Kind::randint:
      begin(2);
      out.text(f.from.text);
      out.text(f.to.text);
      break;
    case Fill::Kind::literal:
      begin(f.literal.size());
      for (const Number& n : f.literal) write(out, n);
      break;
  }
}

void write(CborWriter& out, const Value& value) {
  struct Visitor {
    CborWriter& out;
    void operator()(std::monostate) const { out.null(); }
    void operator()(bool b) const { out.boolean(b); }
    void operator()(std::int64_t i) const { out.integer(i); }
    void operator()(double d) const { out.real(d); }
    void operator()(const std::string& s) const { out.text(s); }
    void operator()(const Name& n) const {
      out.array(2);
      out.integer(0);
      out.text(n.text);
    }
    void operator()(const List& list) const {
      out.array(1 + list.size());
      out.integer(1);
      for (const Value& item : list) write(out, item);
    }
  };
  std::visit(Visitor{out}, value.v);
}

void write(CborWriter& out, const TensorSpec& t) {
  out.array(8);
  out.text(t.name);
  out.array(t.shape.size());
  for (const Extent& e : t.shape) out.text(e.text);
  out.integer(static_cast<int>(t.dtype));
  write(out, t.fill);
  out.array(2 * t.set.size());
  for (const auto& [index, number] : t.set) {
    out.integer(index);
    write(out, number);
  }
  out.integer(static_cast<int>(t.layout));
  out.boolean(t.parameter);
  out.integer(t.device);
}

void write(CborWriter& out, const Step& s) {
  out.array(3);
  out.array(s.results.size());
  for (const std::string& result : s.results) out.text(result);
  out.text(s.op);
  out.array(2 * s.arguments.size());
  for (const Argument& a : s.arguments) {
    out.text(a.name);
    write(out, a.value);
  }
}

template <typename T, std::size_t N>
T read_member(CborReader& in, const std::array<T, N>& all) {
  const std::int64_t index = in.integer(0, N - 1);
  for (const T member : all) {
    if (static_cast<std::int64_t>(member) == index) return member;
  }
  return all[0];
}

Number read_number(CborReader& in) {
  if (in.kind() == CborReader::Kind::real) return in.real();
  return in.integer(INT64_MIN, INT64_MAX);
}

Extent read_extent(CborReader& in) {
  auto extent = parse_extent(in.text());
  in.require(extent.has_value());
  return extent ? std::move(*extent) : Extent{"0"};
}

// An array of pairs: how many.
std::uint64_t read_pairs(CborReader& in) {
  const std::uint64_t items = in.array();
  in.require(items % 2 == 0);
  return items / 2;
}

Fill read_fill(CborReader& in) {
  static constexpr std::array kKinds{Fill::Kind::constant, Fill::Kind::arange,  Fill::Kind::uniform,
                                     Fill::Kind::randn,    Fill::Kind::randint, Fill::Kind::literal};
  const std::uint64_t items = in.array();
  Fill f;
  f.kind = read_member(in, kKinds);
  switch (f.kind) {
    case Fill::Kind::constant:
      in.require(items == 2);
      f.constant = read_number(in);
      break;
    case Fill::Kind::arange:
    case Fill::Kind::randn: in.require(items == 1); break;
    case Fill::Kind::uniform:
      in.require(items == 3);
      f.low = in.real();
      f.high = in.real();
      break;
    case Fill::Kind::randint:
      in.require(items == 3);
      f.from = read_extent(in);
      f.to = read_extent(in);
      break;
    case Fill::Kind::literal:
      for (std::uint64_t i = 1; in.ok() && i < items; ++i) f.literal.push_back(read_number(in));
      break;
  }
  return f;
}

Value read_value(CborReader& in, int depth) {
  in.require(depth <= kListDepth);
  switch (in.kind()) {
    case CborReader::Kind::integer: return {in.integer(INT64_MIN, INT64_MAX)};
    case CborReader::Kind::real: return {in.real()};
    case CborReader::Kind::text: return {in.text()};
    case CborReader::Kind::boolean: return {in.boolean()};
    case CborReader::Kind::null: in.null(); return {};
    case CborReader::Kind::bytes:
    case CborReader::Kind::other: in.require(false); return {};
    case CborReader::Kind::array: break;
  }
  const std::uint64_t items = in.array();
  if (in.integer(0, 1) == 0) {
    in.require(items == 2);
    return {Name{in.text()}};
  }
  List list;
  for (std::uint64_t i = 1; in.ok() && i < items; ++i) list.push_back(read_value(in, depth + 1));
  return {std::move(list)};
}

TensorSpec read_tensor(CborReader& in) {
  TensorSpec t;
  in.array_of(8);
  t.name = in.text();
  for (std::uint64_t left = in.array(); in.ok() && left > 0; --left) t.shape.push_back(read_extent(in));
  t.dtype = read_member(in, kDtypes);
  t.fill = read_fill(in);
  for (std::uint64_t left = read_pairs(in); in.ok() && left > 0; --left) {
    const std::int64_t index = in.integer(0, kElementLimit);
    t.set[index] = read_number(in);
  }
  t.layout = read_member(in, kLayouts);
  t.parameter = in.boolean();
  t.device = static_cast<int>(in.integer(0, 15));
  return t;
}

Step read_step(CborReader& in) {
  Step step;
  in.array_of(3);
  for (std::uint64_t left = in.array(); in.ok() && left > 0; --left) step.results.push_back(in.text());
  step.op = in.text();
  for (std::uint64_t left = read_pairs(in); in.ok() && left > 0; --left) {
    std::string name = in.text();
    step.arguments.push_back({std::move(name), read_value(in, 0)});
  }
  return step;
}

Case read_case(CborReader& in) {
  Case c;
  in.array_of(8);
  in.integer(kVersion, kVersion);
  c.scenario = in.text();
  c.seed = static_cast<std::uint64_t>(in.integer(0, INT64_MAX));
  c.precision = read_member(in, kPrecisions);
  c.phase = read_member(in, kPhases);
  for (std::uint64_t left = read_pairs(in); in.ok() && left > 0; --left) {
    std::string name = in.text();
    c.shapes[std::move(name)] = in.integer(0, kElementLimit);
  }
  for (std::uint64_t left = in.array(); in.ok() && left > 0; --left) c.tensors.push_back(read_tensor(in));
  for (std::uint64_t left = in.array(); in.ok() && left > 0; --left) c.steps.push_back(read_step(in));
  in.require(in.at_end());
  return c;
}

}  // namespace

std::vector<std::uint8_t> encode(const Case& c) {
  CborWriter out;
  out.array(8);
  out.integer(kVersion);
  out.text(c.scenario);
  out.integer(static_cast<std::int64_t>(c.seed));
  out.integer(static_cast<int>(c.precision));
  out.integer(static_cast<int>(c.phase));
  out.array(2 * c.shapes.size());
  for (const auto& [name, value] : c.shapes) {
    out.text(name);
    out.integer(value);
  }
  out.array(c.tensors.size());
  for (const TensorSpec& t : c.tensors) write(out, t);
  out.array(c.steps.size());
  for (const Step& s : c.steps) write(out, s);
  return out.take();
}

Result<Case> decode_case(std::span<const std::uint8_t> bytes) {
  if (bytes.size() > kCaseBytesLimit)
    return input_problem("a case of " + std::to_string(bytes.size()) + " bytes is too large");
  CborReader in(bytes);
  Case c = read_case(in);
  if (!in.ok())
    return input_problem("these bytes are not a case", {}, "a case is CBOR, version " + std::to_string(kVersion));
  DSAFUZZ_CHECK(validate(c));
  return c;
}

}  // namespace dsafuzz
