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
  sampling/assert_async.cu
  sampling/bernoulli.cu
  sampling/multinomial.cu
  sampling/poisson.cu
  loss/ctc_loss.cu
  sparse/convert_indices.cu
  matmul/grouped_mm.cu
  elementwise/dynamic_cast.cu)
