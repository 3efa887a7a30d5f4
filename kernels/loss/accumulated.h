// The type losses are summed in: float for 16-bit and 32-bit inputs, double for double.
#pragma once

namespace kernels {

template <typename T>
struct Accumulated {
  using type = float;
};
template <>
struct Accumulated<double> {
  using type = double;
};
template <typename T>
using Acc = typename Accumulated<T>::type;

}  // namespace kernels
