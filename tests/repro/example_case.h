// A case that uses every part of the format once; shared by the tests of its texts and bytes.
#pragma once

#include "repro/case.h"

namespace dsafuzz {

inline Case example_case() {
  Case c;
  c.scenario = "example";
  c.seed = 42;
  c.precision = Precision::autocast_float16;
  c.phase = Phase::backward;
  c.shapes = {{"batch", 3}, {"classes", 4}};
  const auto add = [&](const char* name, std::vector<Extent> shape, Dtype dtype, Fill fill) -> TensorSpec& {
    TensorSpec t;
    t.name = name;
    t.shape = std::move(shape);
    t.dtype = dtype;
    t.fill = std::move(fill);
    c.tensors.push_back(std::move(t));
    return c.tensors.back();
  };
  Fill literal;
  literal.kind = Fill::Kind::literal;
  literal.literal = {std::int64_t{1}, std::int64_t{INT64_MIN}, std::int64_t{INT64_MAX}};
  TensorSpec& labels = add("labels", {{"batch"}}, Dtype::int64, literal);
  labels.set = {{0, std::int64_t{-100}}, {2, std::int64_t{5}}};
  labels.layout = Layout::offset;
  Fill randn;
  randn.kind = Fill::Kind::randn;
  TensorSpec& scores = add("model.0.scores", {{"batch"}, {"2 * classes + 1"}}, Dtype::float16, randn);
  scores.set = {{1, 0.1}, {2, -0.0}, {3, __builtin_nan("")}, {4, -__builtin_inf()}, {5, std::int64_t{7}}};
  scores.parameter = true;
  scores.device = 1;
  Fill uniform;
  uniform.kind = Fill::Kind::uniform;
  uniform.low = -1.5;
  uniform.high = 1e-7;
  add("noise", {}, Dtype::float32, uniform);
  Fill randint;
  randint.kind = Fill::Kind::randint;
  randint.from = {"-classes"};
  randint.to = {"classes"};
  add("picked", {{"batch"}, {"1"}}, Dtype::int32, randint).layout = Layout::transposed;
  Fill arange;
  arange.kind = Fill::Kind::arange;
  add("steps_in", {{"0"}}, Dtype::uint8, arange);
  c.steps = {
      {{"a", "b"}, "aten::max.dim", {{"", {Name{"model.0.scores"}}}, {"", {std::int64_t{1}}}, {"keepdim", {true}}}},
      {{}, "aten::_assert_async.msg", {{"", {Name{"a"}}}, {"", {std::string("a \"quoted\": # text\\")}}}},
      {{"c"}, "module:net.pt", {{"", {List{{Value{Name{"a"}}, Value{std::monostate{}}, Value{1.5}, Value{List{}}}}}}}}};
  return c;
}

}  // namespace dsafuzz
