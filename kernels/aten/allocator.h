// The allocators behind tensors on the virtual device. Neither pointer is owned by the caller; both live for ever.
#pragma once

#include <c10/core/Allocator.h>

namespace vcuda::aten {

// Memory of the current device. Throws c10::OutOfMemoryError in CUDA's words.
c10::Allocator* device_allocator();

// Host memory for pin_memory(). is_pinned: whether `pointer` is the start of such a block.
c10::Allocator* pinned_allocator();
bool is_pinned(const void* pointer);

}  // namespace vcuda::aten
