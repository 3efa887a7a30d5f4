// Losses: which labels and probabilities they take.
#include <array>

#include "repro/contract_row.h"

namespace dsafuzz {
namespace {

constexpr std::string_view kCrossEntropy = "torch.nn.CrossEntropyLoss, Shape: Target";
constexpr std::string_view kNll = "torch.nn.NLLLoss, Shape: Target";
constexpr std::string_view kMultiMargin = "torch.nn.MultiMarginLoss, y";
constexpr std::string_view kMultilabel = "torch.nn.MultiLabelMarginLoss, y";
constexpr std::string_view kBinary = "torch.nn.BCELoss, Shape: Input, Target";
constexpr std::string_view kCtc = "torch.nn.CTCLoss, Shape: Targets";
constexpr std::string_view kCtcLengths = "torch.nn.CTCLoss, Shape: Input_lengths, Target_lengths";

using enum Rule;
constexpr std::array kRows{
    ContractRow{"cross_entropy_loss", "target", 1, label, Size::class_axis, "self", 0, "classes", kCrossEntropy},
    ContractRow{"nll_loss", "target", 1, label, Size::class_axis, "self", 0, "classes", kNll},
    ContractRow{"nll_loss_nd", "target", 1, label, Size::class_axis, "self", 0, "classes", kNll},
    ContractRow{"nll_loss2d", "target", 1, label, Size::class_axis, "self", 0, "classes", kNll},
    ContractRow{"nll_loss_forward", "target", 1, label, Size::class_axis, "self", 0, "classes", kNll},
    ContractRow{"nll_loss2d_forward", "target", 1, label, Size::class_axis, "self", 0, "classes", kNll},
    ContractRow{"nll_loss_backward", "target", 2, label, Size::class_axis, "self", 1, "classes", kNll},
    ContractRow{"nll_loss2d_backward", "target", 2, label, Size::class_axis, "self", 1, "classes", kNll},
    ContractRow{"multi_margin_loss", "target", 1, position, Size::class_axis, "self", 0, "classes", kMultiMargin},
    ContractRow{"multi_margin_loss_backward", "target", 2, position, Size::class_axis, "self", 1, "classes",
                kMultiMargin},
    ContractRow{"multilabel_margin_loss", "target", 1, ended_labels, Size::last_axis, "self", 0, "classes",
                kMultilabel},
    ContractRow{"multilabel_margin_loss_forward", "target", 1, ended_labels, Size::last_axis, "self", 0, "classes",
                kMultilabel},
    ContractRow{"multilabel_margin_loss_backward", "target", 2, ended_labels, Size::last_axis, "self", 1, "classes",
                kMultilabel},
    ContractRow{.op = "binary_cross_entropy", .argument = "self", .at = 0, .rule = probability, .source = kBinary},
    ContractRow{.op = "binary_cross_entropy", .argument = "target", .at = 1, .rule = probability, .source = kBinary},
    ContractRow{
        .op = "binary_cross_entropy_backward", .argument = "self", .at = 1, .rule = probability, .source = kBinary},
    ContractRow{
        .op = "binary_cross_entropy_backward", .argument = "target", .at = 2, .rule = probability, .source = kBinary},
    ContractRow{.op = "binary_cross_entropy_with_logits",
                .argument = "target",
                .at = 1,
                .rule = probability,
                .source = "torch.nn.BCEWithLogitsLoss: targets are numbers between 0 and 1"},
    ContractRow{"ctc_loss", "targets", 1, used_labels, Size::last_axis, "log_probs", 0, "classes", kCtc},
    ContractRow{"_ctc_loss", "targets", 1, used_labels, Size::last_axis, "log_probs", 0, "classes", kCtc},
    ContractRow{"ctc_loss", "input_lengths", 2, up_to, Size::first_axis, "log_probs", 0, "steps", kCtcLengths},
    ContractRow{"_ctc_loss", "input_lengths", 2, up_to, Size::first_axis, "log_probs", 0, "steps", kCtcLengths},
    ContractRow{"ctc_loss", "target_lengths", 3, up_to, Size::last_axis, "targets", 1, "labels", kCtcLengths},
    ContractRow{"_ctc_loss", "target_lengths", 3, up_to, Size::last_axis, "targets", 1, "labels", kCtcLengths},
};

}  // namespace

std::span<const ContractRow> loss_contracts() { return kRows; }

}  // namespace dsafuzz
