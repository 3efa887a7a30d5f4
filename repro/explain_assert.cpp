// From the printed line to rows of the catalogue, from those to operators, from an operator to its contract. Lines of
// other versions than the catalogue's are known by the words they kept.
#include <algorithm>
#include <array>

#include "repro/assert_site.h"
#include "repro/contract_words.h"
#include "repro/explain_parts.h"
#include "repro/likely_causes.h"
#include "repro/normalise.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

std::string_view last_part(std::string_view path) { return path.substr(path.find_last_of("/\\") + 1); }

// "aten::scatter_.src" -> "scatter"
std::string plain_operator(std::string_view op) {
  take(op, "aten::");
  op = op.substr(0, op.find('.'));
  while (op.ends_with('_')) op.remove_suffix(1);
  return std::string(op);
}

// Sites whose text or file differs from the catalogue's version.
struct OlderSite {
  std::string_view file, condition;  // what both contain
  std::string_view op, meaning;
};
constexpr std::array kOlder{
    OlderSite{"SpatialClassNLLCriterion", "", "aten::nll_loss2d", "a label below 0 or from the number of classes on"},
    OlderSite{"ClassNLLCriterion", "", "aten::nll_loss", "a label below 0 or from the number of classes on"},
    OlderSite{"MultiMarginCriterion", "", "aten::multi_margin_loss",
              "a label below 0 or from the number of classes on"},
    OlderSite{"MultiLabelMarginCriterion", "", "aten::multilabel_margin_loss", "a label outside the classes"},
    OlderSite{"BCECriterion", "", "aten::binary_cross_entropy", "an input below 0, above 1, or NaN"},
    OlderSite{"NLLLoss2d", "n_classes", "aten::nll_loss2d", "a label below 0 or from the number of classes on"},
    OlderSite{"Loss.cu", "n_classes", "aten::nll_loss", "a label below 0 or from the number of classes on"},
    OlderSite{"Loss.", "one", "aten::binary_cross_entropy", "a value below 0, above 1, or NaN"},
    OlderSite{"MultiMarginLoss", "", "aten::multi_margin_loss", "a label below 0 or from the number of classes on"},
    OlderSite{"MultiLabelMargin", "", "aten::multilabel_margin_loss", "a label outside the classes"},
    OlderSite{"", "srcIndex < srcSelectDimSize", "aten::embedding, aten::index_select",
              "an index from the number of rows on, or a negative one"},
    OlderSite{"", "dstIndex < dstAddDimSize", "aten::index_add_", "an index from the size on, or a negative one"},
    OlderSite{"", "dstIndex < dstFillDimSize", "aten::index_fill_", "an index from the size on"},
    OlderSite{"", "dstIndex < dstCopyDimSize", "aten::index_copy_", "an index from the size on"},
    OlderSite{"", "indexValue >= 0 && indexValue < ", "aten::gather, aten::scatter_",
              "an index below 0 or from the size of that axis on"},
    OlderSite{"EmbeddingBag", "", "aten::embedding_bag", "a token from the number of rows on, or bad offsets"},
    OlderSite{"Embedding", "", "aten::embedding", "a token below 0 or from the number of rows on"},
    OlderSite{"ScatterGather", "", "aten::gather, aten::scatter_", "an index below 0 or from the size of that axis on"},
    OlderSite{"IndexKernelUtils", "", "aten::index_select, aten::embedding, aten::gather", "an index out of its range"},
    OlderSite{"IndexKernel", "totalElements", "aten::masked_scatter_", "more true elements in the mask than values"},
    OlderSite{"IndexKernel", "index", "aten::index.Tensor, aten::index_put_", "an index below -size or from size on"},
    OlderSite{"TensorIndex", "index", "aten::index.Tensor, aten::index_put_", "an index below -size or from size on"},
    OlderSite{"Indexing", "ndex", "aten::index_select, aten::index_add_", "an index out of its range"},
    OlderSite{"Multinomial", "", "aten::multinomial", "a weight below 0, NaN or infinite, or a row that sums to 0"},
    OlderSite{"TensorRandom", "", "aten::multinomial", "a weight below 0, NaN or infinite, or a row that sums to 0"},
    OlderSite{"Distributions", "p", "aten::bernoulli", "a probability below 0, above 1, or NaN"},
    OlderSite{"MaxUnpool", "", "aten::max_unpool2d", "an index below 0 or past the output's plane"},
    OlderSite{"Repeat", "", "aten::repeat_interleave", "output_size that is not the sum of repeats, or a negative one"},
    OlderSite{"SegmentReduce", "", "aten::segment_reduce", "a negative length"},
    OlderSite{"CompressedIndices", "", "aten::_validate_compressed_sparse_indices", "indices that break an invariant"},
    OlderSite{"GroupMM", "", "aten::_grouped_mm", "group ends that decrease, or that lie past the matrix"},
    OlderSite{"", "index out of bounds: ", "aten::embedding, aten::index.Tensor, aten::gather",
              "an index outside the interval that the message names (checked by torch.compile's kernel)"}};

