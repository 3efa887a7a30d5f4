// Sparse and jagged tensors, matrix factors and grouped products: indices and row starts that are stored beside values.
#include <array>

#include "repro/contract_row.h"

namespace dsafuzz {
namespace {

constexpr std::string_view kCoo = "torch.sparse_coo_tensor, indices, size";
constexpr std::string_view kStarts = "torch.sparse_compressed_tensor, compressed_indices; Sparse CSR invariants";
constexpr std::string_view kPlain = "torch.sparse_compressed_tensor, plain_indices; Sparse CSR invariants";
constexpr std::string_view kJagged = "torch.nested.nested_tensor_from_jagged, offsets";
constexpr std::string_view kGroups = "torch.nn.functional.grouped_mm, offs";
constexpr std::string_view kPivots = "torch.lu_unpack, LU_pivots; torch.linalg.lu_factor";

using enum Rule;
constexpr std::array kRows{
    ContractRow{"sparse_coo_tensor", "indices", 0, coordinates, Size::none, "size", 2, "size", kCoo},
    ContractRow{"_sparse_coo_tensor_unsafe", "indices", 0, coordinates, Size::none, "size", 2, "size", kCoo},
    ContractRow{"_validate_sparse_coo_tensor_args", "indices", 0, coordinates, Size::none, "size", 2, "size", kCoo},
    ContractRow{"_sparse_coo_tensor_with_dims_and_tensors", "indices", 3, coordinates, Size::none, "size", 2, "size",
                kCoo},
    ContractRow{"sparse_csr_tensor", "crow_indices", 0, starts, Size::elements, "col_indices", 1, "elements", kStarts},
    ContractRow{"sparse_csr_tensor", "col_indices", 1, position, Size::list_second, "size", 3, "columns", kPlain},
    ContractRow{"_sparse_csr_tensor_unsafe", "crow_indices", 0, starts, Size::elements, "col_indices", 1, "elements",
                kStarts},
    ContractRow{"_sparse_csr_tensor_unsafe", "col_indices", 1, position, Size::list_second, "size", 3, "columns",
                kPlain},
    ContractRow{"_validate_sparse_csr_tensor_args", "crow_indices", 0, starts, Size::elements, "col_indices", 1,
                "elements", kStarts},
    ContractRow{"_validate_sparse_csr_tensor_args", "col_indices", 1, position, Size::list_second, "size", 3, "columns",
                kPlain},
    ContractRow{"sparse_csc_tensor", "ccol_indices", 0, starts, Size::elements, "row_indices", 1, "elements", kStarts},
    ContractRow{"sparse_csc_tensor", "row_indices", 1, position, Size::list_first, "size", 3, "rows", kPlain},
    ContractRow{"_validate_compressed_sparse_indices", "compressed_idx", 1, starts, Size::number, "nnz", 5, "nnz",
                kStarts},
    ContractRow{"_validate_compressed_sparse_indices", "plain_idx", 2, position, Size::number, "dim", 4, "dim", kPlain},
    ContractRow{"_convert_indices_from_coo_to_csr", "self", 0, position, Size::number, "size", 1, "rows", kPlain},
    ContractRow{"_convert_indices_from_csr_to_coo", "crow_indices", 0, starts, Size::elements, "col_indices", 1,
                "elements", kStarts},
    ContractRow{"_jagged_to_padded_dense_forward", "offsets", 1, offsets, Size::first_axis, "values", 0, "rows",
                kJagged},
    ContractRow{"_padded_dense_to_jagged_forward", "offsets", 1, offsets, Size::number, "total_L", 2, "total_L",
                kJagged},
    ContractRow{"_grouped_mm", "offs", 2, ends, Size::grouped, "self", 0, "size", kGroups},
    ContractRow{"_scaled_grouped_mm", "offs", 4, ends, Size::grouped, "self", 0, "size", kGroups},
    ContractRow{"lu_unpack", "LU_pivots", 1, one_based, Size::matrix_rows, "LU_data", 0, "rows", kPivots},
    ContractRow{"linalg_lu_solve", "pivots", 1, one_based, Size::matrix_rows, "LU", 0, "rows", kPivots},
};

}  // namespace

std::span<const ContractRow> sparse_contracts() { return kRows; }

}  // namespace dsafuzz
