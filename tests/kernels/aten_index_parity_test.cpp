// Indexing, gather and scatter in all their layouts: the same values as LibTorch's CPU operators give.
#include "tests/kernels/aten_parity.h"

namespace {

std::vector<Parity> index_rows() {
  const Tensor table = ramp({5, 3});
  const Tensor aligned = ramp({5, 8});
  const Tensor cube = ramp({3, 4, 5});
  const auto one = [](Device d, const Tensor& x, const Tensor& i) { return Tensors{x.to(d).index({i.to(d)})}; };
  using List = c10::List<std::optional<Tensor>>;
  return {
      // index_select: up to 16 indices, more, more in aligned rows; embedding goes the same ways
      {"index_select, 0 indices", [=](Device d) { return Tensors{table.to(d).index_select(0, longs({}).to(d))}; }},
      {"index_select, 16", [=](Device d) { return Tensors{table.to(d).index_select(0, (at::arange(16) % 5).to(d))}; }},
      {"index_select, 17", [=](Device d) { return Tensors{table.to(d).index_select(0, (at::arange(17) % 5).to(d))}; }},
      {"index_select, 17 aligned",
       [=](Device d) { return Tensors{aligned.to(d).index_select(0, (at::arange(17) % 5).to(d))}; }},
      {"index_select, columns",
       [=](Device d) {
         return Tensors{cube.to(d).index_select(-1, longs({4, 0}).to(d))};
       }},
      {"index_select, 17 middle",
       [=](Device d) { return Tensors{cube.to(d).index_select(1, (at::arange(17) % 4).to(d))}; }},
      {"index_select, int32",
       [=](Device d) { return Tensors{table.to(d).index_select(0, longs({1}, at::kInt).to(d))}; }},
      {"index_select, strided",
       [=](Device d) {
         return Tensors{cube.to(d).transpose(0, 2).index_select(0, at::arange(6).slice(0, 0, 5, 2).to(d))};
       }},
      {"index_select, bool and complex",
       [=](Device d) {
         const Tensor i = longs({2, 0}).to(d);
         return Tensors{(table > 0).to(d).index_select(0, i), table.to(at::kComplexDouble).to(d).index_select(0, i)};
       }},
      {"embedding",
       [=](Device d) {
         return Tensors{at::embedding(table.to(d), longs({4, 0, 4, 1}).reshape({2, 2}).to(d))};
       }},
      {"embedding, scalar index",
       [=](Device d) { return Tensors{at::embedding(table.to(d), at::scalar_tensor(3, at::kLong).to(d))}; }},
      // gather
      {"gather",
       [=](Device d) {
         return Tensors{cube.to(d).gather(1, ((at::arange(24) * 5) % 4).reshape({3, 2, 4}).to(d))};
       }},
      {"gather, empty",
       [=](Device d) {
         return Tensors{cube.to(d).gather(1, at::empty({3, 0, 4}, at::kLong).to(d))};
       }},
      {"gather, scalar",
       [=](Device d) {
         return Tensors{at::scalar_tensor(2.5).to(d).gather(0, at::scalar_tensor(0, at::kLong).to(d))};
       }},
      {"gather, expanded rows",
       [=](Device d) {
         return Tensors{aligned.to(d).gather(0, longs({4, 0, 3}).unsqueeze(1).expand({3, 8}).to(d))};
       }},
      {"gather, transposed half",
       [=](Device d) {
         return Tensors{cube.to(at::kHalf).to(d).transpose(0, 2).gather(0, longs({4, 1}).reshape({2, 1, 1}).to(d))};
       }},
      // x[i]
      {"x[i]",
       [=](Device d) {
         return one(d, table, longs({4, 0, -1, -5}));
       }},
      {"x[i], aligned rows",
       [=](Device d) {
         return one(d, aligned, longs({4, 0, -1, -5}));
       }},
      {"x[i], empty", [=](Device d) { return one(d, table, longs({})); }},
      {"x[i], rows of nothing",
       [=](Device d) {
         return one(d, at::empty({4, 0}), longs({1, 2}));
       }},
      {"x[mask]", [=](Device d) { return one(d, table, table > 0); }},
      {"x[int32]",
       [=](Device d) {
         return one(d, table, longs({2, -2}, at::kInt));
       }},
      {"x[i, :, j]",
       [=](Device d) {
         return Tensors{at::index(cube.to(d), List({longs({0, -1}).to(d), std::nullopt, longs({4, 2}).to(d)}))};
       }},
      {"x[:, i, j], broadcast",
       [=](Device d) {
         return Tensors{
             at::index(cube.to(d), List({std::nullopt, longs({3, 1, 0}).reshape({3, 1}).to(d), longs({4, 2}).to(d)}))};
       }},
      {"x[:, i], transposed",
       [=](Device d) {
         return Tensors{at::index(cube.to(d).transpose(0, 2), List({std::nullopt, longs({3, -4}).to(d)}))};
       }},
      {"x[i] with i on the CPU",
       [=](Device d) {
         return Tensors{at::index(cube.to(d), List({longs({0, 2})}))};
       }},
      // x[i] = v
      {"x[i] = v",
       [=](Device d) {
         return Tensors{table.to(d).clone().index_put_({longs({4, -5}).to(d)}, ramp({2, 3}).to(d))};
       }},
      {"x[i, j] = scalar",
       [=](Device d) {
         return Tensors{
             cube.to(d).clone().index_put_({longs({0, 2}).to(d), longs({-1, 0}).to(d)}, at::scalar_tensor(9.f).to(d))};
       }},
      {"x[mask] = scalar",
       [=](Device d) { return Tensors{table.to(d).clone().index_put_({(table > 0).to(d)}, at::scalar_tensor(9.f))}; }},
      {"x.t()[i] = v",
       [=](Device d) {
         const Tensor x = table.to(d).clone();
         x.t().index_put_({longs({2, 0}).to(d)}, ramp({2, 5}).to(d));
         return Tensors{x};
       }},
      {"x[i] += v",
       [=](Device d) {
         return Tensors{table.to(d).clone().index_put_({longs({1, 1}).to(d)}, ramp({2, 3}).to(d), /*accumulate=*/true)};
       }},
  };
}

std::vector<Parity> scatter_rows() {
  const Tensor x = ramp({3, 5});
  const Tensor source = ramp({4, 5}) + 1;
  const Tensor distinct = longs({0, 1, 2, 0, 1, 1, 2, 0, 1, 2}).reshape({2, 5});
  const Tensor repeated = longs({0, 0, 2, 0, 1, 0, 2, 2, 0, 1}).reshape({2, 5});
  std::vector<Parity> rows = {
      {"scatter", [=](Device d) { return Tensors{x.to(d).scatter(0, distinct.to(d), source.to(d))}; }},
      {"scatter, int32",
       [=](Device d) { return Tensors{x.to(d).scatter(0, distinct.to(at::kInt).to(d), source.to(d))}; }},
      {"scatter_ into a transposed view",
       [=](Device d) {
         const Tensor y = x.to(d).clone();
         y.t().scatter_(1, distinct.t().to(d), source.t().to(d));
         return Tensors{y};
       }},
      {"scatter, empty",
       [=](Device d) {
         return Tensors{x.to(d).scatter(0, at::empty({0, 5}, at::kLong).to(d), source.to(d))};
       }},
      {"scatter value",
       [=](Device d) {
         return Tensors{x.to(d).scatter(1, longs({4, 0}).reshape({1, 2}).to(d), 2.5)};
       }},
      {"scatter value, bool",
       [=](Device d) {
         return Tensors{(x > 0).to(d).scatter(1, longs({4}).reshape({1, 1}).to(d), true)};
       }},
      {"scatter value, add", [=](Device d) { return Tensors{x.to(d).scatter(0, repeated.to(d), 2.0, "add")}; }},
      {"scatter, multiply",
       [=](Device d) { return Tensors{x.to(d).scatter(0, repeated.to(d), source.to(d), "multiply")}; }},
      {"scatter_add, expanded source",
       [=](Device d) {
         return Tensors{x.to(d).scatter_add(0, repeated.to(d), source[0].unsqueeze(0).expand({4, 5}).to(d))};
       }},
      {"scatter_add, scalar",
       [=](Device d) {
         return Tensors{at::scalar_tensor(1.f).to(d).scatter_add(0, at::scalar_tensor(0, at::kLong).to(d),
                                                                 at::scalar_tensor(2.f).to(d))};
       }},
      {"one_hot",
       [=](Device d) {
         return Tensors{at::one_hot(longs({0, 3, 1}).to(d), 4)};
       }},
      {"one_hot, classes inferred",
       [=](Device d) {
         return Tensors{at::one_hot(longs({0, 3, 1}).to(d))};
       }},
  };
  for (const at::ScalarType type :
       {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong}) {
    rows.push_back({"scatter_add, all types", [=](Device d) {
                      const Tensor from = (source * 8).to(type).to(d);
                      return Tensors{(x * 8).to(type).to(d).scatter_add(0, repeated.to(d), from)};
                    }});
  }
  for (const char* reduce : {"sum", "prod", "mean", "amax", "amin"}) {
    for (const bool include_self : {true, false}) {
      for (const at::ScalarType type : {at::kFloat, at::kLong, at::kHalf}) {
        rows.push_back({reduce,
                        [=](Device d) {
                          const Tensor from = (source * 8).to(type).to(d);
                          return Tensors{
                              (x * 8).to(type).to(d).scatter_reduce(0, repeated.to(d), from, reduce, include_self)};
                        },
                        type == at::kHalf ? 1e-2 : 1e-6});
      }
    }
  }
  return rows;
}

class AtenIndexParityTest : public AtenParityTest {};

TEST_F(AtenIndexParityTest, Indexing) { compare(index_rows()); }
TEST_F(AtenIndexParityTest, Scatter) { compare(scatter_rows()); }

}  // namespace
