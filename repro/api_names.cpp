// The rows of api_name.h. Operators that have none are called through the dispatcher: those that only autograd calls
// (`*_backward`), and those whose public function is of another shape (max_unpool2d, validators, jagged conversions).
#include <array>

#include "repro/api_name.h"

namespace dsafuzz {
namespace {

constexpr std::string_view kNllSchema = "self, target, weight={}, reduction=at::Reduction::Mean, ignore_index=-100";
constexpr std::string_view kNllPython =
    "torch.nn.functional.nll_loss({self}, {target}<, weight={weight}><, ignore_index={ignore_index}>"
    "<, reduction={reduction:word}>)";
constexpr std::string_view kBagSchema =
    "weight, indices, offsets, scale_grad_by_freq=false, mode=0, sparse=false, per_sample_weights={}, "
    "include_last_offset=false";
constexpr std::string_view kBagPython =
    "torch.nn.functional.embedding_bag({indices}, {weight}, {offsets}, mode={mode:word|\"sum\"}"
    "<, scale_grad_by_freq={scale_grad_by_freq}><, sparse={sparse}><, per_sample_weights={per_sample_weights}>"
    "<, include_last_offset={include_last_offset}>)";
constexpr std::string_view kPairSchema = "self, target, reduction=at::Reduction::Mean";

constexpr std::array kRows{
    // Losses.
    ApiName{"cross_entropy_loss",
            "self, target, weight={}, reduction=at::Reduction::Mean, ignore_index=-100, label_smoothing=0.0",
            "torch.nn.functional.cross_entropy({self}, {target}<, weight={weight}><, ignore_index={ignore_index}>"
            "<, reduction={reduction:word}><, label_smoothing={label_smoothing}>)",
            "at::cross_entropy_loss"},
    ApiName{"nll_loss", kNllSchema, kNllPython, "at::nll_loss"},
    ApiName{"nll_loss_nd", kNllSchema, kNllPython, "at::nll_loss_nd"},
    ApiName{"mse_loss", kPairSchema, "torch.nn.functional.mse_loss({self}, {target}<, reduction={reduction:word}>)",
            "at::mse_loss"},
    ApiName{"l1_loss", kPairSchema, "torch.nn.functional.l1_loss({self}, {target}<, reduction={reduction:word}>)",
            "at::l1_loss"},
    ApiName{"smooth_l1_loss", kPairSchema,
            "torch.nn.functional.smooth_l1_loss({self}, {target}<, reduction={reduction:word}>)", "at::smooth_l1_loss"},
    ApiName{"huber_loss", "self, target, reduction=at::Reduction::Mean, delta=1.0",
            "torch.nn.functional.huber_loss({self}, {target}<, reduction={reduction:word}><, delta={delta}>)",
            "at::huber_loss"},
    ApiName{"kl_div", "self, target, reduction=at::Reduction::Mean, log_target=false",
            "torch.nn.functional.kl_div({self}, {target}, reduction={reduction:word|\"mean\"}"
            "<, log_target={log_target}>)",
            "at::kl_div"},
    ApiName{"binary_cross_entropy", "self, target, weight={}, reduction=at::Reduction::Mean",
            "torch.nn.functional.binary_cross_entropy({self}, {target}<, reduction={reduction:word}>)",
            "at::binary_cross_entropy"},
    ApiName{"binary_cross_entropy_with_logits", "self, target, weight={}, pos_weight={}, reduction=at::Reduction::Mean",
            "torch.nn.functional.binary_cross_entropy_with_logits({self}, {target}<, weight={weight}>"
            "<, pos_weight={pos_weight}><, reduction={reduction:word}>)",
            "at::binary_cross_entropy_with_logits"},
    ApiName{"multi_margin_loss", "self, target, p=1, margin=1, weight={}, reduction=at::Reduction::Mean",
            "torch.nn.functional.multi_margin_loss({self}, {target}<, p={p}><, margin={margin}><, weight={weight}>"
            "<, reduction={reduction:word}>)",
            "at::multi_margin_loss"},
    ApiName{"multilabel_margin_loss", kPairSchema,
            "torch.nn.functional.multilabel_margin_loss({self}, {target}<, reduction={reduction:word}>)",
            "at::multilabel_margin_loss"},
    ApiName{"ctc_loss",
            "log_probs, targets, input_lengths, target_lengths, blank=0, reduction=at::Reduction::Mean, "
            "zero_infinity=false",
            "torch.nn.functional.ctc_loss({log_probs}, {targets}, {input_lengths}, {target_lengths}<, blank={blank}>"
            "<, reduction={reduction:word}><, zero_infinity={zero_infinity}>)",
            "at::ctc_loss"},

    // Indexing. F.embedding compares padding_idx with the rows first, so it takes none here.
    ApiName{"embedding", "weight, indices, padding_idx=-1, scale_grad_by_freq=false, sparse=false",
            "torch.nn.functional.embedding({indices}, {weight}<, scale_grad_by_freq={scale_grad_by_freq}>"
            "<, sparse={sparse}>)",
            "at::embedding"},
    ApiName{"embedding_bag", kBagSchema, kBagPython, "at::embedding_bag", 4, 1},
    ApiName{"index", "self, indices", "{self}[{indices:subscript}]", "{self}.index({{indices:subscript}})"},
    ApiName{"index_put_", "self, indices, values, accumulate=false",
            "{self}.index_put_({indices:tuple}, {values}<, accumulate={accumulate}>)",
            "{self}.index_put_({indices:list}, {values}<, {accumulate}>)"},
    ApiName{"index_put", "self, indices, values, accumulate=false",
            "torch.index_put({self}, {indices:tuple}, {values}<, accumulate={accumulate}>)",
            "at::index_put({self}, {indices:list}, {values}<, {accumulate}>)"},
    ApiName{"index_select", "self, dim, index", "torch.index_select({self}, {dim}, {index})", "at::index_select"},
    ApiName{"gather", "self, dim, index, sparse_grad=false",
            "torch.gather({self}, {dim}, {index}<, sparse_grad={sparse_grad}>)", "at::gather"},
    ApiName{"take", "self, index", "torch.take({self}, {index})", "at::take"},
    ApiName{"take_along_dim", "self, indices, dim={}", "torch.take_along_dim({self}, {indices}<, {dim}>)",
            "at::take_along_dim"},
    ApiName{"scatter", "self, dim, index, src", "torch.scatter({self}, {dim}, {index}, {src})", "at::scatter"},
    ApiName{"scatter.value", "self, dim, index, value", "torch.scatter({self}, {dim}, {index}, {value})",
            "at::scatter"},
    ApiName{"scatter_", "self, dim, index, src", "{self}.scatter_({dim}, {index}, {src})", "self.scatter_"},
    ApiName{"scatter_.value", "self, dim, index, value", "{self}.scatter_({dim}, {index}, {value})", "self.scatter_"},
    ApiName{"scatter_add", "self, dim, index, src", "torch.scatter_add({self}, {dim}, {index}, {src})",
            "at::scatter_add"},
    ApiName{"scatter_add_", "self, dim, index, src", "{self}.scatter_add_({dim}, {index}, {src})", "self.scatter_add_"},
    ApiName{"scatter_reduce", "self, dim, index, src, reduce, include_self=true",
            "torch.scatter_reduce({self}, {dim}, {index}, {src}, {reduce}<, include_self={include_self}>)",
            "at::scatter_reduce"},
    ApiName{"scatter_reduce_", "self, dim, index, src, reduce, include_self=true",
            "{self}.scatter_reduce_({dim}, {index}, {src}, {reduce}<, include_self={include_self}>)",
            "self.scatter_reduce_"},
    ApiName{"index_add", "self, dim, index, source, alpha=1",
            "torch.index_add({self}, {dim}, {index}, {source}<, alpha={alpha}>)", "at::index_add"},
    ApiName{"index_add_", "self, dim, index, source, alpha=1",
            "{self}.index_add_({dim}, {index}, {source}<, alpha={alpha}>)", "self.index_add_"},
    ApiName{"index_copy", "self, dim, index, source", "torch.index_copy({self}, {dim}, {index}, {source})",
            "at::index_copy"},
    ApiName{"index_copy_", "self, dim, index, source", "{self}.index_copy_({dim}, {index}, {source})",
            "self.index_copy_"},
    ApiName{"index_fill", "self, dim, index, value", "torch.index_fill({self}, {dim}, {index}, {value})",
            "at::index_fill"},
    ApiName{"index_fill_", "self, dim, index, value", "{self}.index_fill_({dim}, {index}, {value})",
            "self.index_fill_"},
    ApiName{"index_reduce", "self, dim, index, source, reduce, include_self=true",
            "torch.index_reduce({self}, {dim}, {index}, {source}, {reduce}<, include_self={include_self}>)",
            "at::index_reduce"},
    ApiName{"index_reduce_", "self, dim, index, source, reduce, include_self=true",
            "{self}.index_reduce_({dim}, {index}, {source}, {reduce}<, include_self={include_self}>)",
            "self.index_reduce_"},
    ApiName{"put", "self, index, source, accumulate=false",
            "torch.put({self}, {index}, {source}<, accumulate={accumulate}>)", "at::put"},
    ApiName{"put_", "self, index, source, accumulate=false",
            "{self}.put_({index}, {source}<, accumulate={accumulate}>)", "self.put_"},
    ApiName{"masked_scatter", "self, mask, source", "torch.masked_scatter({self}, {mask}, {source})",
            "at::masked_scatter"},
    ApiName{"masked_scatter_", "self, mask, source", "{self}.masked_scatter_({mask}, {source})",
            "self.masked_scatter_"},
    ApiName{"one_hot", "self, num_classes=-1", "torch.nn.functional.one_hot({self}<, {num_classes}>)", "at::one_hot"},
    ApiName{"searchsorted", "sorted_sequence, self, out_int32=false, right=false, side={}, sorter={}",
            "torch.searchsorted({sorted_sequence}, {self}<, out_int32={out_int32}><, right={right}><, side={side}>"
            "<, sorter={sorter}>)",
            "at::searchsorted"},
    ApiName{"bincount", "self, weights={}, minlength=0",
            "torch.bincount({self}<, weights={weights}><, minlength={minlength}>)", "at::bincount"},
    ApiName{"histc", "self, bins=100, min=0, max=0", "torch.histc({self}<, bins={bins}><, min={min}><, max={max}>)",
            "at::histc"},
    ApiName{"repeat_interleave.Tensor", "repeats, output_size={}",
            "torch.repeat_interleave({repeats}<, output_size={output_size}>)",
            // A bare number would be the repeats of another overload.
            "at::repeat_interleave({repeats}<, std::make_optional(std::int64_t({output_size}))>)"},
    ApiName{"repeat_interleave.self_Tensor", "self, repeats, dim={}, output_size={}",
            "torch.repeat_interleave({self}, {repeats}<, dim={dim}><, output_size={output_size}>)",
            "at::repeat_interleave"},
    ApiName{"segment_reduce", "data, reduce, lengths={}, indices={}, offsets={}, axis=0, unsafe=false, initial={}",
            "torch.segment_reduce({data}, {reduce}<, lengths={lengths}><, indices={indices}><, offsets={offsets}>"
            "<, axis={axis}><, unsafe={unsafe}><, initial={initial}>)",
            "at::segment_reduce"},

    // Random draws and arithmetic.
    ApiName{"multinomial", "self, num_samples, replacement=false",
            "torch.multinomial({self}, {num_samples}<, replacement={replacement}>)", "at::multinomial"},
    ApiName{"bernoulli", "self", "torch.bernoulli({self})", "at::bernoulli"},
    ApiName{"bernoulli.p", "self, p", "torch.bernoulli({self}, {p})", "at::bernoulli"},
    ApiName{"bernoulli_", "self, p=0.5", "{self}.bernoulli_(<{p}>)", "self.bernoulli_"},
    ApiName{"poisson", "self", "torch.poisson({self})", "at::poisson"},
    ApiName{"binomial", "count, prob", "torch.binomial({count}, {prob})", "at::binomial"},
    ApiName{"normal.Tensor_Tensor", "mean, std", "torch.normal({mean}, {std})", "at::normal"},
    ApiName{"exponential_", "self, lambd=1.0", "{self}.exponential_(<{lambd}>)", "self.exponential_"},
    ApiName{"geometric_", "self, p", "{self}.geometric_({p})", "self.geometric_"},
    ApiName{"floor_divide", "self, other", "torch.floor_divide({self}, {other})", "at::floor_divide"},
    ApiName{"remainder", "self, other", "torch.remainder({self}, {other})", "at::remainder"},
    ApiName{"fmod", "self, other", "torch.fmod({self}, {other})", "at::fmod"},
    ApiName{"div", "self, other, rounding_mode={}", "torch.div({self}, {other}<, rounding_mode={rounding_mode}>)",
            "at::div"},
    ApiName{"add", "self, other, alpha=1", "torch.add({self}, {other}<, alpha={alpha}>)", "at::add"},
    ApiName{"sub", "self, other, alpha=1", "torch.sub({self}, {other}<, alpha={alpha}>)", "at::sub"},
    ApiName{"mul", "self, other", "torch.mul({self}, {other})", "at::mul"},
    ApiName{"fake_quantize_per_channel_affine", "self, scale, zero_point, axis, quant_min, quant_max",
            "torch.fake_quantize_per_channel_affine({self}, {scale}, {zero_point}, {axis}, {quant_min}, {quant_max})",
            "at::fake_quantize_per_channel_affine"},
    ApiName{"_assert_async", "self, assert_msg", "torch._assert_async({self}<, {assert_msg}>)", "at::_assert_async"},

    // Layers, matrices, sparse tensors and what prepares the arguments of the others.
    ApiName{"linear", "input, weight, bias={}", "torch.nn.functional.linear({input}, {weight}<, {bias}>)",
            "at::linear"},
    ApiName{"layer_norm", "input, normalized_shape, weight={}, bias={}, eps=1e-5",
            "torch.nn.functional.layer_norm({input}, {normalized_shape}<, weight={weight}><, bias={bias}>"
            "<, eps={eps}>)",
            "at::layer_norm"},
    ApiName{"conv2d", "input, weight, bias={}, stride=1, padding=0, dilation=1, groups=1",
            "torch.nn.functional.conv2d({input}, {weight}<, bias={bias}><, stride={stride}><, padding={padding}>"
            "<, dilation={dilation}><, groups={groups}>)"},
    ApiName{"relu", "self", "torch.relu({self})", "at::relu"},
    ApiName{"gelu", "self", "torch.nn.functional.gelu({self})", "at::gelu"},
    ApiName{"silu", "self", "torch.nn.functional.silu({self})", "at::silu"},
    ApiName{"tanh", "self", "torch.tanh({self})", "at::tanh"},
    ApiName{"sigmoid", "self", "torch.sigmoid({self})", "at::sigmoid"},
    ApiName{"flatten.using_ints", "self, start_dim=0, end_dim=-1",
            "torch.flatten({self}<, start_dim={start_dim}><, end_dim={end_dim}>)", "at::flatten"},
    ApiName{"softmax.int", "self, dim, dtype={}", "torch.softmax({self}, {dim}<, dtype={dtype}>)", "at::softmax"},
    ApiName{"log_softmax.int", "self, dim, dtype={}", "torch.log_softmax({self}, {dim}<, dtype={dtype}>)",
            "at::log_softmax"},
    ApiName{"_grouped_mm", "self, mat2, offs={}, bias={}, out_dtype={}",
            "torch.nn.functional.grouped_mm({self}, {mat2}<, offs={offs}><, bias={bias}><, out_dtype={out_dtype}>)",
            "at::_grouped_mm"},
    ApiName{"lu_unpack", "LU_data, LU_pivots, unpack_data=true, unpack_pivots=true",
            "torch.lu_unpack({LU_data}, {LU_pivots}<, unpack_data={unpack_data}><, unpack_pivots={unpack_pivots}>)",
            "at::lu_unpack", 3},
    ApiName{"linalg_lu_solve", "LU, pivots, B, left=true, adjoint=false",
            "torch.linalg.lu_solve({LU}, {pivots}, {B}<, left={left}><, adjoint={adjoint}>)", "at::linalg_lu_solve"},
    ApiName{"sparse_csr_tensor.crow_col_value_size", "crow_indices, col_indices, values, size, dtype, layout, device",
            "torch.sparse_csr_tensor({crow_indices}, {col_indices}, {values}, {size}<, device={device}>)"},
    ApiName{"to_dense", "self", "{self}.to_dense()", "self.to_dense"},
    ApiName{"to_sparse", "self", "{self}.to_sparse()", "self.to_sparse"},
    ApiName{"sort", "self, dim=-1, descending=false", "torch.sort({self}<, dim={dim}><, descending={descending}>)",
            "at::sort", 2},
    ApiName{"max.dim", "self, dim, keepdim=false", "torch.max({self}, {dim}<, keepdim={keepdim}>)", "at::max", 2},
    ApiName{"amin", "self, dim={}, keepdim=false", "torch.amin({self}<, dim={dim}><, keepdim={keepdim}>)", "at::amin"},
    ApiName{"sum", "self", "torch.sum({self})", "at::sum"},
    ApiName{"sum.dim_IntList", "self, dim, keepdim=false, dtype={}",
            "torch.sum({self}, {dim}<, keepdim={keepdim}><, dtype={dtype}>)"},
    ApiName{"narrow", "self, dim, start, length", "torch.narrow({self}, {dim}, {start}, {length})", "at::narrow"},
    ApiName{"expand", "self, size", "{self}.expand({size})", "self.expand"},
    ApiName{"reshape", "self, shape", "torch.reshape({self}, {shape})", "at::reshape"},
    ApiName{"unsqueeze", "self, dim", "torch.unsqueeze({self}, {dim})", "at::unsqueeze"},
    ApiName{"transpose.int", "self, dim0, dim1", "torch.transpose({self}, {dim0}, {dim1})", "at::transpose"},
    ApiName{"t", "self", "torch.t({self})", "at::t"},
    ApiName{"cat", "tensors, dim=0", "torch.cat({tensors}<, dim={dim}>)", "at::cat"},
    ApiName{"complex", "real, imag", "torch.complex({real}, {imag})", "at::complex"},
};

}  // namespace

std::span<const ApiName> api_names() { return kRows; }

}  // namespace dsafuzz
