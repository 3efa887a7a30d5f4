// Pools, bags, repeats and segments, forward and backward: the same values as LibTorch's CPU operators give.
#include "tests/kernels/aten_parity.h"

namespace {

enum Mode : std::int64_t { kSum = 0, kMean = 1, kMax = 2 };

// The overload of indices; with a number as the second argument another one would be taken.
Tensor repeat(const Tensor& repeats, std::optional<std::int64_t> output_size = std::nullopt) {
  return at::repeat_interleave(repeats, output_size);
}

// Forward and backward by the operators that autograd would call.
struct Bag {
  Tensor weight, indices, offsets;
  Mode mode = kSum;
  Tensor samples = {};
  bool last = false;
  std::int64_t padding = -1;
  bool by_frequency = false;
};

Tensors bag_on(Device device, const Bag& given) {
  const Tensor weight = given.weight.to(device), indices = given.indices.to(device), offsets = given.offsets.to(device);
  const auto samples = given.samples.defined() ? std::optional<Tensor>(given.samples.to(device)) : std::nullopt;
  const auto [output, offset2bag, bag_size, max_indices] = at::_embedding_bag(
      weight, indices, offsets, given.by_frequency, given.mode, false, samples, given.last, given.padding);
  const Tensor grad = ramp(output.sizes()).to(weight.scalar_type()).to(device);
  Tensors all = {output,
                 at::_embedding_bag_backward(grad, indices, offsets, offset2bag, bag_size, max_indices, weight.size(0),
                                             given.by_frequency, given.mode, false, samples, given.padding)};
  if (samples.has_value()) {
    all.push_back(at::_embedding_bag_per_sample_weights_backward(grad, weight, indices, offsets, offset2bag, given.mode,
                                                                 given.padding));
  }
  return all;
}

Parity bag_row(const char* name, const Bag& given, double tolerance = 1e-6) {
  return {name, [given](Device device) { return bag_on(device, given); }, tolerance};
}

std::vector<Parity> bag_rows() {
  const Tensor weight = ramp({6, 5});
  const Tensor indices = longs({5, 0, 2, 2, 4, 0, 1});
  const Tensor offsets = longs({0, 3, 3, 5});  // one bag is empty
  const Tensor samples = ramp({7}) + 0.5;
  std::vector<Parity> rows = {
      bag_row("one row", {ramp({1, 1}), longs({0}), longs({0}), kMean}),
      bag_row("no indices", {weight, longs({}), longs({0, 0}), kSum}),
      bag_row("no bags", {weight, longs({}), longs({}), kSum}),
      bag_row("offsets with the last one", {weight, indices, longs({0, 3, 7}), kSum, {}, true}),
      bag_row("padding", {weight, indices, offsets, kMean, {}, false, 2}),
      bag_row("padding, maximum", {weight, indices, offsets, kMax, {}, false, 0}),
      bag_row("sample weights", {weight, indices, offsets, kSum, samples}),
      bag_row("sample weights, padding", {weight, indices, offsets, kSum, samples, false, 2}),
      bag_row("sample weights, every second", {weight, indices, offsets, kSum, ramp({14}).slice(0, 0, 14, 2)}),
      bag_row("transposed weight", {ramp({5, 6}).t(), indices, offsets, kMean}),
      bag_row("expanded weight", {ramp({1, 5}).expand({6, 5}), indices, offsets, kSum}),
      bag_row("int32", {weight, indices.to(at::kInt), offsets.to(at::kInt), kMean}),
      bag_row("70 features in 20 bags", {ramp({6, 70}), at::arange(60, at::kLong) % 6, at::arange(20, at::kLong) * 3}),
  };
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    for (const Mode mode : {kSum, kMean, kMax}) {
      const double tolerance = type == at::kHalf ? 2e-3 : type == at::kBFloat16 ? 2e-2 : 1e-6;
      rows.push_back(bag_row("every type and mode", {weight.to(type), indices, offsets, mode}, tolerance));
    }
  }
  return rows;
}

