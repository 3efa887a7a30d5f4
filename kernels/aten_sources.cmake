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
  aten/sampling.cpp
  aten/ctc_loss.cpp
  aten/sparse_indices.cpp
  aten/grouped_mm.cpp
  aten/dynamic_cast.cpp)
