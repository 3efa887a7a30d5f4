#include "fake_executor.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "repro/fill.h"

namespace dsafuzz {
namespace {

std::int64_t size_of(const Case& c, const char* name) {
  const auto found = c.shapes.find(name);
  return found == c.shapes.end() ? 1 : found->second;
}

// What a kernel would read: an expanded tensor is its first slice.
std::vector<Number> read_by_kernel(const Case& c, const TensorSpec& tensor) {
  std::vector<Number> values = contents(c, tensor);
  const auto shape = *concrete_shape(tensor, c.shapes);
  if (tensor.layout == Layout::expanded && !values.empty())
    values.resize(values.size() / static_cast<std::size_t>(shape[0]));
  return values;
}

// The index of the first bad label, or -1.
std::int64_t bad_label(const Case& c) {
  const TensorSpec* labels = c.find_tensor("labels");
  if (!labels) return -1;
  const std::int64_t classes = size_of(c, "classes");
  const auto values = read_by_kernel(c, *labels);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto* label = std::get_if<std::int64_t>(&values[i]);
    if (label && (*label < 0 || *label >= classes) && *label != -100) return static_cast<std::int64_t>(i);
  }
  return -1;
}

bool has_nan(const Case& c) {
  const TensorSpec* logits = c.find_tensor("logits");
  return logits && is_floating(logits->dtype) &&
         std::ranges::any_of(read_by_kernel(c, *logits), [](const Number& n) { return std::isnan(as_double(n)); });
}

}  // namespace

Outcome FakeExecutor::outcome_of(const Case& c) {
  Outcome o;
  o.step = 0;
  o.op = c.steps.front().op;
  o.device = settings_.device.text();
  const std::int64_t bad = bad_label(c);
  if (settings_.device.kind == Device::Kind::cpu) {
    if (bad < 0) return o;
    o.end = Outcome::End::threw;
    o.error_type = "c10::IndexError";
    o.error = "Target is out of bounds.";
    return o;
  }
  if (bugs_.nan_crashes && has_nan(c)) {
    o.end = Outcome::End::signalled;
    o.code = 11;
    return o;
  }
  if (bugs_.lone_label_crashes && bad >= 0 && size_of(c, "batch") == 1) {
    o.end = Outcome::End::signalled;
    o.code = 11;
    return o;
  }
  if (bugs_.big_batch_hangs && size_of(c, "batch") >= 257) {
    o.end = Outcome::End::timed_out;
    return o;
  }
  if (bad >= 0 && bugs_.label_asserts) {
    o.end = Outcome::End::threw;
    o.error_type = "c10::AcceleratorError";
    o.error = "CUDA error: device-side assert triggered";
    o.log =
        "/pytorch/aten/src/ATen/native/cuda/Loss.cu:245: nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], "
        "thread: [" +
        std::to_string(bad) + ",0,0] Assertion `t >= 0 && t < n_classes` failed.\n";
    return o;
  }
  o.step = static_cast<int>(c.steps.size());
  return o;
}

Result<Outcome> FakeExecutor::run(const Case& c, std::span<std::uint8_t> features) {
  ++runs;
  if (bugs_.hang_here_after != 0 && runs > bugs_.hang_here_after) ::sleep(600);
  const Outcome o = outcome_of(c);
  const bool bug = o.end != Outcome::End::returned && settings_.device.kind != Device::Kind::cpu;
  if (const int us = bugs_.sleep_us + (bug ? bugs_.assert_us : 0); us > 0) ::usleep(static_cast<useconds_t>(us));
  if (!features.empty()) {
    std::ranges::fill(features, std::uint8_t{0});
    // Coverage as kernels would give it: sizes by power of two, dtypes, phase, and how close labels come to the limit.
    features[1 + static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(size_of(c, "batch"))))] = 1;
    features[70 + static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(size_of(c, "classes"))))] = 1;
    features[140 + static_cast<std::size_t>(c.precision)] = 1;
    features[150 + static_cast<std::size_t>(c.phase)] = 1;
    if (const TensorSpec* labels = c.find_tensor("labels")) features[160 + static_cast<std::size_t>(labels->dtype)] = 1;
  }
  return o;
}

Result<Outcome> FakeExecutor::run_fresh(const Case& c) {
  ++fresh_runs;
  Outcome o = outcome_of(c);
  if (bugs_.flaky > 0 && o.end != Outcome::End::returned && fresh_runs % static_cast<std::uint64_t>(bugs_.flaky) != 0) {
    o = Outcome{};
    o.step = static_cast<int>(c.steps.size());
    o.device = settings_.device.text();
  }
  return o;
}

std::string classic_yaml() {
  return R"yaml(scenario: classic
claim: A class label outside [0, classes) stops the loss kernel.
seed: 42
shapes:
  batch: {default: 32, range: [0, 4096]}
  classes: {default: 5, range: [1, 1000]}
tensors:
  logits: {shape: [batch, classes], dtype: float32, fill: randn}
  labels: {shape: [batch], dtype: int64, fill: {randint: [0, classes]}, legal: {from: 0, below: classes, also: [-100]}}
steps:
  - loss = aten::cross_entropy_loss(logits, labels, reduction=mean, ignore_index=-100)
vary: [labels, batch, classes]
expect:
  verdict: device_assert
)yaml";
}

Scenario classic_scenario(bool more) {
  Scenario s;
  s.name = s.base.scenario = "classic";
  s.base.seed = 42;
  s.base.shapes = {{"batch", 32}, {"classes", 5}};
  TensorSpec logits{.name = "logits", .shape = {{"batch"}, {"classes"}}, .fill = {.kind = Fill::Kind::randn}};
  TensorSpec labels{.name = "labels",
                    .shape = {{"batch"}},
                    .dtype = Dtype::int64,
                    .fill = {.kind = Fill::Kind::randint, .from = {"0"}, .to = {"classes"}}};
  s.base.tensors = {logits, labels};
  s.base.steps = {{.results = {"loss"},
                   .op = "aten::cross_entropy_loss",
                   .arguments = {{"", {Name{"logits"}}},
                                 {"", {Name{"labels"}}},
                                 {"reduction", {Name{"mean"}}},
                                 {"ignore_index", {std::int64_t{-100}}}}}};
  s.ranges = {{"batch", {0, 4096}}, {"classes", {1, 1000}}};
  s.legal["labels"] = {.from = {"0"}, .to = {"classes"}, .also = {-100}};
  s.vary.values = {"labels"};
  if (!more) return s;
  s.vary.values = {"labels", "logits"};
  s.vary.shapes = {"batch", "classes"};
  s.vary.dtypes = {"labels", "logits"};
  s.vary.layouts = {"labels", "logits"};
  s.vary.attributes = {{"loss", "reduction"}};
  s.vary.precision = s.vary.phase = true;
  s.dtypes = {{"labels", {Dtype::int64, Dtype::int32, Dtype::int8, Dtype::uint8}},
              {"logits", {Dtype::float32, Dtype::float16, Dtype::float64}}};
  s.precisions = {Precision::none, Precision::autocast_float16, Precision::half};
  s.phases = {Phase::forward, Phase::backward};
  return s;
}

Scenario healthy_scenario() {
  Scenario s = classic_scenario();
  s.name = s.base.scenario = "classic_healthy";
  s.only_legal = true;
  return s;
}

}  // namespace dsafuzz
