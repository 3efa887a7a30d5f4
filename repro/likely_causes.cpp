// The first group that fits speaks.
#include "repro/likely_causes.h"

#include <array>
#include <span>

#include "repro/scan.h"

namespace dsafuzz {
namespace {

using Causes = std::span<const std::string_view>;

constexpr std::array<std::string_view, 5> kLabels{
    "Labels counted from 1: a label equal to the number of classes is one too many. Subtract 1.",
    "A padding or ignore value that the loss was not told of: -1, or 255 in segmentation masks, while ignore_index is "
    "-100 unless it is given.",
    "The last layer has fewer outputs than the data has classes: a new data set, a pretrained head, a `num_classes` "
    "that forgot the background.",
    "Labels that are no class numbers: pixel colours of a mask read as RGB, raw ids of categories, one-hot rows.",
    "Labels kept in a narrow or unsigned type: -1 becomes 255 in uint8."};
constexpr std::array<std::string_view, 5> kTokens{
    "The tokenizer knows more tokens than the table has rows: tokens were added, or it belongs to another checkpoint. "
    "Call model.resize_token_embeddings(len(tokenizer)).",
    "The sequence is longer than the table of positions (max_position_embeddings). Truncate to it.",
    "-100 or -1, a padding value meant for the loss, went in as a token. Replace it by the padding token's id.",
    "Segment or category ids above what their table was made for (type_vocab_size, num_embeddings; ids counted from 1 "
    "need one row more).",
    "Token ids that are garbage: an uninitialised buffer, ids of another model, NaN converted to integers."};
constexpr std::array<std::string_view, 4> kPositions{
    "An index equal to the size: counted from 1, or `end` taken as inclusive.",
    "A marker such as -1 or -100 among the indices, left unmasked. Mask it out, or clamp and ignore the result.",
    "Indices made for another tensor: before a filter, a crop, a shard or a smaller batch.",
    "Indices computed in floating point, or in a type too narrow for them."};
constexpr std::array<std::string_view, 4> kWrapping{
    "An index equal to the size: counted from 1, or `end` taken as inclusive.",
    "Indices made for another tensor or another axis: before a filter, a crop, a shard or a smaller batch.",
    "A marker such as -100 or 255 among the indices. (From -size to -1 they are legal and count from the end.)",
    "Indices computed in floating point from NaN or infinity, or in a type too narrow for them."};
constexpr std::array<std::string_view, 4> kLossProbability{
    "Raw scores where probabilities belong: use binary_cross_entropy_with_logits, or put a sigmoid before the loss.",
    "NaN from a diverged model: too high a learning rate, a division by 0, float16 overflow.",
    "Targets outside 0 to 1: masks of 0 and 255, labels of -1 and 1, class numbers.",
    "Rounding past 1 in half precision. Compute the loss in float32."};
constexpr std::array<std::string_view, 5> kSampling{
    "NaN or infinity in the logits, mostly from float16 overflow. Load the model in bfloat16 or float32, and look for "
    "the first layer whose output is not finite.",
    "A temperature of 0 or close to it: divide by it only when sampling.",
    "A filter (top-k, top-p, bad words) that leaves no token, so that a row sums to 0.",
    "A damaged or wrongly quantised checkpoint, or weights loaded for another architecture.",
    "Left padding without an attention mask: rows that attend to nothing become NaN."};
constexpr std::array<std::string_view, 3> kRandom{
    "NaN from a diverged model reached the parameters of a distribution.",
    "A probability computed without clamping: rounding takes it below 0 or past 1.",
    "Scores given where probabilities or rates belong (a sigmoid, softplus or exp is missing)."};
constexpr std::array<std::string_view, 3> kUnpool{
    "Indices of a pooling that saw another size: pass output_size, or pool and unpool the same shape.",
    "Indices that were changed between pooling and unpooling: cropped, padded, batched, cast.",
    "Indices made by hand for one axis; they count over the whole plane or volume."};
constexpr std::array<std::string_view, 3> kOffsets{
    "Lengths given where offsets belong, or the other way round. Offsets are running sums of lengths, from 0.",
    "Offsets of another batch than the values: one of both was filtered, padded or sharded.",
    "A sum that overflowed a narrow integer type."};
constexpr std::array<std::string_view, 2> kRepeats{
    "output_size is not the sum of repeats: computed before a filter, on another rank, or cached from another batch.",
    "A negative repeat, for example a length minus something longer."};
constexpr std::array<std::string_view, 2> kMasked{
    "The mask has more true elements than there are values: image features and their placeholder tokens do not match.",
    "The prompt was truncated or padded after the placeholders were counted."};
constexpr std::array<std::string_view, 2> kCtc{
    "Labels counted past the classes, or lengths longer than the sequence they belong to.",
    "Padding values inside the part of a row that target_lengths says is used."};
constexpr std::array<std::string_view, 2> kUserAssert{
    "The program's own check on the device failed: its message says what it wanted. Look at the tensor it was given.",
    "The check ran under conditions it was not made for: an empty batch, NaN, another rank's shapes."};
constexpr std::array<std::string_view, 3> kBuild{
    "The installed PyTorch, its CUDA build and this GPU do not fit together.",
    "An extension compiled for another PyTorch or another GPU architecture.",
    "No input is at fault: reinstall a matching build before looking further."};
constexpr std::array<std::string_view, 2> kCast{
    "A tensor of a dtype that PyTorch cannot convert on the device: a quantised, bit or very narrow type.",
    "Memory that does not hold what its dtype says: a storage viewed as another type, a freed buffer."};
constexpr std::array<std::string_view, 3> kUnknown{
    "A value outside what the kernel checks: an index, a label, a length or a size.",
    "A NaN or an infinity where the kernel wants a number.",
    "An extension's kernel that was given another shape, dtype or layout than it was written for."};

struct Group {
  std::string_view op;         // what the operator's base name contains; empty: any
  std::string_view condition;  // what the condition contains; empty: any
  Causes causes;
};
constexpr std::array kGroups{Group{"", "supports only sm_", kBuild},
                             Group{"", "probability tensor contains", kSampling},
                             Group{"", "invalid multinomial distribution", kSampling},
                             Group{"multinomial", "", kSampling},
                             Group{"binary_cross_entropy", "", kLossProbability},
                             Group{"", "input_val >= zero", kLossProbability},
                             Group{"", "*input >= 0. && *input <= 1.", kLossProbability},
                             Group{"assert_async", "", kUserAssert},
                             Group{"repeat_interleave", "", kRepeats},
                             Group{"masked_scatter", "", kMasked},
                             Group{"ctc_loss", "", kCtc},
                             Group{"pool", "", kUnpool},
                             Group{"DynamicCast", "", kCast}};

Causes group_of(const ContractRow& row) {
  switch (row.rule) {
    case Rule::offsets:
    case Rule::ends:
    case Rule::starts:
    case Rule::lengths:
    case Rule::counts: return kOffsets;
    case Rule::probability:
    case Rule::rate:
    case Rule::positive:
    case Rule::not_negative:
    case Rule::weights: return kRandom;
    case Rule::wrapping: return kWrapping;
    default: break;
  }
  if (row.word == "classes" || row.word == "num_classes") return kLabels;
  if (contains(row.op, "embedding")) return kTokens;
  return kPositions;
}

Causes find(const ContractRow* row, std::string_view op, std::string_view condition) {
  for (const Group& group : kGroups) {
    if (contains(op, group.op) && contains(condition, group.condition)) return group.causes;
  }
  if (row) return group_of(*row);
  return contains(condition, "index") || contains(condition, "ndex <") ? Causes(kPositions) : Causes(kUnknown);
}

}  // namespace

std::vector<std::string> likely_causes(const ContractRow* row, std::string_view op, std::string_view condition) {
  const Causes causes = find(row, op, condition);
  return {causes.begin(), causes.end()};
}

}  // namespace dsafuzz
