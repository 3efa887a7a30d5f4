#include "fake_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "repro/case_text.h"
#include "repro/fill.h"

namespace dsafuzz::testing {
namespace {

struct Array {
  std::vector<std::int64_t> shape;
  Dtype dtype = Dtype::float32;
  std::vector<Number> values;  // empty: zeros, as results of operators are here
  bool freed = false;
};

struct Stop {
  Signature signature;
};

class Machine {
 public:
  explicit Machine(const Case& c) : case_(c) {
    for (const TensorSpec& t : c.tensors) arrays_[t.name] = {*concrete_shape(t, c.shapes), t.dtype, contents(c, t)};
  }

  Trial run() {
    Trial trial;
    for (std::size_t i = 0; i < case_.steps.size(); ++i) {
      trial.step = static_cast<int>(i);
      step_ = &case_.steps[i];
      if (const auto stop = execute()) {
        trial.signature = stop->signature;
        return trial;
      }
      for (const std::string& name : step_->results) {
        std::erase_if(trial.results, [&](const ResultTensor& r) { return r.name == name; });
        trial.results.push_back({name, arrays_[name].dtype, arrays_[name].shape});
      }
    }
    trial.step = -1;
    trial.signature.op = "";
    return trial;
  }

 private:
  using End = std::optional<Stop>;

  Array* tensor(std::size_t i) {
    if (i >= step_->arguments.size()) return nullptr;
    const auto* name = std::get_if<Name>(&step_->arguments[i].value.v);
    if (name == nullptr) return nullptr;
    const auto found = arrays_.find(name->text);
    return found == arrays_.end() ? nullptr : &found->second;
  }
  std::int64_t integer(const std::string& name, std::size_t position, std::int64_t otherwise) const {
    for (std::size_t i = 0; i < step_->arguments.size(); ++i) {
      const Argument& a = step_->arguments[i];
      if (a.name != name && !(a.name.empty() && i == position)) continue;
      if (const auto* v = std::get_if<std::int64_t>(&a.value.v)) return *v;
      if (const auto* v = std::get_if<Name>(&a.value.v); v && case_.shapes.contains(v->text))
        return case_.shapes.at(v->text);
    }
    return otherwise;
  }

  Stop reject(const std::string& why) const { return {{Verdict::host_reject, step_->op, "", "", why}}; }
  Stop bug(Verdict v, const std::string& file, const std::string& kernel, const std::string& condition) const {
    return {{v, step_->op, file, kernel, condition}};
  }

  End produce(Array result) {
    if (!step_->results.empty()) arrays_[step_->results[0]] = std::move(result);
    return std::nullopt;
  }

  End execute() {
    const std::string& op = step_->op;
    Array* a = tensor(0);
    Array* b = tensor(1);
    if (a == nullptr) return reject("expected a tensor");
    if (op == "aten::relu")
      return produce({a->shape, case_.precision == Precision::half ? Dtype::float16 : a->dtype, {}});
    if (op == "aten::linear") return linear(a, b);
    if (op == "aten::cross_entropy_loss") return cross_entropy(a, b);
    if (op == "aten::embedding") return embedding(a, b);
    if (op == "aten::gather") return gather(a, tensor(2));
    if (op == "aten::index") return index_2d(a, b);
    if (op == "aten::binary_cross_entropy") return probability(a, b);
    if (op == "dsafuzz::free") return a->freed = true, std::nullopt;
    if (op == "dsafuzz::read") {
      if (a->freed) return bug(Verdict::memory_fault, "kernels/custom/read.cu", "read_kernel", "use after free");
      return produce({a->shape, a->dtype, {}});
    }
    if (op == "dsafuzz::large_batch") {
      if (a->shape.empty()) return reject("needs an axis");
      return a->shape[0] >= 257 ? End(bug(Verdict::memory_fault, "", "", "launch")) : std::nullopt;
    }
    if (op == "dsafuzz::half_only") {
      const bool half = a->dtype == Dtype::float16 || case_.precision == Precision::half;
      return half ? End(bug(Verdict::device_assert, "", "half", "finite")) : std::nullopt;
    }
    if (op == "dsafuzz::joint2") return joint(a, 2);
    if (op == "dsafuzz::joint4") return joint(a, 4);
    if (op == "dsafuzz::two_bugs") return two_bugs(a, b);
    return reject("no such operator");
  }

  End linear(Array* input, Array* weight) {
    if (weight == nullptr || input->shape.empty() || weight->shape.size() != 2) return reject("linear: ranks");
    if (input->shape.back() != weight->shape[1]) return reject("linear: sizes");
    std::vector<std::int64_t> shape = input->shape;
    shape.back() = weight->shape[0];
    return produce({shape, case_.precision == Precision::none ? input->dtype : Dtype::float16, {}});
  }

  static bool outside(const Array& indices, std::int64_t size, std::int64_t also) {
    return std::ranges::any_of(indices.values, [&](const Number& n) {
      const std::int64_t v = std::get<std::int64_t>(n);
      return v != also && (v < 0 || v >= size);
    });
  }

