// One computation, done on the CPU and on the virtual device: legal inputs must give the same values, whatever the
// layout, type and size of the tensors.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <vector>

#include "tests/kernels/aten_fixture.h"

using at::Device;
using at::Tensor;
using Tensors = std::vector<Tensor>;

struct Parity {
  const char* name;
  // Computes on `device`; inputs are made on the CPU from a fixed seed and moved.
  std::function<Tensors(Device device)> run;
  double tolerance = 1e-6;
};

// Values that do not depend on the device: a permutation of multiples of 1/8, exact in every floating type.
inline Tensor ramp(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) {
  const std::int64_t count = c10::multiply_integers(sizes);
  return ((at::arange(count, at::kLong) * 7) % 31 - 15).to(at::kDouble).div(8).reshape(sizes).to(type);
}

class AtenParityTest : public AtenTest {
 protected:
  static void compare(const std::vector<Parity>& rows) {
    for (const Parity& row : rows) {
      SCOPED_TRACE(row.name);
      const Tensors expected = row.run(at::kCPU);
      const Tensors got = row.run(vcuda_device());
      ASSERT_EQ(vcuda::synchronize(), vcuda::Error::none);
      ASSERT_EQ(expected.size(), got.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        SCOPED_TRACE(i);
        EXPECT_EQ(got[i].sizes(), expected[i].sizes());
        EXPECT_EQ(got[i].scalar_type(), expected[i].scalar_type());
        if (!expected[i].is_floating_point()) {
          EXPECT_TRUE(at::equal(got[i].cpu(), expected[i]));
        } else {
          EXPECT_TRUE(at::allclose(got[i].cpu().to(at::kDouble), expected[i].to(at::kDouble), row.tolerance,
                                   row.tolerance, /*equal_nan=*/true))
              << got[i].cpu() << "\nexpected\n"
              << expected[i];
        }
      }
    }
  }
};