void add_operators(std::string_view list, Explanation& out) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string each(trimmed(list.substr(0, comma)));
    if (!each.empty() && std::ranges::find(out.operators, each) == out.operators.end()) out.operators.push_back(each);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
}

// Those that are named come first.
template <typename Named>
void prefer(Explanation& out, const Named& is_named) {
  std::vector<std::string> ordered;
  for (const bool named : {true, false}) {
    std::ranges::copy_if(out.operators, std::back_inserter(ordered),
                         [&](const std::string& op) { return is_named(op) == named; });
  }
  out.operators = std::move(ordered);
}

// By a frame of the traceback: `cross_entropy`, `embedding`.
void prefer_named_in(const FrameReading& frames, Explanation& out) {
  prefer(out, [&](const std::string& op) {
    const std::string plain = plain_operator(op);
    return std::ranges::any_of(frames.python, [&](const Frame& frame) {
      const bool loss = frame.function == "cross_entropy" && (plain == "cross_entropy_loss" || plain == "nll_loss_nd");
      return frame.function == plain || loss;
    });
  });
}

// Words of a trigger or condition that point to an argument.
bool speaks_of(std::string_view text, std::string_view argument) {
  struct Clue {
    std::string_view argument, word;
  };
  constexpr std::array kClues{Clue{"target", "target"},         Clue{"target", "label"},
                              Clue{"offsets", "offset"},        Clue{"offsets", "end >= begin"},
                              Clue{"lengths", "length"},        Clue{"compressed_idx", "compressed index"},
                              Clue{"plain_idx", "plain ind"},   Clue{"mask", "mask"},
                              Clue{"repeats", "repeat"},        Clue{"self", "input"},
                              Clue{"indices", "token"},         Clue{"indices", "invalid_index"},
                              Clue{"input_lengths", "input_l"}, Clue{"target_lengths", "target_l"}};
  return std::ranges::any_of(kClues,
                             [&](const Clue& clue) { return clue.argument == argument && contains(text, clue.word); });
}

// The contract that the assert enforces: of the first operator that has one.
const ContractRow* contract_of(const Explanation& out) {
  for (const std::string& op : out.operators) {
    std::string plain = plain_operator(op);
    if (plain == "x[i]") plain = "index";
    if (plain == "x[i] = v") plain = "index_put";
    const auto& rows = contract_rows(plain);
    if (rows.empty()) continue;
    for (const std::string_view text : {std::string_view(out.condition), std::string_view(out.meaning)}) {
      for (const ContractRow* row : rows) {
        if (speaks_of(text, row->argument)) return row;
      }
    }
    return rows.front();
  }
  return nullptr;
}

std::string signature_of(const AssertRecord& record) {
  const std::string kernel = short_kernel_name(record.function.value_or(""));
  std::string text(last_part(record.file));
  if (!kernel.empty()) text += " " + kernel;
  return text + " `" + record.condition + "`";
}

// 3: the same bug; 2: the same line of another function; 1: the same operator; 0: none of it.
int likeness(const KnownScenario& scenario, const AssertRecord& record, const Explanation& out) {
  if (scenario.signature.empty()) return 0;
  if (scenario.signature == signature_of(record)) return 3;
  const bool same_file = scenario.signature.starts_with(std::string(last_part(record.file)) + " ");
  if (same_file && scenario.signature.ends_with("`" + record.condition + "`")) return 2;
  const auto is_step = [&](const std::string& op) {
    return std::ranges::any_of(scenario.ops,
                               [&](const std::string& step) { return plain_operator(step) == plain_operator(op); });
  };
  return std::ranges::any_of(out.operators, is_step) ? 1 : 0;
}

