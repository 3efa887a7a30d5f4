// A fresh virtual device for each test, and device memory filled from the host.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/vcuda/runtime.h"

class VcudaTest : public testing::Test {
 protected:
  void SetUp() override {
    vcuda::options().blocking = false;
    // The environment may choose another tool for all that follows.
    static const vcuda::Tool kTool = vcuda::options().tool;
    vcuda::options().tool = kTool;
    vcuda::options().caching = false;
    vcuda::options().memory_bytes = 1ull << 30;
    vcuda::options().printed_bytes = 1ull << 20;
    vcuda::reset_contexts();
  }

  template <typename T>
  static T* device_array(std::size_t count) {
    void* out = nullptr;
    EXPECT_EQ(vcuda::allocate(&out, count * sizeof(T)), vcuda::Error::none);
    return static_cast<T*>(out);
  }

  template <typename T>
  static T* to_device(const std::vector<T>& values) {
    T* const out = device_array<T>(values.size());
    EXPECT_EQ(vcuda::copy(out, values.data(), values.size() * sizeof(T)), vcuda::Error::none);
    return out;
  }

  // Read without the runtime: also works on a poisoned context, where copy() refuses.
  template <typename T>
  static std::vector<T> peek(const T* from, std::size_t count) {
    return std::vector<T>(from, from + count);
  }

  static std::string printed_by(const std::function<void()>& action) {
    testing::internal::CaptureStderr();
    action();
    return testing::internal::GetCapturedStderr();
  }
};

inline std::string hex(const void* address) {
  char out[32];
  std::snprintf(out, sizeof out, "0x%zx", reinterpret_cast<std::size_t>(address));
  return out;
}
