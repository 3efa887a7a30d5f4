// The device cuda:N:own: a GPU on which dsafuzz's kernels, compiled by nvcc, run in the place of ATen's, so that one
// can tell what vcuda gets wrong (the same source says something else there) from what the kernels get wrong (ATen's
// do).
#pragma once

#include <span>
#include <string_view>

#include "repro/result.h"
#include "repro/run_settings.h"

namespace dsafuzz {

// Whether the library with the kernels was built, which takes nvcc.
bool have_own_kernels();

// Problem: the device is such a one. A finding is about kernels that others have: its reproducer needs torch alone.
Result<void> check_kernels_are_atens(const Device& device);

// What is ATen's there too, so that cuda:N:own and cuda:N cannot differ in it.
struct StillAtens {
  std::string_view operators, reason;
};
std::span<const StillAtens> still_atens();

}  // namespace dsafuzz
