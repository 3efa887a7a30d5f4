// A dataset that checks the target of each example where it is read, on the CPU and before it is in a batch, and skips,
// clamps or refuses the illegal ones, and counts them.
//
//   auto legal = dsafuzz::guard::Legal::labels(10);
//   auto guarded = dsafuzz::guard::guard_dataset(dataset, {legal, dsafuzz::guard::OnIllegal::skip});
//
// Wraps any torch::data dataset whose examples have a tensor as `target`. Apart from guard.h, since it needs more of
// LibTorch than ATen.
#pragma once

#include <dsafuzz/guard.h>
#include <torch/data/datasets/base.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dsafuzz::guard {

enum class OnIllegal {
  skip,   // left out of the batch, which is then shorter
  clamp,  // the target is brought to the nearest legal value; one with NaN has none and is skipped
  refuse  // ViolationError; a DataLoader with workers wraps it in a WorkerException
};

struct DatasetGuard {
  Legal legal = {};
  OnIllegal on_illegal = OnIllegal::refuse;
  std::string name = "dataset";  // in messages and counters
};

// What happened so far. An example that is read twice counts twice, but stands once in `indices`.
struct DatasetCounts {
  std::size_t read = 0, illegal = 0, skipped = 0, clamped = 0;
  std::vector<std::size_t> indices;  // of illegal examples, ascending, at most kListed
  static constexpr std::size_t kListed = 1000;
};

// Copies, as a DataLoader with workers makes them, share their counts; counts() may be called from any thread.
template <class D>
class GuardedDataset
    : public torch::data::datasets::Dataset<GuardedDataset<D>, decltype(std::declval<D&>().get(std::size_t{}))> {
 public:
  using ExampleType = decltype(std::declval<D&>().get(std::size_t{}));

  GuardedDataset(D dataset, DatasetGuard guard) : dataset_(std::move(dataset)), guard_(std::move(guard)) {}

  // The example; where it is illegal and skipped, the next legal one behind it, from the start again after the last.
  // std::out_of_range: every example is skipped.
  ExampleType get(std::size_t index) override {
    if (auto example = legal_example(index)) return *std::move(example);
    const std::size_t count = dataset_.size().value_or(0);
    for (std::size_t step = 1; step < count; ++step) {
      if (auto example = legal_example((index + step) % count)) return *std::move(example);
    }
    throw std::out_of_range(guard_.name + ": no example has a legal target");
  }

  // The legal ones among those asked for, in their order. Where none is, one as get() finds it: a batch is never empty,
  // so that it can be stacked.
  std::vector<ExampleType> get_batch(c10::ArrayRef<std::size_t> indices) override {
    std::vector<ExampleType> batch;
    batch.reserve(indices.size());
    for (const std::size_t index : indices) {
      if (auto example = legal_example(index)) batch.push_back(*std::move(example));
    }
    if (batch.empty() && !indices.empty()) batch.push_back(get(indices.back()));
    return batch;
  }

  // Of the wrapped dataset: what will be skipped is not known before it is read.
  std::optional<std::size_t> size() const override { return dataset_.size(); }

  DatasetCounts counts() const {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    DatasetCounts out = shared_->counts;
    out.indices.assign(shared_->indices.begin(), shared_->indices.end());
    return out;
  }

 private:
  struct Shared {
    std::mutex mutex;
    DatasetCounts counts;
    std::set<std::size_t> indices;
  };

  std::optional<ExampleType> legal_example(std::size_t index) {
    ExampleType example = dataset_.get(index);
    if (!enabled()) return example;
    try {
      count([](DatasetCounts& counts) { ++counts.read; });
      check_values(example.target, guard_.legal, {guard_.name, "target"});
      return example;
    } catch (const ViolationError& error) {
      // A dtype that no label has is a mistake in the program, not in an example.
      const bool refused = guard_.on_illegal == OnIllegal::refuse || error.violation().check == "dtype";
      count([&](DatasetCounts& counts) {
        ++counts.illegal;
        if (shared_->indices.size() < DatasetCounts::kListed) shared_->indices.insert(index);
      });
      if (refused) {
        Violation violation = error.violation();
        violation.call += " example " + std::to_string(index);
        throw ViolationError(std::move(violation));
      }
    }
    if (guard_.on_illegal == OnIllegal::clamp && clamp(example)) return example;
    count([](DatasetCounts& counts) { ++counts.skipped; });
    return std::nullopt;
  }

  // False: nothing legal is near.
  bool clamp(ExampleType& example) {
    const Legal& legal = guard_.legal;
    const at::Tensor before = example.target.to(legal.real ? at::kDouble : at::kLong);
    at::Tensor after = legal.real ? before.clamp(legal.least, legal.most) : before.clamp(legal.from, legal.below - 1);
    if (!legal.real && legal.also) after = at::where(before.eq(*legal.also), before, after);
    after = after.to(example.target.scalar_type());
    if (detail::violation_of(after, legal, {})) return false;
    example.target = after;
    count([](DatasetCounts& counts) { ++counts.clamped; });
    return true;
  }

  template <class F>
  void count(F change) {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    change(shared_->counts);
  }

  D dataset_;
  DatasetGuard guard_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

template <class D>
GuardedDataset<D> guard_dataset(D dataset, DatasetGuard guard) {
  return GuardedDataset<D>(std::move(dataset), std::move(guard));
}

}  // namespace dsafuzz::guard
