#include "repro/redact_case.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "repro/neutral_names.h"

namespace dsafuzz {
namespace {

using Kept = RedactedTensor::Kept;
using Elements = std::map<std::int64_t, Number>;

// A literal is repeated to fill its tensor; beyond this it counts as a fill, kept or not as a whole.
constexpr std::int64_t kMostElements = std::int64_t{1} << 22;

Fill random_fill() {
  Fill fill;
  fill.kind = Fill::Kind::uniform;
  return fill;  // [0, 1): legal as a probability, finite, and of no consequence as a logit or a weight
}

bool is_private(const Fill& fill) {
  switch (fill.kind) {
    case Fill::Kind::constant: return dsafuzz::is_private(as_double(fill.constant));
    case Fill::Kind::uniform: return dsafuzz::is_private(fill.low) || dsafuzz::is_private(fill.high);
    case Fill::Kind::literal: return true;
    case Fill::Kind::arange:
    case Fill::Kind::randn:
    case Fill::Kind::randint: return false;
  }
  std::unreachable();
}

bool holds_private_floats(const TensorSpec& tensor) {
  return is_floating(tensor.dtype) && (is_private(tensor.fill) || !tensor.set.empty());
}

// What stands for a number outside [0, 1]; nothing for one inside, which any random number stands for.
std::optional<double> kind_of(const Number& number) {
  const double value = as_double(number);
  if (std::isnan(value)) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(value)) return value;
  if (value < 0) return -1;
  if (value > 1) return 2;
  return std::nullopt;
}

// A tensor's contents as a fill and elements on top, at one degree of what is kept.
struct Degree {
  Kept how = Kept::nothing;
  Fill fill;
  Elements elements;
};

std::int64_t count_of(const Case& c, const TensorSpec& tensor) {
  const auto shape = concrete_shape(tensor, c.shapes);
  return shape ? element_count(*shape) : 0;
}

// From least to most kept. The last one is the tensor as it was.
std::vector<Degree> degrees(const TensorSpec& tensor, std::int64_t count) {
  const bool fill_goes = is_private(tensor.fill);
  const Fill base = fill_goes ? random_fill() : tensor.fill;
  Elements own;
  const bool listed = tensor.fill.kind == Fill::Kind::literal && count <= kMostElements;
  if (listed) {
    for (std::int64_t i = 0; i < count; ++i) {
      own[i] = tensor.fill.literal[static_cast<std::size_t>(i) % tensor.fill.literal.size()];
    }
  }
  for (const auto& [index, number] : tensor.set) {
    if (index < count) own[index] = number;
  }
  Elements kinds, outside;
  bool differ = false;
  for (const auto& [index, number] : own) {
    const auto kind = kind_of(number);
    if (!kind) continue;
    kinds[index] = *kind;
    outside[index] = number;
    differ = differ || !number_equal(number, *kind);
  }
  std::vector<Degree> out{{Kept::nothing, base, {}}};
  if (fill_goes && tensor.fill.kind == Fill::Kind::constant) {
    if (const auto kind = kind_of(tensor.fill.constant)) {
      Fill constant;
      constant.constant = *kind;
      out.push_back({Kept::kinds, constant, {}});
    }
  }
  if (!kinds.empty()) out.push_back({Kept::kinds, base, kinds});
  if (differ) out.push_back({Kept::values, base, outside});
  if (!fill_goes || listed) {
    out.push_back({Kept::values, base, std::move(own)});
  } else {
    out.push_back({Kept::fill, tensor.fill, std::move(own)});
  }
  return out;
}

class Redaction {
 public:
  Redaction(const StillShows& shows, int executions) : shows_(shows), left_(executions) {}

  RedactedCase run(const Case& original) {
    const Case neutral = with_neutral_names(original);
    // Most often nothing is needed.
    Case bare = neutral;
    for (TensorSpec& tensor : bare.tensors) {
      if (holds_private_floats(tensor)) put(tensor, degrees(tensor, count_of(bare, tensor)).front());
    }
    bare_shows_ = shows(bare);
    out_.renamed = bare_shows_ || shows(neutral);
    out_.the_case = out_.renamed ? neutral : original;
    for (std::size_t i = 0; i < original.tensors.size(); ++i) {
      if (!holds_private_floats(original.tensors[i])) continue;
      RedactedTensor row{.name = out_.the_case.tensors[i].name, .was = original.tensors[i].name};
      row.of = count_of(original, original.tensors[i]);
      out_.tensors.push_back(row);
      if (!bare_shows_) redact(i, out_.tensors.back());
    }
    if (bare_shows_) out_.the_case = std::move(bare);
    for (const TensorSpec& tensor : out_.the_case.tensors) {
      const bool given = tensor.fill.kind == Fill::Kind::literal || tensor.fill.kind == Fill::Kind::constant;
      if (!is_floating(tensor.dtype) && (given || !tensor.set.empty())) out_.integers.push_back(tensor.name);
    }
    return std::move(out_);
  }

