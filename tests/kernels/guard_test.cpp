// The guard refuses what the operators' documentation calls illegal and the CPU or the kernels refuse too, names the
// element, and computes what ATen computes otherwise: on the CPU and on the virtual device.
#include <dsafuzz/guard.h>
#include <dsafuzz/guarded_dataset.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/kernels/aten_fixture.h"

namespace {

namespace guard = dsafuzz::guard;
using guard::Legal;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class GuardTest : public AtenTest {
 protected:
  void SetUp() override {
    AtenTest::SetUp();
    guard::set_enabled(true);
    guard::counters().reset();
  }
};

at::Tensor floats(std::vector<double> values, at::ScalarType type = at::kFloat) {
  return at::tensor(values, at::TensorOptions(at::kDouble)).to(type);
}

// What the call is refused with; nothing if it returns.
std::optional<guard::Violation> refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const guard::ViolationError& error) {
    EXPECT_EQ(error.what(), error.violation().text());
    return error.violation();
  }
  return std::nullopt;
}

// Every row: values, what is legal, and the text of the refusal; empty: none.
struct ValueRow {
  const char* name;
  at::Tensor values;
  Legal legal;
  std::string text;
};

TEST_F(GuardTest, values_at_the_edges) {
  const std::int64_t huge = std::int64_t{1} << 53;
  const std::vector<ValueRow> rows{
      // Labels: [0, classes), or ignore_index.
      {"first and last class", longs({0, 4}), Legal::labels(5), ""},
      {"one past the last", longs({0, 5, 5}), Legal::labels(5),
       "f: x[1] is 5, but must be in [0, 5) (2 of 3 elements are not)"},
      {"below 0", longs({-1}), Legal::labels(5), "f: x[0] is -1, but must be in [0, 5)"},
      {"ignored", longs({-100, 3}), Legal::labels(5, -100), ""},
      {"beside the ignored", longs({-100, -99}), Legal::labels(5, -100),
       "f: x[1] is -99, but must be in [0, 5) or -100 (1 of 2 elements are not)"},
      {"all ignored, no classes", longs({-100}), Legal::labels(0, -100), ""},
      {"no classes", longs({0}), Legal::labels(0, -100), "f: x[0] is 0, but must be in [0, 0) or -100"},
      {"bytes that ignore 255", longs({255, 4}, at::kByte), Legal::labels(5, 255), ""},
      {"bytes cannot be -100", longs({156}, at::kByte), Legal::labels(5, -100),  // -100 in 8 bits
       "f: x[0] is 156, but must be in [0, 5) or -100"},
      {"8 bits, 1000 classes", longs({127}, at::kChar), Legal::labels(1000), ""},
      {"8 bits below 0, 1000 classes", longs({-1}, at::kChar), Legal::labels(1000, 5000),
       "f: x[0] is -1, but must be in [0, 1000) or 5000"},
      {"scalar", longs({7})[0], Legal::labels(5), "f: x is 7, but must be in [0, 5)"},
      {"empty", longs({}), Legal::labels(5), ""},
      // A double cannot tell these two apart.
      {"beyond a double", longs({huge + 1}), Legal::indices(huge + 1),
       "f: x[0] is 9007199254740993, but must be in "
       "[0, 9007199254740993)"},
      {"dtype", floats({1}), Legal::labels(5), "f: x's dtype is Float, but must be an integer one"},
      // Indices.
      {"counts from the end", longs({-3, 2}), Legal::indices(3, true), ""},
      {"one below", longs({-4}), Legal::indices(3, true), "f: x[0] is -4, but must be in [-3, 3)"},
      {"not from the end", longs({-1}), Legal::indices(3), "f: x[0] is -1, but must be in [0, 3)"},
      // Numbers.
      {"probabilities", floats({0, 1}), Legal::probabilities(), ""},
      {"above 1", floats({0.5, 1.5}), Legal::probabilities(),
       "f: x[1] is 1.5, but must be in [0, 1] (1 of 2 elements "
       "are not)"},
      {"just above 1", floats({std::nextafter(1.0, 2.0)}, at::kDouble), Legal::probabilities(),
       "f: x[0] is 1, but must be in [0, 1]"},
      {"NaN is no probability", floats({0.5, kNan}), Legal::probabilities(),
       "f: x[1] is nan, but must be in [0, 1] (1 of 2 elements are not)"},
      {"finite", floats({-3e38, 3e38}), Legal::finite(), ""},
      {"infinite", floats({1, -kInfinity}), Legal::finite(),
       "f: x[1] is -inf, but must be finite (1 of 2 elements are "
       "not)"},
      {"half", floats({70000}, at::kHalf), Legal::finite(), "f: x[0] is inf, but must be finite"},
      {"integers are finite", longs({7}), Legal::finite(), ""},
      {"booleans", longs({0, 1}).to(at::kBool), Legal::probabilities(), ""},
  };
  for (const ValueRow& row : rows) {
    SCOPED_TRACE(row.name);
    for (const at::Device device : {at::Device(at::kCPU), vcuda_device()}) {
      SCOPED_TRACE(device.str());
      const at::Tensor values = row.values.to(device);
      const auto refused = refusal([&] { guard::check_values(values, row.legal, {"f", "x"}); });
      EXPECT_EQ(refused ? refused->text() : "", row.text);
    }
  }
}

