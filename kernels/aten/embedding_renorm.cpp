// embedding_renorm_ on the virtual device: what F.embedding does first if it is given max_norm.
#include "kernels/indexing/embedding_renorm.h"

#include <ATen/ATen.h>
#include <ATen/TensorUtils.h>
#include <torch/library.h>

#include "kernels/aten/registration.h"

namespace vcuda::aten {
namespace {

using at::Tensor;

Tensor& embedding_renorm(Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  expect_one_device("wrapper_CUDA__embedding_renorm_", {{self, "self"}, {indices, "indices"}});
  const c10::DeviceGuard guard(self.device());
  check_pending();
  const at::TensorArg self_arg{self, "self", 1};
  const at::TensorArg indices_arg{indices, "indices", 1};
  at::checkDim("embedding_renorm_", self_arg, 2);

  if (indices.numel() == 0) return self;
  // A row that is named twice is scaled once.
  const Tensor rows = std::get<0>(at::_unique2(indices.contiguous().view(-1), true));
  kernels::EmbeddingRenorm args;
  args.dtype = floating_dtype(self.scalar_type(), "embedding_renorm_cuda_");
  TORCH_CHECK_NOT_IMPLEMENTED(rows.scalar_type() == at::kLong || rows.scalar_type() == at::kInt,
                              "\"embedding_renorm_cuda_\" not implemented for '", rows.scalar_type(), "'");
  args.wide = rows.scalar_type() == at::kLong;
  args.weight = self.mutable_data_ptr();
  args.indices = rows.const_data_ptr();
  args.count = rows.numel();
  args.features = self.size(1);
  args.row_stride = self.stride(0);
  args.feature_stride = self.stride(1);
  args.max_norm = max_norm;
  args.norm_type = norm_type;
  kernels::embedding_renorm(args, stream_for(self));
  check_after_launch();
  return self;
}

}  // namespace

DSAFUZZ_OPERATORS(dense, m) { m.impl("embedding_renorm_", &embedding_renorm); }

}  // namespace vcuda::aten
