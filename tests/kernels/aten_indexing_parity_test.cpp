// Operators that write by index, margin losses, binary cross entropy and integer division, against LibTorch's
// CPU operators: the same values and gradients for legal inputs in all types and layouts, and the same refusals.
#include <functional>

#include "tests/kernels/aten_parity.h"

namespace {

using O = at::TensorOptions;

constexpr auto kNone = at::Reduction::None;
constexpr auto kMean = at::Reduction::Mean;
constexpr auto kSum = at::Reduction::Sum;

std::vector<Parity> slice_rows() {
  const Tensor x = ramp({5, 3}), cube = ramp({3, 4, 5});
  std::vector<Parity> rows = {
      {"index_fill, negative",
       [=](Device d) {
         return Tensors{x.to(d).index_fill(0, longs({-5, 4}).to(d), 9), x.to(d).index_fill(1, longs({-1}).to(d), 9)};
       }},
      {"index_fill, scalar, empty",
       [=](Device d) {
         return Tensors{at::zeros({}).to(d).index_fill(0, longs({0}).to(d), 9),
                        x.to(d).index_fill(0, longs({}).to(d), 9)};
       }},
      {"index_fill_ of a transposed view, tensor value",
       [=](Device d) {
         const Tensor y = cube.to(d).clone();
         y.transpose(0, 2).index_fill_(0, longs({1, 0}).to(d), at::scalar_tensor(2.5).to(d));
         return Tensors{y};
       }},
      {"index_copy, middle, strided index",
       [=](Device d) {
         const Tensor index = longs({3, 9, 0, 9}).to(d).slice(0, 0, 4, 2);
         return Tensors{cube.to(d).index_copy(1, index, ramp({3, 2, 5}).to(d).add(1))};
       }},
      {"index_copy_ of a transposed view, expanded source",
       [=](Device d) {
         const Tensor y = cube.to(d).clone();
         y.transpose(0, 1).index_copy_(0, longs({2, 1}).to(d), ramp({1, 1, 5}).to(d).expand({2, 3, 5}));
         return Tensors{y};
       }},
      {"index_copy, scalar and empty",
       [=](Device d) {
         return Tensors{at::zeros({}).to(d).index_copy(0, longs({0}).to(d), at::ones({}).to(d)),
                        x.to(d).index_copy(0, longs({}).to(d), at::ones({0, 3}).to(d))};
       }},
      {"index_add, offset, alpha, scalar, empty",
       [=](Device d) {
         const Tensor whole = ramp({20}).to(d);
         whole.slice(0, 1, 16).reshape({5, 3}).index_add_(0, longs({4, 4, 0}).to(d), ramp({3, 3}).to(d), 2.0);
         return Tensors{whole, at::ones({}).to(d).index_add(0, longs({0}).to(d), at::ones({}).to(d)),
                        x.to(d).index_add(0, longs({}).to(d), at::ones({0, 3}).to(d)),
                        x.to(d).index_add(0, longs({1}, at::kInt).to(d), at::ones({1, 3}).to(d))};
       }},
      {"index_add, complex",
       [=](Device d) {
         const Tensor y = at::complex(x, x + 1).to(d);
         const Tensor from = at::complex(ramp({2, 3}), ramp({2, 3})).to(d).conj();
         return Tensors{at::view_as_real(y.index_add(0, longs({1, 1}).to(d), from, c10::complex<double>(0, 2)))};
       }},
      {"index_add, bool",
       [=](Device d) {
         return Tensors{(x > 1).to(d).index_add(0, longs({1, 1}).to(d), (ramp({2, 3}) > 0).to(d))};
       }},
      {"take and put",
       [=](Device d) {
         const Tensor strided = cube.to(d).transpose(0, 2);
         const Tensor index = longs({0, -1, 7, -60, 59, 30}).reshape({2, 3}).to(d);
         return Tensors{at::take(strided, index), at::take(strided, index.t()), at::take(strided, longs({}).to(d)),
                        at::take(at::scalar_tensor(3.0).to(d), longs({0, -1}).to(d)),
                        cube.to(d).put(longs({0, -1, 7}).to(d), ramp({3}).to(d) + 9)};
       }},
      {"put_ into a transposed view",
       [=](Device d) {
         const Tensor y = cube.to(d).clone();
         y.transpose(0, 2).put_(longs({1, -2, 7}).to(d), ramp({3}).to(d) + 9);
         return Tensors{y};
       }},
      {"put, accumulate, complex",
       [=](Device d) {
         const Tensor y = at::complex(x, x + 1).to(d);
         return Tensors{at::view_as_real(y.put(longs({1, 1}).to(d), y.flatten().slice(0, 3, 5).clone(), true))};
       }},
      {"masked_scatter, transposed, broadcast mask, all and nothing",
       [=](Device d) {
         const Tensor y = x.to(d).clone();
         const Tensor source = (ramp({5, 3}) + 9).to(d);
         y.t().masked_scatter_((ramp({3, 5}) > 0).to(d), source.t());
         return Tensors{y, x.to(d).masked_scatter((ramp({3}) > -1).to(d), source),
                        x.to(d).masked_scatter(at::zeros({5, 3}, at::kBool).to(d), at::empty({0}).to(d)),
                        at::empty({0}).to(d).masked_scatter(at::empty({0}, at::kBool).to(d), source)};
       }},
      {"sparse tensors: index_select in sparse and dense dimensions, in-place, sums, products",
       [=](Device d) {
         const Tensor sparse = (x * (x > 0)).to_sparse().to(d), hybrid = cube.to(d).to_sparse(1);
         Tensor doubled = sparse.clone();
         doubled.mul_(2);
         return Tensors{sparse.index_select(0, longs({4, -5, 4}).to(d)).to_dense(),
                        sparse.index_select(1, longs({}).to(d)).to_dense(),
                        hybrid.index_select(2, longs({4, 0}).to(d)).to_dense(),
                        hybrid.index_select(0, longs({-1}).to(d)).to_dense(),
                        doubled.to_dense(),
                        (sparse + doubled).coalesce().values(),
                        at::mm(sparse, ramp({3, 2}).to(d)),
                        sparse.indices()};
       }},
      {"x[i] += v, negative indices, several tensors, int32, mask",
       [=](Device d) {
         const auto add = [&](c10::List<std::optional<Tensor>> indices, const Tensor& values) {
           return cube.to(d).clone().index_put_(indices, values.to(d), /*accumulate=*/true);
         };
         return Tensors{add({longs({-1, -1, 0}).to(d)}, ramp({3, 4, 5})),
                        add({std::nullopt, longs({-1, 3}).to(d), longs({4, -1}).to(d)}, ramp({3, 2})),
                        add({longs({-1}, at::kInt).to(d)}, ramp({4, 5})), add({(cube > 1).to(d)}, at::ones({}))};
       }},
  };
  for (const at::ScalarType type :
       {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong}) {
    const Tensor y = (x * 8).to(type), from = (ramp({20, 3}) * 8).to(type);
    const double tolerance = type == at::kHalf || type == at::kBFloat16 ? 2e-2 : 1e-6;
    rows.push_back({c10::toString(type),
                    [=](Device d) {
                      const Tensor few = longs({4, 0, 4}).to(d), many = (at::arange(20) % 5).to(d);
                      return Tensors{y.to(d).index_add(0, few, from.slice(0, 0, 3).to(d)),
                                     y.to(d).index_add(0, many, from.to(d)),
                                     y.to(d).index_copy(0, few.slice(0, 0, 2), from.slice(0, 0, 2).to(d)),
                                     y.to(d).index_fill(0, few, 3),
                                     at::take(y.to(d), few),
                                     y.to(d).put(few, from.flatten().slice(0, 0, 3).to(d), true),
                                     y.to(d).masked_scatter((x > 0).to(d), from.to(d))};
                    },
                    tolerance});
    for (const char* reduce : {"prod", "mean", "amax", "amin"}) {
      for (const bool include_self : {true, false}) {
        rows.push_back({reduce,
                        [=](Device d) {
                          const Tensor few = longs({4, 0, 4}).to(d), many = (at::arange(20) % 4).to(d);
                          const Tensor small = at::clamp(from, 0, 2).to(d);
                          return Tensors{y.to(d).index_reduce(0, few, from.slice(0, 0, 3).to(d), reduce, include_self),
                                         y.to(d).index_reduce(0, many, small, reduce, include_self)};
                        },
                        tolerance});
      }
    }
  }
  return rows;
}

std::vector<Parity> division_rows() {
  std::vector<Parity> rows;
  for (const at::ScalarType type : {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kFloat, at::kHalf}) {
    rows.push_back({c10::toString(type), [=](Device d) {
                      const Tensor a = longs({0, 7, -7, 100, -128, 1}).to(type).to(d);
                      const Tensor b = longs({3, -3, 2, 7, 5, -1}).to(type).to(d);
                      Tensor c = a.clone();
                      c.floor_divide_(b);
                      return Tensors{at::floor_divide(a, b),
                                     at::remainder(a, b),
                                     at::fmod(a, b),
                                     at::div(a, b, "trunc"),
                                     at::div(a, b, "floor"),
                                     at::div(a, b),
                                     at::remainder(a, 3),
                                     at::floor_divide(a, at::Scalar(3)),
                                     at::remainder(at::Scalar(9), b),
                                     c};
                    }});
  }
  rows.push_back({"broadcast, promotion, layouts, empty", [](Device d) {
                    const Tensor a = longs({9, 8, 7, 6, 5, 4}).reshape({2, 3}).to(d), b = longs({2, 3}).to(d);
                    Tensor narrow = b.to(at::kInt);
                    narrow.remainder_(longs({2, 2}).to(d));
                    Tensor out = at::empty({0}, a.options());
                    at::floor_divide_out(out, a, b.unsqueeze(1));
                    return Tensors{at::remainder(a.t(), b), at::floor_divide(a.to(at::kInt), longs({4}).to(d)), narrow,
                                   at::remainder(longs({}).to(d), longs({1}).to(d)), out};
                  }});
  return rows;
}

// A loss and the gradient of its input.
template <typename Loss>
Tensors with_gradient(const Tensor& input, Device device, const Loss& loss) {
  const Tensor x = input.to(device).detach().requires_grad_(true);
  const Tensor out = loss(x);
  out.sum().backward();
  return {out.detach(), x.grad()};
}

std::vector<Parity> loss_rows() {
  const Tensor x = ramp({4, 5}), weights = ramp({5}).abs() + 0.5;
  const Tensor labels = longs({0, 4, 2, 2});
  const Tensor several = longs({0, 4, -1, 0, 0, -1, 4, 4, 4, 4, 3, 2, 1, 0, 4, 2, -1, 0, 1, 2}).reshape({4, 5});
  const Tensor probability = (ramp({4, 5}) + 2) / 4, truth = (ramp({4, 5}) + 2).flip(0) / 4;
  std::vector<Parity> rows = {
      {"margin losses of one sample",
       [=](Device d) {
         Tensors out =
             with_gradient(x[0], d, [&](const Tensor& y) { return at::multi_margin_loss(y, labels[1].to(d)); });
         for (const Tensor& more : with_gradient(
                  x[0], d, [&](const Tensor& y) { return at::multilabel_margin_loss(y, several[0].to(d), kNone); })) {
           out.push_back(more);
         }
         return out;
       }},
      {"empty batches",
       [=](Device d) {
         const Tensor none = at::empty({0, 3}).to(d);
         return Tensors{at::multi_margin_loss(none, longs({}).to(d), 1, 1, {}, kNone),
                        at::multilabel_margin_loss(none, at::empty({0, 3}, at::kLong).to(d), kNone),
                        at::binary_cross_entropy(none, none), at::binary_cross_entropy(none, none, {}, kSum)};
       }},
      {"binary_cross_entropy, ends, broadcast weight, transposed, expanded",
       [=](Device d) {
         const Tensor ends = at::tensor({0.0, 1.0, 0.0, 1.0}, O(at::kFloat)).to(d);
         const Tensor wanted = at::tensor({0.0, 1.0, 1.0, 0.0}, O(at::kFloat)).to(d);
         return Tensors{at::binary_cross_entropy(ends, wanted, {}, kNone),
                        at::binary_cross_entropy(probability.to(d), truth.to(d), weights.to(d), kNone),
                        at::binary_cross_entropy(probability.to(d).t(), truth.t().contiguous().to(d), {}, kNone),
                        at::binary_cross_entropy(probability[0].to(d).expand({4, 5}), truth.to(d))};
       }},
      {"binary_cross_entropy, several blocks",
       [](Device d) {
         const Tensor p = (at::arange(1300) % 33).to(at::kFloat) / 32;
         return with_gradient(p, d, [&](const Tensor& y) { return at::binary_cross_entropy(y, p.flip(0).to(d)); });
       },
       1e-4},
  };
  for (const std::int64_t reduction : {std::int64_t{kNone}, std::int64_t{kMean}, std::int64_t{kSum}}) {
    for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
      for (const int p : {1, 2}) {
        rows.push_back({"multi_margin_loss", [=](Device d) {
                          const Tensor w = weights.to(type).to(d);
                          Tensors out = with_gradient(x.to(type), d, [&](const Tensor& y) {
                            return at::multi_margin_loss(y, labels.to(d), p, 0.75, w, reduction);
                          });
                          const Tensor strided = x.t().contiguous().t().to(type);
                          for (const Tensor& more : with_gradient(strided, d, [&](const Tensor& y) {
                                 return at::multi_margin_loss(y, labels.to(d), p, 1, {}, reduction);
                               })) {
                            out.push_back(more);
                          }
                          return out;
                        }});
      }
      rows.push_back({"multilabel_margin_loss", [=](Device d) {
                        return with_gradient(x.to(type), d, [&](const Tensor& y) {
                          return at::multilabel_margin_loss(y, several.to(d), reduction);
                        });
                      }});
    }
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
      rows.push_back({"binary_cross_entropy",
                      [=](Device d) {
                        return with_gradient(probability.to(type), d, [&](const Tensor& y) {
                          return at::binary_cross_entropy(y, truth.to(type).to(d), {}, reduction);
                        });
                      },
                      type == at::kFloat    ? 1e-5
                      : type == at::kDouble ? 1e-9
                                            : 2e-2});
    }
  }
  return rows;
}