TEST_F(GuardTest, position_has_an_index_for_each_axis) {
  at::Tensor map = at::zeros({2, 3, 4}, at::kLong);
  map[1][2][3] = 9;
  map[1][0][1] = 8;  // the first in row-major order
  for (const at::Tensor& layout : {map, map.transpose(0, 2).contiguous().transpose(0, 2)}) {
    const auto refused = refusal([&] { guard::check_labels(layout, 8); });
    ASSERT_TRUE(refused);
    EXPECT_THAT(refused->position, ElementsAre(1, 0, 1));
    EXPECT_EQ(refused->value, "8");
    EXPECT_EQ(refused->count, 2);
    EXPECT_EQ(refused->elements, 24);
  }
}

// A call that the guard refuses, and what it names. ATen on the CPU must refuse it too, unless the row says why not.
struct CallRow {
  const char* name;
  std::function<at::Tensor(at::Device)> guarded, plain;
  std::string text;  // a part of it; empty: it is legal
  bool cpu_accepts = false;
};

TEST_F(GuardTest, calls_as_the_cpu_judges_them) {
  const at::Tensor logits = at::zeros({4, 5}), image = at::zeros({2, 5, 3, 3});
  const auto cross = [](at::Tensor input, at::Tensor target, guard::LossOptions options = {}) {
    return std::pair<std::function<at::Tensor(at::Device)>, std::function<at::Tensor(at::Device)>>(
        [=](at::Device d) {
          guard::LossOptions there = options;
          if (there.weight.defined()) there.weight = there.weight.to(d);
          return guard::cross_entropy(input.to(d), target.to(d), there);
        },
        [=](at::Device d) {
          return at::cross_entropy_loss(input.to(d), target.to(d), options.weight, options.reduction,
                                        options.ignore_index, options.label_smoothing);
        });
  };
  guard::LossOptions sum_ignoring_2;
  sum_ignoring_2.reduction = at::Reduction::Sum;
  sum_ignoring_2.ignore_index = 2;
  guard::LossOptions weighted;
  weighted.weight = at::ones({4});
  std::vector<CallRow> rows;
  const auto add = [&](const char* name, auto calls, std::string text, bool cpu_accepts = false) {
    rows.push_back({name, calls.first, calls.second, std::move(text), cpu_accepts});
  };
  add("legal", cross(logits, longs({0, 4, -100, 1})), "");
  add("sum", cross(logits, longs({0, 2, 2, 4}), sum_ignoring_2), "");
  add("one sample", cross(logits[0], longs({4})[0]), "");
  add("image", cross(image, at::zeros({2, 3, 3}, at::kLong)), "");
  add("bytes", cross(logits, longs({0, 1, 2, 4}, at::kByte)), "");
  add("probabilities", cross(logits, at::full({4, 5}, 0.2)), "");
  add("label", cross(logits, longs({0, 1, 2, 5})), "cross_entropy: target[3] is 5");
  add("not the ignored one", cross(logits, longs({0, -100, 2, 4}), sum_ignoring_2),
      "target[1] is -100, but must be in [0, 5) or 2");
  add("int32", cross(logits, longs({0, 1, 2, 3}, at::kInt)), "target's dtype is Int, but must be Long or Byte");
  add("bytes of an image", cross(image, at::zeros({2, 3, 3}, at::kByte)), "target's dtype is Byte, but must be Long");
  add("batch", cross(logits, longs({0, 1, 2})), "target's shape is [3], but must be [4]");
  add("image without its height", cross(image, at::zeros({2, 3}, at::kLong)),
      "target's shape is [2, 3], but must be [2, 3, 3]");
  add("integer logits", cross(at::zeros({4, 5}, at::kLong), longs({0, 1, 2, 3})), "input's dtype is Long");
  add("weight", cross(logits, longs({0, 1, 2, 3}), weighted), "weight's shape is [4], but must be [5]");
  // The documentation asks for probabilities; the CPU computes with any numbers.
  add("not probabilities", cross(logits, at::full({4, 5}, 1.5)), "target[0, 0] is 1.5, but must be in [0, 1]", true);

  const auto both = [](auto call, auto plain) {
    return std::pair<std::function<at::Tensor(at::Device)>, std::function<at::Tensor(at::Device)>>(call, plain);
  };
  const auto bce = [&](at::Tensor input, at::Tensor target) {
    return both([=](at::Device d) { return guard::binary_cross_entropy(input.to(d), target.to(d)); },
                [=](at::Device d) { return at::binary_cross_entropy(input.to(d), target.to(d)); });
  };
  add("bce", bce(floats({0, 1, 0.5}), floats({0, 1, 1})), "");
  add("bce above 1", bce(floats({0, 1.5}), floats({0, 1})),
      "binary_cross_entropy: input[1] is 1.5, but must be in [0, 1]");
  add("bce NaN", bce(floats({kNan}), floats({1})), "input[0] is nan");
  add("bce shapes", bce(floats({0, 1}), floats({0})), "target's shape is [1], but must be [2]",
      true);  // ATen stretches it; the documentation wants equal shapes, and Python's function refuses
  add("bce target", bce(floats({0.5}), floats({2})), "target[0] is 2, but must be in [0, 1]");

  const at::Tensor table = at::arange(12, at::kFloat).reshape({3, 4});
  const auto on = [&](auto guarded, auto plain, at::Tensor index) {
    return both([=](at::Device d) { return guarded(table.to(d), index.to(d)); },
                [=](at::Device d) { return plain(table.to(d), index.to(d)); });
  };
  const auto embed = [&](at::Tensor index) {
    return on([](auto t, auto i) { return guard::embedding(t, i); }, [](auto t, auto i) { return at::embedding(t, i); },
              index);
  };
  add("embedding", embed(longs({0, 2})), "");
  add("embedding, past the end", embed(longs({3})), "embedding: indices[0] is 3, but must be in [0, 3)");
  add("embedding, negative", embed(longs({-1})), "indices[0] is -1");
  add("embedding, float", embed(floats({1})), "indices's dtype is Float");
  const auto select = [&](at::Tensor index) {
    return on([](auto t, auto i) { return guard::index_select(t, -1, i); },
              [](auto t, auto i) { return at::index_select(t, -1, i); }, index);
  };
  add("index_select", select(longs({3, 0}, at::kInt)), "");
  add("index_select, past the end", select(longs({4})), "index_select: index[0] is 4, but must be in [0, 4)");
  const auto add_rows = [&](at::Tensor index) {
    return on([](auto t, auto i) { return guard::index_add(t, 0, i, t); },
              [](auto t, auto i) { return at::index_add(t, 0, i, t); }, index);
  };
  add("index_add", add_rows(longs({2, 1, 0})), "");
  add("index_add, past the end", add_rows(longs({2, 1, 3})), "index_add: index[2] is 3");
  const auto gather = [&](at::Tensor index) {
    return on([](auto t, auto i) { return guard::gather(t, 1, i); }, [](auto t, auto i) { return at::gather(t, 1, i); },
              index);
  };
  add("gather", gather(longs({3, 0}).reshape({1, 2})), "");
  add("gather, past the end", gather(longs({3, 4}).reshape({1, 2})), "gather: index[0, 1] is 4, but must be in [0, 4)");
  add("gather, negative", gather(longs({-1}).reshape({1, 1})), "index[0, 0] is -1");
  add("gather, too many rows", gather(at::zeros({4, 1}, at::kLong)), "index's shape is [4, 1]");
  const auto scatter = [&](at::Tensor index) {
    return on([](auto t, auto i) { return guard::scatter(t, 1, i, t); },
              [](auto t, auto i) { return at::scatter(t, 1, i, t); }, index);
  };
  add("scatter", scatter(longs({3, 0}).reshape({2, 1})), "");
  add("scatter, past the end", scatter(longs({3, 4}).reshape({2, 1})), "scatter: index[1, 0] is 4");
  const auto take = [&](at::Tensor index) {
    return on([](auto t, auto i) { return guard::take(t, i); }, [](auto t, auto i) { return at::take(t, i); }, index);
  };
  add("take", take(longs({11, -12})), "");
  add("take, past the end", take(longs({12})), "take: index[0] is 12, but must be in [-12, 12)");
  add("take, one below", take(longs({-13})), "index[0] is -13");

  for (const CallRow& row : rows) {
    SCOPED_TRACE(row.name);
    const auto on_cpu = refusal([&] { row.guarded(at::kCPU); });
    const auto on_vcuda = refusal([&] { row.guarded(vcuda_device()); });
    ASSERT_EQ(on_cpu.has_value(), !row.text.empty());
    ASSERT_EQ(on_vcuda.has_value(), !row.text.empty());
    bool refused = false;
    try {
      row.plain(at::kCPU);
    } catch (const c10::Error&) {
      refused = true;
    }
    EXPECT_EQ(refused, !row.text.empty() && !row.cpu_accepts);
    if (row.text.empty()) {
      EXPECT_TRUE(at::equal(row.guarded(at::kCPU), row.plain(at::kCPU)));
      continue;
    }
    EXPECT_THAT(on_cpu->text(), HasSubstr(row.text));
    EXPECT_EQ(on_vcuda->text(), on_cpu->text());
  }
}