std::vector<Parity> repeat_rows() {
  const auto row = [](const char* name, const Tensor& repeats, std::optional<std::int64_t> size) {
    return Parity{name, [=](Device d) { return Tensors{repeat(repeats.to(d), size)}; }};
  };
  return {
      row("empty", longs({}), std::nullopt),
      row("size unknown", longs({2, 0, 3}), std::nullopt),
      row("size given", longs({2, 0, 3}), 5),
      row("zero in all", longs({0, 0}), 0),
      row("int32", longs({1, 40}, at::kInt), 41),
      row("every second", longs({1, 9, 2, 9}).slice(0, 0, 4, 2), 3),
      row("600 repeats", at::arange(600, at::kLong) % 3, std::nullopt),
      {"of a tensor",
       [](Device d) {
         return Tensors{ramp({3, 2}).to(d).repeat_interleave(longs({1, 0, 2}).to(d), 0, 3)};
       }},
      {"one repeat for all",
       [](Device d) {
         return Tensors{ramp({3, 2}).to(d).repeat_interleave(longs({2}).to(d), 1)};
       }},
  };
}

// Types that the CPU has no kernel for are computed as float there.
Tensor cast(const Tensor& tensor, at::ScalarType type, Device device) {
  return device.is_cpu() ? tensor.to(type).to(at::kFloat) : tensor.to(type).to(device);
}

std::vector<Parity> unpool_rows() {
  const Tensor image = ramp({2, 3, 6, 4});
  const Tensor volume = ramp({2, 3, 4, 6, 2});
  const auto two = [](const char* name, const Tensor& x, at::ScalarType type = at::kFloat) {
    return Parity{
        name, [=](Device d) {
          const auto [pooled, where] = at::max_pool2d_with_indices(x, {2, 2});
          return Tensors{
              at::max_unpool2d(cast(pooled * 8, type, d), where.to(d), {x.size(-2) + 1, x.size(-1)}).to(at::kFloat)};
        }};
  };
  const auto three = [](const char* name, const Tensor& x, at::ScalarType type = at::kFloat) {
    return Parity{
        name, [=](Device d) {
          const auto [pooled, where] = at::max_pool3d_with_indices(x, {2, 2, 2});
          return Tensors{
              at::max_unpool3d(cast(pooled * 8, type, d), where.to(d), {4, 6, 2}, {2, 2, 2}, {0, 0, 0}).to(at::kFloat)};
        }};
  };
  std::vector<Parity> rows = {
      two("2d", image),
      two("2d, no batch", image[1]),
      two("2d, empty batch", image.slice(0, 0, 0)),
      two("2d, 1200 elements", ramp({1, 1, 60, 80})),
      three("3d", volume),
      three("3d, no batch", volume[1]),
      {"2d, transposed and expanded",
       [](Device d) {
         return Tensors{at::max_unpool2d(ramp({1, 2, 3}).to(d).transpose(1, 2),
                                         longs({0, 1, 2, 3, 4, 5}).reshape({1, 3, 2}).to(d), {2, 3}),
                        at::max_unpool2d(ramp({1, 1, 2}).to(d).expand({2, 1, 2}),
                                         longs({3, 0}).reshape({1, 1, 2}).expand({2, 1, 2}).to(d), {2, 2})};
       }},
      {"2d, gradient",
       [](Device d) {
         const Tensor x = ramp({1, 2, 1, 2}).to(d).requires_grad_();
         at::max_unpool2d(x, longs({0, 5, 3, 1}).reshape({1, 2, 1, 2}).to(d), {2, 3})
             .mul(ramp({1, 2, 2, 3}).to(d))
             .sum()
             .backward();
         return Tensors{x.grad()};
       }},
  };
  for (const at::ScalarType type :
       {at::kDouble, at::kHalf, at::kBFloat16, at::kInt, at::kLong, at::kShort, at::kChar}) {
    rows.push_back(two("2d, every type", image, type));
    rows.push_back(three("3d, every type", volume, type));
  }
  return rows;
}

