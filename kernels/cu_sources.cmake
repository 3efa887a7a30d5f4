# Every kernel file, relative to kernels/: compiled by clang for the virtual device and by nvcc where present.
set(DSAFUZZ_CU_SOURCES
  loss/nll_loss.cu
  loss/nll_loss2d.cu
  indexing/advanced_index.cu
  indexing/gather_scatter.cu
  indexing/index_select.cu
  indexing/vectorized_gather.cu
  custom/scale_without_bounds_check.cu
  custom/use_after_free.cu
  indexing/embedding_bag.cu
  indexing/repeat_interleave.cu
  pooling/fractional_max_pool.cu
  pooling/max_pool_backward.cu
  pooling/max_unpool.cu
  reduction/segment_reduce.cu)
