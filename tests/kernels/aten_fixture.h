// A fresh virtual device for each test, and what tests of the LibTorch backend say often.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "tests/kernels/vcuda_fixture.h"

class AtenTest : public VcudaTest {
 protected:
  static void SetUpTestSuite() { at::set_num_threads(1); }
};

inline at::Device vcuda_device(int index = 0) {
  return {at::DeviceType::PrivateUse1, static_cast<at::DeviceIndex>(index)};
}

inline at::Tensor longs(std::vector<std::int64_t> values, at::ScalarType type = at::kLong) {
  return at::tensor(values, at::TensorOptions(at::kLong)).to(type);
}

// The operators of dsafuzz, by name.
inline at::Tensor call_operator(const char* name, const at::Tensor& input) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<at::Tensor(const at::Tensor&)>().call(input);
}
inline at::Tensor call_operator(const char* name, const at::Tensor& input, double factor) {
  using Signature = at::Tensor(const at::Tensor&, double);
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>().call(input, factor);
}
