// lu_unpack, embedding_renorm_ and sparse tensors made dense: legal inputs give what the CPU gives; illegal ones go
// where they lead, since none of the kernels checks.
#include <gmock/gmock.h>

#include "tests/kernels/aten_parity.h"
#include "tests/kernels/aten_pooling_calls.h"

namespace {

using testing::HasSubstr;

class AtenUncheckedTest : public AtenParityTest {};

Tensors unpacked(const Tensor& lu, const Tensor& pivots, bool data = true, bool swaps = true) {
  const auto [p, l, u] = at::lu_unpack(lu, pivots, data, swaps);
  return {p, l, u};
}

TEST_F(AtenUncheckedTest, LuUnpackParity) {
  const auto factored = [](at::IntArrayRef sizes, Device device) {
    const Tensor matrix = ramp(sizes, at::kDouble) + at::eye(sizes[sizes.size() - 2], sizes.back(), at::kDouble);
    const auto [lu, pivots] = at::linalg_lu_factor(matrix);
    return unpacked(lu.to(device), pivots.to(device));
  };
  compare({
      {"square",
       [&](Device d) {
         return factored({3, 3}, d);
       }},
      {"tall",
       [&](Device d) {
         return factored({5, 3}, d);
       }},
      {"wide",
       [&](Device d) {
         return factored({2, 4}, d);
       }},
      {"batched",
       [&](Device d) {
         return factored({2, 3, 4, 4}, d);
       }},
      {"more than a block of matrices",
       [&](Device d) {
         return factored({200, 2, 2}, d);
       }},
      {"swaps only",
       [](Device d) {
         return unpacked(at::ones({3, 3}).to(d), longs({3, 3, 3}, at::kInt).to(d), false, true);
       }},
      {"data only",
       [](Device d) {
         return unpacked(ramp({3, 3}).to(d), longs({1, 2, 3}, at::kInt).to(d), true, false);
       }},
      {"no matrices",
       [](Device d) {
         return unpacked(at::ones({0, 3, 3}).to(d), at::ones({0, 3}, at::kInt).to(d));
       }},
  });
}

TEST_F(AtenUncheckedTest, EmbeddingRenormParity) {
  const auto scaled = [](Tensor weight, std::vector<std::int64_t> indices, double max_norm, double type,
                         Device device) {
    weight = weight.to(device);
    at::embedding_renorm_(weight, longs(std::move(indices)).to(device), max_norm, type);
    return Tensors{weight};
  };
  compare({
      {"two, twice the same row",
       [&](Device d) {
         return scaled(ramp({5, 7}), {0, 3, 3, 1}, 1, 2, d);
       },
       1e-5},
      {"one",
       [&](Device d) {
         return scaled(ramp({5, 7}), {4, 0}, 0.5, 1, d);
       },
       1e-5},
      {"three",
       [&](Device d) {
         return scaled(ramp({5, 7}, at::kDouble), {4}, 0.5, 3, d);
       },
       1e-9},
      {"nothing to do",
       [&](Device d) {
         return scaled(ramp({5, 7}), {1, 2}, 1e6, 2, d);
       }},
      {"more than a block of features",
       [&](Device d) {
         return scaled(ramp({3, 300}), {2}, 1, 2, d);
       },
       1e-5},
      {"half",
       [&](Device d) {
         return scaled(ramp({4, 8}, at::kHalf), {1, 2}, 1, 2, d);
       },
       2e-3},
      {"no indices",
       [&](Device d) {
         return scaled(ramp({4, 8}), {}, 1, 2, d);
       }},
  });
}

TEST_F(AtenUncheckedTest, SparseParity) {
  const auto coo = [](std::vector<std::int64_t> positions, const Tensor& values, at::IntArrayRef sizes, Device device) {
    const auto count = values.size(0);
    return at::_sparse_coo_tensor_unsafe(longs(std::move(positions)).view({-1, count}).to(device), values.to(device),
                                         sizes);
  };
  const auto merged = [](const Tensor& sparse) {
    const Tensor once = sparse.coalesce();
    return Tensors{once._indices(), once._values(), once.to_dense()};
  };
  compare({
      {"two places and a double one",
       [&](Device d) {
         return merged(coo({2, 0, 2, 1, 1, 1}, ramp({3}), {3, 2}, d));
       }},
      {"one axis",
       [&](Device d) {
         return merged(coo({3, 0, 3}, ramp({3}), {4}, d));
       }},
      {"three axes",
       [&](Device d) {
         return merged(coo({1, 0, 1, 2, 0, 3}, ramp({2}), {2, 3, 4}, d));
       }},
      {"dense rows",
       [&](Device d) {
         return merged(coo({2, 0, 2}, ramp({3, 4}), {3, 4}, d));
       }},
      {"one element",
       [&](Device d) {
         return merged(coo({2, 1}, ramp({1}), {3, 2}, d));
       }},
      {"not merged",
       [&](Device d) {
         return Tensors{coo({2, 2, 1, 1}, ramp({2}), {3, 2}, d).to_dense()};
       }},
      {"as half",
       [&](Device d) {
         return Tensors{coo({2, 0, 1, 1}, ramp({2}, at::kHalf), {3, 2}, d).to_dense()};
       }},
      {"rows",
       [](Device d) {
         const Tensor rows = at::_sparse_csr_tensor_unsafe(longs({0, 2, 2, 3}).to(d), longs({0, 3, 1}).to(d),
                                                           ramp({3}).to(d), {3, 4}, at::TensorOptions(d));
         return Tensors{rows.to_dense()};
       }},
  });
}

struct Silent {
  const char* row;
  std::function<Tensor()> call;
  Tensor value;
};

// What a GPU accepts without a word; every expected value follows from where the index leads.
TEST_F(AtenUncheckedTest, SilentRows) {
  const Silent rows[] = {
      {"S04 a pivot into the next matrix",
       [] {
         return std::get<0>(at::lu_unpack(ones({2, 2, 2}), ids({3, 2, 1, 2}, at::kInt).reshape({2, 2}))).sum(-2);
       },
       // Row 0 of the second matrix changed places with row 0 of the first: both are row 0.
       at::ones({2, 2})},
      {"S07 a row of the next table",
       [] {
         const Tensor tables = ones({4, 2});
         Tensor first = tables.narrow(0, 0, 2);
         at::embedding_renorm_(first, ids({3}), 0., 2.);
         return tables.sum(1);
       },
       at::tensor({2.f, 2.f, 2.f, 0.f})},
      {"S15 a column past the end is the next row's first",
       [] {
         return at::_sparse_coo_tensor_unsafe(ids({0, 1, 2, 1}, {2, 2}), ones({2}), {2, 2}).coalesce()._indices();
       },
       longs({1, 1, 0, 1}).view({2, 2})},
      {"S16 a column past the end is the next row's first",
       [] {
         return at::_sparse_csr_tensor_unsafe(ids({0, 1, 2}), ids({2, 1}), ones({2}), {2, 2},
                                              at::TensorOptions(vcuda_device()))
             .to_dense();
       },
       at::tensor({0.f, 0.f, 1.f, 1.f}).reshape({2, 2})},
  };
  for (const Silent& row : rows) {
    SCOPED_TRACE(row.row);
    vcuda::reset_contexts();
    Tensor got;
    EXPECT_EQ(printed_by([&] { got = row.call().cpu(); }), "");
    EXPECT_TRUE(at::allclose(got.to(at::kDouble), row.value.to(at::kDouble))) << got;
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::none);
  }
}

// Beyond the allocation the access itself is found.
TEST_F(AtenUncheckedTest, OutOfBoundsAccesses) {
  struct Row {
    const char* row;
    std::function<void()> call;
    const char* report;
  };
  const Row rows[] = {
      {"S04",
       [] {
         at::lu_unpack(ones({3, 3}), ids({9, 2, 3}, at::kInt));
       },
       "Invalid __global__ read of size 8 bytes"},
      {"S07",
       [] {
         Tensor weight = table();
         at::embedding_renorm_(weight, ids({4}), 1., 2.);
       },
       "Invalid __global__ read of size 4 bytes"},
      {"S15",
       [] {
         at::_sparse_coo_tensor_unsafe(ids({5}, {1, 1}), ones({1}), {4}).to_dense();
       },
       "Invalid __global__ read of size 4 bytes"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.row);
    vcuda::reset_contexts();
    EXPECT_THAT(printed_by([&] {
                  try {
                    row.call();
                  } catch (const c10::AcceleratorError&) {
                    // A later call of the operator found the error.
                  }
                }),
                HasSubstr(row.report));
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::illegal_address);
  }
}

}  // namespace
