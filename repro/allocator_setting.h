// PYTORCH_ALLOC_CONF (before: PYTORCH_CUDA_ALLOC_CONF) as PyTorch's allocator reads it: options KEY:VALUE with commas
// between them. A value that it does not take ends the program at the first allocation.
#pragma once

#include <string>
#include <string_view>

namespace dsafuzz {

// The first option with a value that every PyTorch refuses: "expandable_segments:true". Empty: there is none. Options
// that are not known here are left to PyTorch, which gains some with every release.
std::string bad_allocator_option(std::string_view setting);

}  // namespace dsafuzz