 private:
  static void put(TensorSpec& tensor, const Degree& degree) {
    tensor.fill = degree.fill;
    tensor.set = degree.elements;
  }

  bool shows(const Case& c) {
    if (left_ <= 0) return false;
    --left_;
    ++out_.executions;
    return shows_(c);
  }
  bool shows_with(std::size_t tensor, const Degree& degree) {
    Case trial = out_.the_case;
    put(trial.tensors[tensor], degree);
    if (!shows(trial)) return false;
    out_.the_case = std::move(trial);
    return true;
  }

  void redact(std::size_t tensor, RedactedTensor& row) {
    std::vector<Degree> all = degrees(out_.the_case.tensors[tensor], row.of);
    const auto found = std::ranges::find_if(all, [&](const Degree& d) { return shows_with(tensor, d); });
    if (found == all.end()) {  // a bug that comes and goes, or no run is left: the tensor stays as it was
      row.how = all.back().how;
      row.kept = row.of;
      return;
    }
    Degree& degree = *found;
    drop_elements(tensor, degree);
    row.how = degree.how;
    const bool all_alike = degree.how == Kept::kinds && degree.elements.empty();
    row.kept = all_alike ? row.of : static_cast<std::int64_t>(degree.elements.size());
  }

  // Elements that the bug can do without take the fill's values: halves first, then quarters, down to single ones.
  void drop_elements(std::size_t tensor, Degree& degree) {
    for (std::size_t size = degree.elements.size(); size >= 1; size = size == 1 ? 0 : (size + 1) / 2) {
      for (std::size_t at = 0; at < degree.elements.size() && left_ > 0;) {
        Degree fewer = degree;
        const auto first = std::next(fewer.elements.begin(), static_cast<std::ptrdiff_t>(at));
        const auto last = std::next(first, static_cast<std::ptrdiff_t>(std::min(size, fewer.elements.size() - at)));
        fewer.elements.erase(first, last);
        if (shows_with(tensor, fewer)) {
          degree = std::move(fewer);
        } else {
          at += size;
        }
      }
    }
  }

  const StillShows& shows_;
  int left_;
  bool bare_shows_ = false;  // no contents are needed
  RedactedCase out_;
};

std::string quoted(const std::string& name) { return "`" + name + "`"; }

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) out += (i ? ", " : "") + quoted(names[i]);
  return out;
}

std::string sentence(const RedactedTensor& t) {
  const std::string some = std::to_string(t.kept) + " of its " + std::to_string(t.of) + " elements";
  switch (t.how) {
    case Kept::nothing: break;  // those stand together in one sentence
    case Kept::kinds:
      return quoted(t.name) + ": " + some +
             " must be NaN, infinite, below 0 or above 1, and still are; -1 and 2 stand " +
             "for their values, and the others were replaced by random ones.";
    case Kept::values:
      return quoted(t.name) + ": " + some + " keep their own values, without which the bug does not show; the others " +
             "were replaced by random ones.";
    case Kept::fill: return quoted(t.name) + " keeps the numbers of its fill, without which the bug does not show.";
  }
  return {};
}

}  // namespace

bool is_private(double value) { return std::isfinite(value) && value != 0 && value != 1 && value != -1; }

RedactedCase redacted(const Case& original, const StillShows& shows, int executions) {
  return Redaction(shows, executions).run(original);
}

std::vector<std::string> sentences(const RedactedCase& redacted) {
  std::vector<std::string> out;
  std::vector<std::string> whole;
  for (const RedactedTensor& tensor : redacted.tensors) {
    if (tensor.how == Kept::nothing) whole.push_back(tensor.name);
  }
  if (!whole.empty()) {
    out.push_back("Replaced by random numbers in [0, 1) of seed " + std::to_string(redacted.the_case.seed) + ": " +
                  listed(whole) + ".");
  }
  if (whole.empty() && !redacted.tensors.empty()) {
    out.push_back("Random numbers are in [0, 1), of seed " + std::to_string(redacted.the_case.seed) + ".");
  }
  for (const RedactedTensor& tensor : redacted.tensors) {
    if (tensor.how != Kept::nothing) out.push_back(sentence(tensor));
  }
  if (redacted.tensors.empty()) out.emplace_back("No floating contents were given in the case.");
  if (!redacted.integers.empty()) {
    out.push_back("Integer contents stay, since they are what most bugs are made of: " + listed(redacted.integers) +
                  ".");
  }
  out.emplace_back(redacted.renamed ? "Names of tensors, results and sizes were replaced."
                                    : "Names of tensors, results and sizes stay, since the bug needs them.");
  out.emplace_back("The program stays: operators with their numbers and texts, sizes, and fills' bounds.");
  return out;
}

}  // namespace dsafuzz