TEST_F(GuardTest, devices_must_agree) {
  const auto refused = refusal([] { guard::cross_entropy(at::zeros({1, 2}), longs({0}).to(vcuda_device())); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->check, "device");
  EXPECT_THAT(refused->text(), HasSubstr("but must be cpu, as of the input"));
}

TEST_F(GuardTest, infinite_logits_are_refused_on_demand) {
  const at::Tensor masked = floats({-kInfinity, 0}).reshape({1, 2});
  EXPECT_FALSE(refusal([&] { guard::check_cross_entropy(masked, longs({1})); }));
  guard::LossOptions finite;
  finite.finite_input = true;
  const auto refused = refusal([&] { guard::check_cross_entropy(masked, longs({1}), finite); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->text(), "cross_entropy: input[0, 0] is -inf, but must be finite (1 of 2 elements are not)");
}

TEST_F(GuardTest, gradients_are_those_of_aten) {
  const at::Tensor target = longs({1, 0});
  const at::Tensor guarded = at::tensor({0.5, 2.0, 1.0, -1.0}).reshape({2, 2}).requires_grad_();
  const at::Tensor plain = guarded.detach().clone().requires_grad_();
  guard::nll_loss(at::log_softmax(guarded, 1), target).backward();
  at::nll_loss(at::log_softmax(plain, 1), target).backward();
  EXPECT_TRUE(at::equal(guarded.grad(), plain.grad()));
}

TEST_F(GuardTest, switched_off_it_is_aten) {
  guard::set_enabled(false);
  const at::Tensor logits = at::zeros({1, 2});
  EXPECT_FALSE(refusal([&] { guard::check_labels(longs({7}), 2); }));
  EXPECT_FALSE(refusal([&] { guard::check_cross_entropy(logits, longs({7})); }));
  EXPECT_THROW(guard::cross_entropy(logits, longs({7})), c10::IndexError);  // the CPU's own words
  EXPECT_TRUE(guard::counters().scalars().empty());
}

TEST_F(GuardTest, counters_hold_totals_and_ranges) {
  guard::check_labels(longs({3, 1}), 5, -100, {"loss", "target"});
  guard::check_labels(longs({4, -100}), 5, -100, {"loss", "target"});
  refusal([] { guard::check_labels(longs({9, 9, 0}), 5, -100, {"loss", "target"}); });
  guard::watch(floats({-2.5, kInfinity}), {"model", "out\"put"});
  guard::watch(floats({kNan}), {"model", "out\"put"});
  EXPECT_THAT(guard::counters().scalars(),
              ElementsAre(std::pair("loss/target/checked", 3.0), std::pair("loss/target/min", 0.0),
                          std::pair("loss/target/max", 9.0), std::pair("loss/target/violations/label", 1.0),
                          std::pair("loss/target/bad_elements", 2.0), std::pair("model/out\"put/checked", 2.0),
                          std::pair("model/out\"put/min", -2.5), std::pair("model/out\"put/max", kInfinity),
                          std::pair("model/out\"put/with_nan", 1.0)));
  std::ostringstream csv, json;
  guard::counters().write_csv(csv, 7);
  guard::counters().write_json_line(json, 7);
  EXPECT_THAT(csv.str(), HasSubstr("7,\"loss/target/max\",9\n"));
  EXPECT_THAT(csv.str(), HasSubstr("7,\"model/out\"\"put/min\",-2.5\n"));
  EXPECT_THAT(json.str(), testing::StartsWith("{\"step\":7,\"loss/target/checked\":3,"));
  EXPECT_THAT(json.str(), HasSubstr("\"model/out\\\"put/max\":\"inf\""));
}

TEST_F(GuardTest, threads_lose_no_count) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 500; ++n) refusal([] { guard::check_labels(longs({5}), 5, {}, {"f", "x"}); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(guard::counters().scalars(), testing::IsSupersetOf({std::pair<std::string, double>("f/x/checked", 2000.0),
                                                                  {"f/x/violations/label", 2000.0}}));
}

// Example i has target i, as a class or as a number.
struct Numbers : torch::data::datasets::Dataset<Numbers> {
  explicit Numbers(std::vector<double> targets, at::ScalarType type = at::kLong)
      : targets(std::move(targets)), type(type) {}
  torch::data::Example<> get(std::size_t i) override { return {at::zeros({1}), floats({targets.at(i)}, type)[0]}; }
  std::optional<std::size_t> size() const override { return targets.size(); }
  std::vector<double> targets;
  at::ScalarType type;
};

std::vector<double> targets_of(const std::vector<torch::data::Example<>>& batch) {
  std::vector<double> out;
  for (const auto& example : batch) out.push_back(example.target.item<double>());
  return out;
}

TEST_F(GuardTest, dataset_skips) {
  auto dataset = guard::guard_dataset(Numbers({0, 9, 1, -100, 7}), {Legal::labels(3, -100), guard::OnIllegal::skip});
  auto copy = dataset;  // as a worker of a DataLoader has one
  EXPECT_THAT(targets_of(copy.get_batch({0, 1, 2, 3, 4})), ElementsAre(0, 1, -100));
  EXPECT_THAT(targets_of(dataset.get_batch({4})), ElementsAre(0));  // none is left: the next legal one
  EXPECT_EQ(dataset.get(1).target.item<std::int64_t>(), 1);
  EXPECT_EQ(dataset.size(), 5);
  const guard::DatasetCounts counts = dataset.counts();
  EXPECT_THAT(counts.indices, ElementsAre(1, 4));
  EXPECT_EQ(counts.skipped, counts.illegal);
  EXPECT_EQ(counts.clamped, 0);
  auto hopeless = guard::guard_dataset(Numbers({9, 9}), {Legal::labels(3), guard::OnIllegal::skip});
  EXPECT_THROW(hopeless.get_batch({0, 1}), std::out_of_range);
}

TEST_F(GuardTest, dataset_clamps) {
  auto classes = guard::guard_dataset(Numbers({-7, 2, 9, -100}), {Legal::labels(3, -100), guard::OnIllegal::clamp});
  const auto batch = classes.get_batch({0, 1, 2, 3});
  EXPECT_THAT(targets_of(batch), ElementsAre(0, 2, 2, -100));
  EXPECT_EQ(batch[0].target.scalar_type(), at::kLong);
  EXPECT_EQ(classes.counts().clamped, 2);
  auto numbers =
      guard::guard_dataset(Numbers({-0.5, 1.5, kNan}, at::kFloat), {Legal::probabilities(), guard::OnIllegal::clamp});
  EXPECT_THAT(targets_of(numbers.get_batch({0, 1, 2})), ElementsAre(0, 1));  // nothing legal is near NaN
  EXPECT_EQ(numbers.counts().skipped, 1);
}

TEST_F(GuardTest, dataset_refuses) {
  auto dataset = guard::guard_dataset(Numbers({0, 3}), {Legal::labels(3), guard::OnIllegal::refuse, "cifar"});
  const auto refused = refusal([&] { dataset.get_batch({0, 1}); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->text(), "cifar example 1: target is 3, but must be in [0, 3)");
  // Labels of the wrong dtype are never merely skipped.
  auto wrong = guard::guard_dataset(Numbers({0}, at::kFloat), {Legal::labels(3), guard::OnIllegal::skip});
  EXPECT_TRUE(refusal([&] { wrong.get(0); }));
}

}  // namespace