class AtenIndexingParityTest : public AtenParityTest {};

TEST_F(AtenIndexingParityTest, Slices) { compare(slice_rows()); }
TEST_F(AtenIndexingParityTest, Divisions) { compare(division_rows()); }
TEST_F(AtenIndexingParityTest, Losses) { compare(loss_rows()); }

// Types that the CPU has no kernel for, against the CPU's float.
TEST_F(AtenIndexingParityTest, SixteenBitMarginLosses) {
  const Tensor x = ramp({4, 5}), labels = longs({0, 4, 2, 2});
  const Tensor several = longs({0, 4, -1, 0, 0}).repeat({4, 1});
  for (const at::ScalarType type : {at::kHalf, at::kBFloat16}) {
    SCOPED_TRACE(c10::toString(type));
    const auto margin = [&](const Tensor& y) { return at::multi_margin_loss(y, labels.to(y.device())); };
    const auto multilabel = [&](const Tensor& y) { return at::multilabel_margin_loss(y, several.to(y.device())); };
    for (const std::function<Tensor(const Tensor&)>& loss :
         {std::function<Tensor(const Tensor&)>(margin), std::function<Tensor(const Tensor&)>(multilabel)}) {
      const Tensors expected = with_gradient(x, at::kCPU, loss);
      const Tensors got = with_gradient(x.to(type), vcuda_device(), loss);
      for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].scalar_type(), type);
        EXPECT_TRUE(at::allclose(got[i].cpu().to(at::kFloat), expected[i], 2e-2, 2e-2)) << got[i].cpu() << expected[i];
      }
    }
  }
}

