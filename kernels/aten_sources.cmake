# The files that include LibTorch, relative to kernels/.
set(DSAFUZZ_ATEN_SOURCES
  aten/allocator.cpp
  aten/autocast.cpp
  aten/basic_ops.cpp
  aten/custom.cpp
  aten/device_guard.cpp
  aten/error.cpp
  aten/fallback.cpp
  aten/gather_scatter.cpp
  aten/hooks.cpp
  aten/indexing.cpp
  aten/nll_loss.cpp
  aten/embedding_bag.cpp
  aten/pooling.cpp
  aten/segments.cpp)
