// How often each of the values 0 to bins - 1 occurs. The counts are gathered in an array in shared memory, or in one on
// each thread's stack, before they are added to the result. Values outside the bins are not counted; with `checked`
// false nobody looks, and they are counted beside the array.
//
// Asynchronous: failures surface as runtime.h says. `counts` is zeroed and has kSharedBins or kLocalBins elements.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

constexpr int kSharedBins = 64;
constexpr int kLocalBins = 8;

void count_values_in_shared(const std::int64_t* values, std::int64_t n, int* counts, bool checked,
                            vcuda::Stream stream);
void count_values_in_local(const std::int64_t* values, std::int64_t n, int* counts, bool checked, vcuda::Stream stream);

}  // namespace kernels