std::vector<Parity> pool_gradient_rows() {
  std::vector<Parity> rows;
  const auto layouts = [](const Tensor& x, Device d) {
    return std::vector<Tensor>{x.to(d), x.transpose(-1, -2).contiguous().to(d).transpose(-1, -2)};
  };
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const double tolerance = type == at::kHalf ? 4e-3 : type == at::kBFloat16 ? 3e-2 : 1e-6;
    rows.push_back(
        {"fractional 2d",
         [=](Device d) {
           const Tensor x = ramp({2, 3, 8, 7}), samples = ramp({2, 3, 2}).abs().div(4).clamp(0, 0.99);
           const Tensor where = std::get<1>(at::fractional_max_pool2d(x, {3, 2}, {4, 3}, samples)).to(d);
           const Tensor grad = cast(ramp({2, 3, 4, 3}), type, d);
           return Tensors{
               at::fractional_max_pool2d_backward(grad, cast(x, type, d), {3, 2}, {4, 3}, where).to(at::kFloat),
               at::fractional_max_pool2d_backward(grad[0], cast(x[0], type, d), {3, 2}, {4, 3}, where[0])
                   .to(at::kFloat)};
         },
         tolerance});
    rows.push_back(
        {"fractional 3d",
         [=](Device d) {
           const Tensor x = ramp({2, 3, 5, 8, 7}), samples = ramp({2, 3, 3}).abs().div(4).clamp(0, 0.99);
           const Tensor where = std::get<1>(at::fractional_max_pool3d(x, {2, 3, 2}, {2, 4, 3}, samples)).to(d);
           const Tensor grad = cast(ramp({2, 3, 2, 4, 3}), type, d);
           return Tensors{
               at::fractional_max_pool3d_backward(grad, cast(x, type, d), {2, 3, 2}, {2, 4, 3}, where).to(at::kFloat),
               at::fractional_max_pool3d_backward(grad[0], cast(x[0], type, d), {2, 3, 2}, {2, 4, 3}, where[0])
                   .to(at::kFloat)};
         },
         tolerance});
    for (const std::int64_t stride : {1, 2, 3}) {
      for (const std::int64_t dilation : {1, 2}) {
        rows.push_back({"max 2d",
                        [=](Device d) {
                          const Tensor x = ramp({2, 3, 9, 7});
                          const auto [y, where] = at::max_pool2d_with_indices(x, {3, 2}, stride, 1, dilation);
                          Tensors all;
                          for (const Tensor& grad :
                               layouts(cast(ramp(y.sizes()), type, at::kCPU).to(cast(x, type, d).scalar_type()), d)) {
                            for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
                              all.push_back(
                                  at::max_pool2d_with_indices_backward(grad, cast(x, type, d).contiguous(format),
                                                                       {3, 2}, stride, 1, dilation, false, where.to(d))
                                      .to(at::kFloat));
                            }
                          }
                          return all;
                        },
                        tolerance});
        rows.push_back({"max 3d",
                        [=](Device d) {
                          const Tensor x = ramp({2, 2, 5, 9, 7});
                          const auto [y, where] = at::max_pool3d_with_indices(x, {3, 3, 2}, stride, 1, dilation);
                          return Tensors{
                              at::max_pool3d_with_indices_backward(cast(ramp(y.sizes()), type, d), cast(x, type, d),
                                                                   {3, 3, 2}, stride, 1, dilation, false, where.to(d))
                                  .to(at::kFloat),
                              at::max_pool3d_with_indices_backward(cast(ramp(y.sizes())[1], type, d),
                                                                   cast(x[1], type, d), {3, 3, 2}, stride, 1, dilation,
                                                                   false, where[1].to(d))
                                  .to(at::kFloat)};
                        },
                        tolerance});
      }
    }
    for (const std::int64_t size : {1, 3, 4}) {
      rows.push_back(
          {"adaptive",
           [=](Device d) {
             const Tensor x = ramp({2, 3, 8, 5}), z = ramp({2, 3, 4, 8, 4});
             const auto [y, where] = at::adaptive_max_pool2d(x, {size, 2});
             const auto [u, place] = at::adaptive_max_pool3d(z, {2, size, 2});
             return Tensors{
                 at::adaptive_max_pool2d_backward(cast(ramp(y.sizes()), type, d), cast(x, type, d), where.to(d))
                     .to(at::kFloat),
                 at::adaptive_max_pool2d_backward(cast(ramp(y.sizes())[0], type, d), cast(x[0], type, d),
                                                  where[0].to(d))
                     .to(at::kFloat),
                 at::adaptive_max_pool3d_backward(cast(ramp(u.sizes()), type, d), cast(z, type, d), place.to(d))
                     .to(at::kFloat)};
           },
           tolerance});
    }
  }
  rows.push_back({"gradient of max_pool2d by autograd, none and empty", [](Device d) {
                    const Tensor x = ramp({1, 2, 5, 5}).to(d).requires_grad_();
                    at::max_pool2d(x, {2, 2}, {1, 1}).mul(3).sum().backward();
                    const Tensor none = at::empty({0, 2, 4, 4}).to(d);
                    return Tensors{x.grad(), at::max_pool2d_with_indices_backward(
                                                 at::empty({0, 2, 2, 2}).to(d), none, {2, 2}, {2, 2}, {0, 0}, {1, 1},
                                                 false, at::empty({0, 2, 2, 2}, at::kLong).to(d))};
                  }});
  return rows;
}

