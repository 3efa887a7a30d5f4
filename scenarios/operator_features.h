// Coverage of what LibTorch itself is asked to do: each operator call, with the dtypes and coarse shapes of its
// tensors, is a feature. With operators that are not ours this is all that guides the search.
#pragma once

#include <cstdint>
#include <span>

namespace dsafuzz {

// Observes every operator call of this process from now on.
void observe_operators();
// Where features go; empty: nowhere. Size a power of two.
void set_feature_map(std::span<std::uint8_t> map);

}  // namespace dsafuzz
