// Operators that take positions: indexing, embeddings, pooling with indices, segments.
#include <array>

#include "repro/contract_row.h"

namespace dsafuzz {
namespace {

constexpr std::string_view kIndexing = "Tensor Indexing API: negative indices count from the end";
constexpr std::string_view kTakeAlong = "torch.take_along_dim, indices; numpy.take_along_axis";
constexpr std::string_view kEmbedding = "torch.nn.Embedding, Shape: Input; num_embeddings";
constexpr std::string_view kBag = "torch.nn.functional.embedding_bag, input";
constexpr std::string_view kBagOffsets = "torch.nn.functional.embedding_bag, offsets";
constexpr std::string_view kUnpool2d = "torch.nn.MaxUnpool2d, Inputs: indices";
constexpr std::string_view kUnpool3d = "torch.nn.MaxUnpool3d, Inputs: indices";
constexpr std::string_view kFractional = "torch.nn.FractionalMaxPool2d, return_indices";
constexpr std::string_view kMaxPool = "torch.nn.MaxPool2d, return_indices";
constexpr std::string_view kAdaptive = "torch.nn.AdaptiveMaxPool2d, return_indices";
constexpr std::string_view kSegments = "torch.segment_reduce: lengths of segments";
constexpr std::string_view kRepeats = "torch.repeat_interleave, repeats; output_size";
constexpr std::string_view kScatter = "torch.Tensor.scatter_, index";

using enum Rule;
constexpr std::array kRows{
    ContractRow{"index", "indices", 1, wrapping, Size::listed_axis, "self", 0, "size", kIndexing},
    ContractRow{"_unsafe_index", "indices", 1, wrapping, Size::listed_axis, "self", 0, "size", kIndexing},
    ContractRow{"index_put", "indices", 1, wrapping, Size::listed_axis, "self", 0, "size", kIndexing},
    ContractRow{"_unsafe_index_put", "indices", 1, wrapping, Size::listed_axis, "self", 0, "size", kIndexing},
    ContractRow{"_index_put_impl", "indices", 1, wrapping, Size::listed_axis, "self", 0, "size", kIndexing},
    ContractRow{"gather", "index", 2, position, Size::dim_axis, "self", 0, "size", "torch.gather, index"},
    ContractRow{"scatter", "index", 2, position, Size::dim_axis, "self", 0, "size", kScatter},
    ContractRow{"scatter_add", "index", 2, position, Size::dim_axis, "self", 0, "size",
                "torch.Tensor.scatter_add_, index"},
    ContractRow{"scatter_reduce", "index", 2, position, Size::dim_axis, "self", 0, "size",
                "torch.Tensor.scatter_reduce_, index"},
    ContractRow{"index_select", "index", 2, position, Size::dim_axis, "self", 0, "size", "torch.index_select, index"},
    ContractRow{"index_add", "index", 2, position, Size::dim_axis, "self", 0, "size", "torch.Tensor.index_add_, index"},
    ContractRow{"index_copy", "index", 2, position, Size::dim_axis, "self", 0, "size",
                "torch.Tensor.index_copy_, index"},
    ContractRow{"index_reduce", "index", 2, position, Size::dim_axis, "self", 0, "size",
                "torch.Tensor.index_reduce_, index"},
    ContractRow{"index_fill", "index", 2, wrapping, Size::dim_axis, "self", 0, "size",
                "torch.Tensor.index_fill_, index"},
    ContractRow{"take", "index", 1, wrapping, Size::elements, "self", 0, "elements", "torch.take, index"},
    ContractRow{"put", "index", 1, wrapping, Size::elements, "self", 0, "elements", "torch.Tensor.put_, index"},
    ContractRow{"take_along_dim", "indices", 1, wrapping, Size::dim_axis, "self", 0, "size", kTakeAlong,
                When::with_dim},
    ContractRow{"take_along_dim", "indices", 1, position, Size::elements, "self", 0, "elements", kTakeAlong,
                When::without_dim},
    ContractRow{"masked_scatter", "mask", 1, mask, Size::elements, "source", 2, "source",
                "torch.Tensor.masked_scatter_, source"},
    ContractRow{"one_hot", "self", 0, position, Size::number, "num_classes", 1, "num_classes",
                "torch.nn.functional.one_hot, num_classes"},
    ContractRow{"embedding", "indices", 1, position, Size::first_axis, "weight", 0, "rows", kEmbedding},
    ContractRow{"embedding_renorm", "indices", 1, position, Size::first_axis, "self", 0, "rows", kEmbedding},
    ContractRow{"embedding_dense_backward", "indices", 1, padded, Size::number, "num_weights", 2, "rows", kEmbedding},
    ContractRow{"embedding_backward", "indices", 1, padded, Size::number, "num_weights", 2, "rows", kEmbedding},
    ContractRow{"embedding_bag", "indices", 1, position, Size::first_axis, "weight", 0, "rows", kBag},
    ContractRow{"_embedding_bag", "indices", 1, position, Size::first_axis, "weight", 0, "rows", kBag},
    ContractRow{"_embedding_bag_forward_only", "indices", 1, position, Size::first_axis, "weight", 0, "rows", kBag},
    ContractRow{"embedding_bag", "offsets", 2, offsets, Size::elements, "indices", 1, "indices", kBagOffsets},
    ContractRow{"_embedding_bag", "offsets", 2, offsets, Size::elements, "indices", 1, "indices", kBagOffsets},
    ContractRow{"_embedding_bag_forward_only", "offsets", 2, offsets, Size::elements, "indices", 1, "indices",
                kBagOffsets},
    ContractRow{"_embedding_bag_dense_backward", "indices", 1, position, Size::number, "num_weights", 5, "rows", kBag},
    ContractRow{"_embedding_bag_dense_backward", "offset2bag", 2, position, Size::first_axis, "grad", 0, "bags",
                kBagOffsets},
    ContractRow{"_embedding_bag_per_sample_weights_backward", "indices", 2, position, Size::first_axis, "weight", 1,
                "rows", kBag},
    ContractRow{"_embedding_bag_per_sample_weights_backward", "offset2bag", 4, position, Size::first_axis, "grad", 0,
                "bags", kBagOffsets},
    ContractRow{"max_unpool2d", "indices", 1, position, Size::product, "output_size", 2, "plane", kUnpool2d},
    ContractRow{"max_unpool3d", "indices", 1, position, Size::product, "output_size", 2, "volume", kUnpool3d},
    ContractRow{"fractional_max_pool2d_backward", "indices", 4, position, Size::last_two, "self", 1, "plane",
                kFractional},
    ContractRow{"fractional_max_pool3d_backward", "indices", 4, position, Size::last_three, "self", 1, "volume",
                kFractional},
    ContractRow{"max_pool2d_with_indices_backward", "indices", 7, position, Size::last_two, "self", 1, "plane",
                kMaxPool},
    ContractRow{"max_pool3d_with_indices_backward", "indices", 7, position, Size::last_three, "self", 1, "volume",
                kMaxPool},
    ContractRow{"adaptive_max_pool2d_backward", "indices", 2, position, Size::last_two, "self", 1, "plane", kAdaptive},
    ContractRow{"adaptive_max_pool3d_backward", "indices", 2, position, Size::last_three, "self", 1, "volume",
                kAdaptive},
    ContractRow{"segment_reduce", "lengths", 2, lengths, Size::own_rank, "data", 0, "size", kSegments},
    ContractRow{"segment_reduce", "offsets", 4, ends, Size::own_rank, "data", 0, "size", kSegments},
    ContractRow{"_segment_reduce_backward", "lengths", 4, lengths, Size::own_rank, "data", 2, "size", kSegments},
    ContractRow{"_segment_reduce_backward", "offsets", 5, ends, Size::own_rank, "data", 2, "size", kSegments},
    ContractRow{"repeat_interleave", "repeats", 1, counts, Size::number, "output_size", 3, "output_size", kRepeats},
    ContractRow{"repeat_interleave", "repeats", 0, counts, Size::number, "output_size", 1, "output_size", kRepeats,
                When::alone},
    ContractRow{"searchsorted", "sorter", 5, position, Size::last_axis, "sorted_sequence", 0, "size",
                "torch.searchsorted, sorter"},
    ContractRow{.op = "bincount", .argument = "self", .at = 0, .rule = not_negative, .source = "torch.bincount, input"},
};

}  // namespace

std::span<const ContractRow> indexing_contracts() { return kRows; }

}  // namespace dsafuzz