struct Segments {
  Tensor data, lengths, offsets;
  std::int64_t axis = 0;
  std::optional<at::Scalar> initial = std::nullopt;
};

Parity segment_row(const char* name, const char* reduce, const Segments& given, double tolerance) {
  return {name,
          [=](Device d) {
            const Tensor data = given.data.to(d);
            std::optional<Tensor> lengths, offsets;
            if (given.lengths.defined()) lengths = given.lengths.to(d);
            if (given.offsets.defined()) offsets = given.offsets.to(d);
            const Tensor out = at::segment_reduce(data, reduce, lengths, {}, offsets, given.axis, false, given.initial);
            const Tensor grad = ramp(out.sizes()).to(data.scalar_type()).to(d);
            return Tensors{out, at::_segment_reduce_backward(grad, out, data, reduce, lengths, offsets, given.axis,
                                                             given.initial)};
          },
          tolerance};
}

std::vector<Parity> segment_rows() {
  std::vector<Parity> rows;
  const Tensor line = ramp({9}), plane = ramp({9, 3}), cube = ramp({2, 9, 3});
  const Tensor lengths = longs({2, 0, 3, 4}), bounds = longs({0, 2, 2, 5, 9});
  const Tensor two = longs({2, 0, 3, 4, 9, 0, 0, 0}).reshape({2, 4});
  for (const char* reduce : {"sum", "mean", "max", "min", "prod"}) {
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
      const double tolerance = type == at::kHalf ? 5e-3 : type == at::kBFloat16 ? 4e-2 : 1e-6;
      rows.push_back(segment_row("line", reduce, {line.to(type), lengths, {}}, tolerance));
      rows.push_back(segment_row("plane", reduce, {plane.to(type), lengths, {}}, tolerance));
    }
    rows.push_back(segment_row("line by bounds", reduce, {line, {}, bounds}, 1e-6));
    rows.push_back(segment_row("plane by bounds, int32", reduce, {plane, {}, bounds.to(at::kInt)}, 1e-6));
    rows.push_back(segment_row("cube, second axis", reduce, {cube, two, {}, 1}, 1e-6));
    rows.push_back(segment_row("transposed", reduce, {ramp({3, 9}).t(), lengths, {}}, 1e-6));
    rows.push_back(segment_row("offset", reduce, {ramp({10}).slice(0, 1), lengths, {}}, 1e-6));
    rows.push_back(segment_row("starting value", reduce, {line, lengths, {}, 0, 2.5}, 1e-6));
    rows.push_back(segment_row("plane, starting value", reduce, {plane, lengths, {}, 0, 2.5}, 1e-6));
    rows.push_back(
        segment_row("no numbers", reduce, {line.index_put({longs({3})}, at::scalar_tensor(NAN)), lengths, {}}, 1e-6));
    rows.push_back(segment_row("zeros and equals", reduce, {at::zeros({9, 2}), lengths, {}}, 1e-6));
  }
  return rows;
}

class AtenPoolingParityTest : public AtenParityTest {};

TEST_F(AtenPoolingParityTest, BagValues) { compare(bag_rows()); }

// Here the documentation decides: a gradient is divided by how often its index occurs among the indices. PyTorch's CPU
// kernel divides some by another index's count when the indices are not sorted.
TEST_F(AtenPoolingParityTest, GradientsByFrequency) {
  const Bag given{ramp({6, 5}), longs({5, 0, 2, 2, 4, 0, 1}), longs({0, 3, 3, 5}), kSum, {}, false, -1, true};
  const Tensor bags = longs({0, 0, 0, 2, 2, 3, 3});
  const Tensor grad = ramp({4, 5});
  Tensor expected = at::zeros({6, 5}).index_add(0, given.indices, grad.index_select(0, bags));
  expected.div_(at::bincount(given.indices, {}, 6).clamp_min(1).unsqueeze(1));
  EXPECT_TRUE(at::allclose(bag_on(vcuda_device(), given)[1].cpu(), expected));
}

TEST_F(AtenPoolingParityTest, RepeatValues) { compare(repeat_rows()); }
TEST_F(AtenPoolingParityTest, UnpoolValues) { compare(unpool_rows()); }
TEST_F(AtenPoolingParityTest, PoolGradients) { compare(pool_gradient_rows()); }
TEST_F(AtenPoolingParityTest, SegmentValues) { compare(segment_rows()); }

}  // namespace
