// Losses forward and backward, the basic operators of tensors, and a model through the CPU fallback: the same values as
// LibTorch's CPU operators give.
#include "tests/kernels/aten_parity.h"

namespace {

Tensor log_probabilities(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) {
  return at::log_softmax(ramp(sizes, at::kDouble), sizes.size() == 1 ? 0 : 1).to(type);
}

struct Loss {
  Tensor input, labels, weights;
  int64_t reduction = at::Reduction::Mean, ignore_index = -100;
};

// Forward and backward, by the operators that autograd would call.
Tensors loss_on(Device device, const Loss& loss) {
  const Tensor input = loss.input.to(device);
  const Tensor labels = loss.labels.to(device);
  const std::optional<Tensor> weights =
      loss.weights.defined() ? std::optional<Tensor>(loss.weights.to(device)) : std::nullopt;
  const bool spatial = input.dim() == 4;
  auto [output, total] = spatial ? at::nll_loss2d_forward(input, labels, weights, loss.reduction, loss.ignore_index)
                                 : at::nll_loss_forward(input, labels, weights, loss.reduction, loss.ignore_index);
  const Tensor grad = at::ones_like(output).mul(2);
  const Tensor gradient =
      spatial ? at::nll_loss2d_backward(grad, input, labels, weights, loss.reduction, loss.ignore_index, total)
              : at::nll_loss_backward(grad, input, labels, weights, loss.reduction, loss.ignore_index, total);
  return {output, total, gradient};
}

Parity loss_row(const char* name, const Loss& loss, double tolerance = 1e-6) {
  return {name, [loss](Device device) { return loss_on(device, loss); }, tolerance};
}

std::vector<Parity> loss_rows() {
  const Tensor weights = at::tensor({0.5, 1.0, 2.0}).to(at::kFloat);
  const Tensor labels = longs({0, 2, 1, 2, 0});
  const Tensor input = log_probabilities({5, 3});
  const Tensor wide = log_probabilities({5, 6});
  const Tensor spatial = log_probabilities({2, 3, 2, 2});
  const Tensor pixels = longs({0, 1, 2, 2, 1, 1, 0, 2}).reshape({2, 2, 2});
  const auto counted = [](at::IntArrayRef size) {
    return at::arange(c10::multiply_integers(size), at::kLong).reshape(size) % 3;
  };
  constexpr auto kNone = at::Reduction::None;
  constexpr auto kSum = at::Reduction::Sum;
  constexpr auto kMean = at::Reduction::Mean;
  return {
      // sizes at the edges
      loss_row("empty batch, none", {input.slice(0, 0, 0), labels.slice(0, 0, 0), {}, kNone}),
      loss_row("empty batch, sum", {input.slice(0, 0, 0), labels.slice(0, 0, 0), {}, kSum}),
      loss_row("empty batch, mean", {input.slice(0, 0, 0), labels.slice(0, 0, 0), {}, kMean}),
      loss_row("one class", {log_probabilities({2, 1}), longs({0, 0}), {}, kMean}),
      loss_row("one sample without batch", {input[0], at::scalar_tensor(2, at::kLong), {}, kMean}),
      loss_row("without batch, ignored, sum", {input[0], at::scalar_tensor(-100, at::kLong), {}, kSum}),
      loss_row("without batch, weights", {input[0], at::scalar_tensor(2, at::kLong), weights, kSum}),
      loss_row("31 samples", {log_probabilities({31, 3}), at::arange(31, at::kLong) % 3, {}, kMean}),
      loss_row("33 samples", {log_probabilities({33, 3}), at::arange(33, at::kLong) % 3, {}, kMean}),
      loss_row("1025 samples, none", {log_probabilities({1025, 3}), at::arange(1025, at::kLong) % 3, {}, kNone}),
      // attributes
      loss_row("none", {input, labels, {}, kNone}),
      loss_row("sum", {input, labels, {}, kSum}),
      loss_row("mean, weights", {input, labels, weights, kMean}),
      loss_row("none, weights, ignored", {input, labels, weights, kNone, 2}),
      loss_row("ignored label beyond the classes", {input, longs({0, 7, 1, 7, 0}), {}, kMean, 7}),
      loss_row("all ignored, mean is NaN", {input, longs({7, 7, 7, 7, 7}), {}, kMean, 7}),
      // types
      loss_row("double", {input.to(at::kDouble), labels, weights.to(at::kDouble), kMean}, 1e-12),
      loss_row("half", {input.to(at::kHalf), labels, weights.to(at::kHalf), kMean}, 2e-3),
      loss_row("bfloat16", {input.to(at::kBFloat16), labels, {}, kSum}, 2e-2),
      loss_row("half, none", {input.to(at::kHalf), labels, {}, kNone}, 1e-3),
      loss_row("uint8 labels", {input, labels.to(at::kByte), {}, kMean}),
      loss_row("uint8 labels, none", {input, labels.to(at::kByte), {}, kNone}),
      // layouts
      loss_row("transposed input", {log_probabilities({3, 5}).t(), labels, {}, kMean}),
      loss_row("every second class", {wide.slice(1, 0, 6, 2), labels, {}, kMean}),
      loss_row("expanded input", {input[0].unsqueeze(0).expand({5, 3}), labels, {}, kMean}),
      loss_row("expanded label", {input, longs({1}).expand({5}), {}, kNone}),
      loss_row("offset input and labels", {input.slice(0, 1), labels.slice(0, 1), {}, kMean}),
      // one label a pixel
      loss_row("2d, mean", {spatial, pixels, {}, kMean}),
      loss_row("2d, sum, weights", {spatial, pixels, weights, kSum}),
      loss_row("2d, none, weights, ignored", {spatial, pixels, weights, kNone, 1}),
      loss_row("2d, empty, mean", {spatial.slice(0, 0, 0), pixels.slice(0, 0, 0), {}, kMean}),
      loss_row("2d, half", {spatial.to(at::kHalf), pixels, {}, kMean}, 2e-3),
      loss_row("2d, every second class", {log_probabilities({2, 6, 2, 2}).slice(1, 0, 6, 2), pixels, {}, kMean}),
      loss_row("2d, none, several blocks", {log_probabilities({3, 3, 23, 37}), counted({3, 23, 37}), {}, kNone}),
      loss_row("2d, none, more samples than threads",
               {log_probabilities({1030, 3, 2, 3}), counted({1030, 2, 3}), weights, kNone, 1}),
      loss_row("2d, transposed labels", {spatial, pixels.transpose(1, 2), {}, kNone}),
  };
}

std::vector<Parity> basic_rows() {
  const Tensor x = ramp({3, 4});
  return {
      {"to and back", [=](Device d) { return Tensors{x.to(d)}; }},
      {"type changes on the way",
       [=](Device d) {
         return Tensors{x.to(d, at::kHalf), x.to(d).to(at::kInt)};
       }},
      {"empty",
       [](Device d) {
         return Tensors{at::empty({0, 3}, d), at::zeros({2, 0}, d).sum()};
       }},
      {"views",
       [=](Device d) {
         const Tensor y = x.to(d);
         return Tensors{y[1],        y.t(), y.slice(1, 1, 4, 2), y.view({2, 6}), y.unfold(1, 2, 1), y.expand({2, 3, 4}),
                        y.diagonal()};
       }},
      {"writes through views",
       [=](Device d) {
         const Tensor y = x.to(d).clone();
         y.slice(1, 0, 4, 2).fill_(7);
         y.t()[1].zero_();
         y[0].copy_(x[2]);
         y.select(1, 3).copy_(x.select(1, 0).to(d));
         return Tensors{y};
       }},
      {"copy_ broadcasts",
       [=](Device d) {
         return Tensors{at::empty({3, 4}, d).copy_(x[0])};
       }},
      {"complex and conjugate",
       [=](Device d) {
         const Tensor z = at::complex(x, x + 1).to(d);
         return Tensors{z.conj(), at::view_as_real(z), z.conj().clone()};
       }},
      {"item", [=](Device d) { return Tensors{at::scalar_tensor(x.to(d)[1][2].item().toDouble())}; }},
      {"resize_",
       [=](Device d) {
         const Tensor y = x.to(d).clone();
         y.resize_({2, 2});
         const Tensor small = y.clone();
         y.resize_({4, 4});
         return Tensors{small, y.view({16}).slice(0, 0, 12)};
       }},
      {"factories",
       [](Device d) {
         return Tensors{at::arange(5, at::TensorOptions(d)), at::full({2}, 3, at::TensorOptions(d)),
                        at::eye(3, at::TensorOptions(d)), at::ones({2}, at::TensorOptions(d).dtype(at::kBool))};
       }},
      {"a model's operators",
       [=](Device d) {
         const Tensor y = at::relu(at::linear(x.to(d), ramp({5, 4}).to(d), ramp({5}).to(d)));
         return Tensors{at::log_softmax(y, 1), at::layer_norm(y, {5}), at::cat({y, y}, 1), at::where(y > 0, y, -1)};
       },
       1e-5},
      {"the operators of dsafuzz",
       [=](Device d) {
         const Tensor block = at::arange(256, at::kFloat).to(d);
         return Tensors{call_operator("dsafuzz::scale", x.to(d), 2.5), call_operator("dsafuzz::sum_alive", x.to(d)),
                        call_operator("dsafuzz::scale_without_bounds_check", block, 0.5)};
       },
       1e-5},
  };
}

TEST_F(AtenParityTest, Losses) { compare(loss_rows()); }
TEST_F(AtenParityTest, TensorsAndFallback) { compare(basic_rows()); }

TEST_F(AtenParityTest, BackwardThroughAModel) {
  const auto gradients = [](Device device) {
    const Tensor weight = ramp({3, 4}).to(device).requires_grad_();
    const Tensor table = ramp({6, 4}).to(device).requires_grad_();
    const Tensor x = at::embedding(table, longs({5, 0, 5}).to(device));
    at::cross_entropy_loss(at::linear(x, weight), longs({0, 2, 1}).to(device)).backward();
    return Tensors{weight.grad(), table.grad()};
  };
  compare({{"embedding, linear, cross_entropy", gradients, 1e-5}});
}

}  // namespace
