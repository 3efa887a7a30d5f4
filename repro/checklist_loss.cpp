// What a loss takes, by its documentation: shapes, dtypes and devices of input and target.
#include <algorithm>
#include <array>
#include <optional>

#include "repro/bounds.h"
#include "repro/checklist_case.h"
#include "repro/known_shapes.h"
#include "repro/step_argument.h"

namespace dsafuzz {
namespace {

enum class Form : std::uint8_t {
  classes,        // class indices (N, d1...) of an input (N, C, d1...)
  probabilities,  // that, or a floating target of the input's shape
  same,           // of the input's shape
};
struct Loss {
  std::string_view op;
  Form form;
};
constexpr std::array kLosses{
    Loss{"cross_entropy_loss", Form::probabilities},
    Loss{"nll_loss", Form::classes},
    Loss{"nll_loss_nd", Form::classes},
    Loss{"nll_loss2d", Form::classes},
    Loss{"nll_loss_forward", Form::classes},
    Loss{"nll_loss2d_forward", Form::classes},
    Loss{"multi_margin_loss", Form::classes},
    Loss{"multilabel_margin_loss", Form::same},
    Loss{"multilabel_margin_loss_forward", Form::same},
    Loss{"binary_cross_entropy", Form::same},
    Loss{"binary_cross_entropy_with_logits", Form::same},
    Loss{"mse_loss", Form::same},
    Loss{"l1_loss", Form::same},
    Loss{"smooth_l1_loss", Form::same},
    Loss{"huber_loss", Form::same},
    Loss{"kl_div", Form::same},
};

struct Known {
  std::string name;
  Dimensions shape;
  Dtype dtype = Dtype::float32;
  std::optional<int> device;  // of a tensor of the case
};

// A tensor of the case, or a result of the run.
std::optional<Known> find(const Case& c, const std::vector<ResultTensor>& results, const Value* value) {
  const Name* name = as_name(value);
  if (!name) return std::nullopt;
  if (const TensorSpec* tensor = c.find_tensor(name->text)) {
    const auto shape = concrete_shape(*tensor, c.shapes);
    if (!shape) return std::nullopt;
    return Known{name->text, *shape, stored_dtype(c, *tensor), tensor->device};
  }
  const auto result = std::ranges::find(results, name->text, &ResultTensor::name);
  if (result == results.end()) return std::nullopt;
  return Known{name->text, result->shape, result->dtype, std::nullopt};
}

std::string shape_words(const Dimensions& shape) {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + ")";
}

std::string words(const Known& known) {
  return known.name + " " + shape_words(known.shape) + " " + std::string(to_text(known.dtype));
}

// What the target's shape must be; the input has one axis at least where class indices are meant.
Dimensions wanted_shape(const Known& input, bool indices) {
  Dimensions shape = input.shape;
  if (indices && !shape.empty()) shape.erase(shape.begin() + (shape.size() == 1 ? 0 : 1));
  return shape;
}

void check_loss(const Step& step, const Known& input, const Known& target, Form form, ChecklistItem& item) {
  const std::string pair = std::string(base_name(step.op)) + ": " + words(input) + " with " + words(target);
  const bool indices = form == Form::classes || (form == Form::probabilities && !is_floating(target.dtype));
  const std::size_t before = item.failed.size();
  if (const Dimensions wanted = wanted_shape(input, indices); target.shape != wanted) {
    item.failed.push_back(pair + ": the target must be of shape " + shape_words(wanted));
  }
  if (indices && target.dtype != Dtype::int64 && target.dtype != Dtype::uint8) {
    item.failed.push_back(pair + ": class indices must be int64 or uint8");
  }
  if (!is_floating(input.dtype)) item.failed.push_back(pair + ": the input must be floating");
  if (input.device && target.device && *input.device != *target.device) {
    item.failed.push_back(pair + ": they lie on different devices");
  }
  if (item.failed.size() == before) item.checked.push_back(pair);
}

}  // namespace

ChecklistItem loss_dimensions(const Case& c, const std::vector<ResultTensor>& results) {
  ChecklistItem item{.name = "loss input dimensions", .checked = {}, .failed = {}, .unchecked = {}, .notes = {}};
  bool any = false;
  for (const Step& step : c.steps) {
    const auto loss = std::ranges::find(kLosses, base_name(step.op), &Loss::op);
    if (loss == kLosses.end()) continue;
    any = true;
    const auto input = find(c, results, argument(step, "self", 0)),
               target = find(c, results, argument(step, "target", 1));
    if (input && target) {
      check_loss(step, *input, *target, loss->form, item);
    } else {
      item.unchecked.push_back(std::string(base_name(step.op)) + ": the run ended before the shape of its " +
                               (input ? "target" : "input") + " was known");
    }
  }
  if (!any) item.unchecked.push_back("no step is a loss with an input and a target");
  return item;
}

std::vector<std::string> mixed_dtypes(const Case& c, const std::vector<ResultTensor>& results) {
  std::vector<std::string> out;
  for (const Step& step : c.steps) {
    std::vector<std::string> named;
    std::optional<Dtype> first;
    bool mixed = false;
    for (const Argument& argument : step.arguments) {
      const auto known = find(c, results, &argument.value);
      if (!known || !is_floating(known->dtype)) continue;
      mixed = mixed || (first && *first != known->dtype);
      if (!first) first = known->dtype;
      named.push_back(std::string(to_text(known->dtype)) + " " + known->name);
    }
    if (!mixed) continue;
    std::string line = step.op + ":";
    for (std::size_t i = 0; i < named.size(); ++i) line += (i ? ", " : " ") + named[i];
    out.push_back(line);
  }
  return out;
}

}  // namespace dsafuzz
