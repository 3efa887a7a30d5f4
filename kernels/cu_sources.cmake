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
  indexing/index_slices.cu
  indexing/index_reduce.cu
  indexing/take_put.cu
  indexing/masked_scatter.cu
  loss/multi_margin_loss.cu
  loss/multilabel_margin_loss.cu
  loss/binary_cross_entropy.cu
  arithmetic/integer_division.cu)