  End cross_entropy(Array* logits, Array* labels) {
    if (labels == nullptr || logits->shape.empty() || !is_floating(logits->dtype))
      return reject("cross_entropy: input");
    if (labels->dtype != Dtype::int64) return reject("cross_entropy: labels must be int64");
    const std::size_t axis = logits->shape.size() == 1 ? 0 : 1;
    std::vector<std::int64_t> expected = logits->shape;
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(axis));
    if (expected != labels->shape) return reject("cross_entropy: sizes");
    if (Array* weight = tensor(2); weight && weight->shape != std::vector{logits->shape[axis]}) {
      return reject("cross_entropy: weight");
    }
    const std::size_t rank = logits->shape.size();
    const char* kernel = rank == 1   ? "nll_loss_forward_reduce_cuda_kernel_1d"
                         : rank == 2 ? "nll_loss_forward_reduce_cuda_kernel_2d"
                                     : "nll_loss2d_forward_kernel";
    const std::int64_t ignored = integer("ignore_index", 4, -100);
    if (outside(*labels, logits->shape[axis], ignored))
      return Stop{[&] {
        Signature s = label_bug(kernel);
        if (rank > 2) s.file = "aten/src/ATen/native/cuda/NLLLoss2d.cu";
        return s;
      }()};
    return produce({{}, logits->dtype, {}});
  }

  End embedding(Array* weight, Array* indices) {
    if (indices == nullptr || weight->shape.size() != 2 || is_floating(indices->dtype)) return reject("embedding");
    if (outside(*indices, weight->shape[0], weight->shape[0] - 1)) return Stop{index_bug(step_->op)};
    std::vector<std::int64_t> shape = indices->shape;
    shape.push_back(weight->shape[1]);
    return produce({shape, weight->dtype, {}});
  }

  End gather(Array* input, Array* index) {
    const std::int64_t dim = integer("dim", 1, 99);
    if (index == nullptr || index->dtype != Dtype::int64 || index->shape.size() != input->shape.size())
      return reject("gather");
    if (dim < 0 || dim >= static_cast<std::int64_t>(input->shape.size())) return reject("gather: dim");
    for (std::size_t i = 0; i < input->shape.size(); ++i) {
      if (static_cast<std::int64_t>(i) != dim && index->shape[i] > input->shape[i]) return reject("gather: sizes");
    }
    if (outside(*index, input->shape[static_cast<std::size_t>(dim)], 0)) return Stop{index_bug(step_->op)};
    return produce({index->shape, input->dtype, {}});
  }

  End index_2d(Array* input, Array* index) {
    if (index == nullptr || input->shape.size() != 2 || index->shape.size() != 2 || is_floating(index->dtype))
      return reject("index");
    if (index->shape[0] != input->shape[0]) return reject("index: sizes");
    if (outside(*index, input->shape[1], 0)) return Stop{index_bug(step_->op)};
    return produce({index->shape, input->dtype, {}});
  }

  End probability(Array* input, Array* target) {
    if (target == nullptr || target->shape != input->shape || !is_floating(input->dtype)) return reject("bce");
    for (const Number& n : input->values) {
      const double v = as_double(n);
      if (!(v >= 0 && v <= 1)) return Stop{probability_bug()};
    }
    return produce({{}, input->dtype, {}});
  }

  // Fails only when `needed` elements are outside [0, 10) together.
  End joint(Array* labels, std::int64_t needed) {
    const auto bad =
        std::ranges::count_if(labels->values, [](const Number& n) { return as_double(n) < 0 || as_double(n) >= 10; });
    return bad >= needed ? End(bug(Verdict::device_assert, "", "joint", "t < 10")) : std::nullopt;
  }

  // The label check of cross_entropy, and a different bug as soon as there is one class only.
  End two_bugs(Array* logits, Array* labels) {
    if (labels == nullptr || logits->shape.size() != 2 || labels->shape != std::vector{logits->shape[0]})
      return reject("sizes");
    if (logits->shape[1] < 2) return bug(Verdict::memory_fault, "", "other", "one class");
    return outside(*labels, logits->shape[1], 0) ? End(bug(Verdict::device_assert, "", "two", "t < n")) : std::nullopt;
  }

  const Case& case_;
  const Step* step_ = nullptr;
  std::map<std::string, Array> arrays_;
};

}  // namespace

Case from_yaml(const std::string& text) {
  auto c = parse_case(text, "test");
  if (!c) ADD_FAILURE() << c.error().text() << "\n" << text;
  return c.value_or(Case{});
}

Trial run_on_fake(const Case& c) { return Machine(c).run(); }

Signature label_bug(const std::string& kernel) {
  return {Verdict::device_assert, "aten::cross_entropy_loss", "aten/src/ATen/native/cuda/Loss.cu", kernel,
          "t >= 0 && t < n_classes"};
}

Signature index_bug(const std::string& op) {
  return {Verdict::device_assert, op, "aten/src/ATen/native/cuda/Indexing.cu", "", "index out of bounds"};
}

Signature use_after_free() {
  return {Verdict::memory_fault, "dsafuzz::read", "kernels/custom/read.cu", "read_kernel", "use after free"};
}

Signature probability_bug() {
  return {Verdict::device_assert, "aten::binary_cross_entropy", "aten/src/ATen/native/cuda/Loss.cu",
          "binary_cross_entropy_out_cuda", "input_val >= zero && input_val <= one"};
}

Signature fake_bug(Verdict verdict, const std::string& op, const std::string& condition) {
  const std::string kernel = op.starts_with("dsafuzz::joint") ? "joint"
                             : op == "dsafuzz::half_only"     ? "half"
                             : op == "dsafuzz::two_bugs"      ? "two"
                                                              : "";
  return {verdict, op, "", kernel, condition};
}

}  // namespace dsafuzz::testing