const KnownScenario* scenario_for(std::span<const KnownScenario> scenarios, const AssertRecord& record,
                                  const Explanation& out) {
  const KnownScenario* best = nullptr;
  int most = 0;
  for (const KnownScenario& each : scenarios) {
    const int like = likeness(each, record, out);
    if (like > most) best = &each, most = like;
  }
  return best;
}

std::string happened_text(const LogReading& reading, const AssertRecord& record) {
  std::string text = reading.count == 1
                         ? "A device assert failed in a thread"
                         : "A device assert failed in " + std::to_string(reading.count) + " threads at least";
  const std::string kernel = short_kernel_name(record.function.value_or(""));
  if (!kernel.empty() && kernel != "operator()") text += " of " + kernel;
  text += ": `" + record.condition + "` does not hold (" + record.file;
  if (record.line > 0) text += ":" + std::to_string(record.line);
  text += ")";
  if (record.block && record.thread) {
    const auto triple = [](const Triple& t) {
      return "[" + std::to_string(t[0]) + "," + std::to_string(t[1]) + "," + std::to_string(t[2]) + "]";
    };
    text += ", first printed for block " + triple(*record.block) + ", thread " + triple(*record.thread);
  }
  return text + ".";
}

void add_steps(const LogReading& reading, Explanation& out) {
  if (reading.late_trace.value_or(true)) {
    out.steps.emplace_back("Run once more and wait for every kernel, so that the traceback shows the call at fault:");
    out.steps.push_back("    CUDA_LAUNCH_BLOCKING=1 python " + program_of(reading));
  }
  out.steps.emplace_back("Or move that step to the CPU: it raises an ordinary error that names the value.");
  const std::string op = out.operators.empty() ? "aten::OPERATOR" : "aten::" + plain_operator(out.operators.front());
  const std::string argument = out.argument.empty() ? "index" : out.argument;
  if (op.starts_with("aten::x[i]") || op == "aten::any element-wise operator with out=") return;
  out.steps.emplace_back("Save the call's tensors just before it, in Python:");
  if (argument == "input") {
    out.steps.emplace_back("    torch.save({\"input\": input.cpu()}, \"failing.pt\")");
  } else {
    out.steps.push_back("    torch.save({\"input\": input.cpu(), \"" + argument + "\": " + argument +
                        ".cpu()}, \"failing.pt\")");
  }
  out.steps.emplace_back("Make a case of them and shrink it to a few elements:");
  out.steps.push_back("    dsafuzz import failing.pt --op " + shell_word(op) + " --reduce");
}

}  // namespace

void explain_assert(const LogReading& reading, std::span<const KnownScenario> scenarios, Explanation& out) {
  const AssertRecord& record = reading.asserts.records.front();
  out.fault = true;
  out.condition = record.condition;
  out.happened = happened_text(reading, record);

  const auto rows = find_assert({record.file, record.line, record.function, record.condition});
  if (!rows.empty()) {
    add_operators(operators_of(rows), out);
    out.meaning = triggers_of(rows);
    if (rows.front()->reachable && reading.origin != "extension") out.case_id = std::string(rows.front()->id);
  } else if (reading.origin != "extension") {
    for (const OlderSite& site : kOlder) {
      if (!contains(last_part(record.file), site.file) || !contains(record.condition, site.condition)) continue;
      add_operators(site.op, out);
      out.meaning = site.meaning;
      break;
    }
  }
  if (const KnownScenario* scenario = scenario_for(scenarios, record, out)) {
    out.scenario = scenario->path;
    prefer(out, [&](const std::string& op) { return std::ranges::find(scenario->ops, op) != scenario->ops.end(); });
  }
  prefer_named_in(reading.frames, out);
  if (out.operators.size() > 1) {
    out.open.emplace_back(
        "Several operators share this assert. Which one it was, the log's frames tell only if they "
        "are not late.");
  }
  const ContractRow* row = contract_of(out);
  if (row) {
    out.argument = argument_name(row->argument);
    out.legal = legal_words(*row);
    out.guard = guard_lines(*row);
  } else if (out.operators.empty()) {
    out.open.emplace_back(reading.origin == "extension"
                              ? "It is an extension's own assert: only its source says what the condition is about."
                              : "The catalogue of PyTorch's asserts does not know this line.");
  }
  const std::string op = out.operators.empty() ? std::string() : plain_operator(out.operators.front());
  const bool cast = contains(record.file, "DynamicCast");
  out.causes = likely_causes(row, cast ? "DynamicCast" : op, record.condition);
  add_steps(reading, out);
}

}  // namespace dsafuzz