struct Refusal {
  const char* name;
  std::function<void(Device device)> call;
};

// What the host refuses, it refuses in the same words on both devices.
TEST_F(AtenIndexingParityTest, HostChecks) {
  const std::vector<Refusal> rows = {
      {"index_fill, int32 index", [](Device d) { at::zeros(4).to(d).index_fill_(0, longs({0}, at::kInt).to(d), 1.0); }},
      {"index_fill, matrix of indices",
       [](Device d) {
         at::zeros(4).to(d).index_fill_(0, longs({0}).reshape({1, 1}).to(d), 1.0);
       }},
      {"index_copy, other type",
       [](Device d) { at::zeros(4).to(d).index_copy_(0, longs({0}).to(d), at::ones(1, at::kLong).to(d)); }},
      {"index_copy, sizes",
       [](Device d) {
         at::zeros({4, 2}).to(d).index_copy_(0, longs({0}).to(d), at::ones({1, 3}).to(d));
       }},
      {"index_add, sizes",
       [](Device d) {
         at::zeros({4, 2}).to(d).index_add_(0, longs({0}).to(d), at::ones({2, 2}).to(d));
       }},
      {"index_add, dim", [](Device d) { at::zeros(4).to(d).index_add_(1, longs({0}).to(d), at::ones(1).to(d)); }},
      {"index_reduce, unknown",
       [](Device d) { at::zeros(4).to(d).index_reduce_(0, longs({0}).to(d), at::ones(1).to(d), "sum"); }},
      {"take, int32 index", [](Device d) { at::take(at::zeros(4).to(d), longs({0}, at::kInt).to(d)); }},
      {"put, other type", [](Device d) { at::zeros(4).to(d).put_(longs({0}).to(d), at::ones(1, at::kLong).to(d)); }},
      {"put, sizes",
       [](Device d) {
         at::zeros(4).to(d).put_(longs({0, 1}).to(d), at::ones(1).to(d));
       }},
      {"multi_margin_loss, no classes",
       [](Device d) {
         at::multi_margin_loss(at::zeros({2, 0}).to(d), longs({0, 0}).to(d));
       }},
      {"multi_margin_loss, weights",
       [](Device d) {
         at::multi_margin_loss(at::zeros({2, 3}).to(d), longs({0, 0}).to(d), 1, 1, at::ones(2).to(d));
       }},
      {"multi_margin_loss, int32 labels",
       [](Device d) {
         at::multi_margin_loss(at::zeros({2, 3}).to(d), longs({0, 0}, at::kInt).to(d));
       }},
      {"multilabel_margin_loss, sizes",
       [](Device d) {
         at::multilabel_margin_loss(at::zeros({2, 3}).to(d), longs({0, 0}).to(d));
       }},
      {"binary_cross_entropy, other type",
       [](Device d) { at::binary_cross_entropy(at::zeros(1).to(d), at::zeros(1, at::kDouble).to(d)); }},
  };
  const auto message_of = [](const Refusal& row, Device device) -> std::string {
    try {
      row.call(device);
      return "accepted";
    } catch (const c10::Error& error) {
      return error.what_without_backtrace();
    }
  };
  for (const Refusal& row : rows) {
    SCOPED_TRACE(row.name);
    const std::string expected = message_of(row, at::kCPU);
    EXPECT_NE(expected, "accepted");
    EXPECT_EQ(message_of(row, vcuda_device()), expected);
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::none);
  }
}

}  // namespace
