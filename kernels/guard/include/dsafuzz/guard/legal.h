// Which values an argument may hold: whole numbers in [from, below), or numbers in [least, most].
#pragma once

#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace dsafuzz::guard {

struct Legal {
  std::string check;                 // what this is called in messages and counters
  bool real = false;                 // [least, most], else [from, below)
  std::int64_t from = 0, below = 0;  // of integer tensors
  std::optional<std::int64_t> also;  // ignore_index: legal wherever it lies
  double least = 0, most = 0;        // NaN is never inside
  std::string words;                 // for [least, most] that has a shorter name; may be empty

  // Class indices: 0 to classes - 1, or `ignore_index`.
  static Legal labels(std::int64_t classes, std::optional<std::int64_t> ignore_index = std::nullopt) {
    return integers("label", 0, classes, ignore_index);
  }
  // Positions in an axis of `size`; with `negative`, also -size to -1, which count from the end.
  static Legal indices(std::int64_t size, bool negative = false) {
    return integers("index", negative ? -size : 0, size, std::nullopt);
  }
  static Legal integers(std::string check, std::int64_t from, std::int64_t below, std::optional<std::int64_t> also) {
    Legal legal;
    legal.check = std::move(check);
    legal.from = from;
    legal.below = below;
    legal.also = also;
    return legal;
  }
  static Legal probabilities() { return reals("probability", 0, 1, {}); }
  static Legal finite() {
    return reals("finite", std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max(), "finite");
  }
  static Legal not_negative() {
    return reals("weight", 0, std::numeric_limits<double>::max(), "finite and at least 0");
  }
  static Legal reals(std::string check, double least, double most, std::string words) {
    Legal legal;
    legal.check = std::move(check);
    legal.real = true;
    legal.least = least;
    legal.most = most;
    legal.words = std::move(words);
    return legal;
  }

  // In the interval itself; `also` is apart.
  bool inside(std::int64_t value) const {
    return real ? inside(static_cast<double>(value)) : value >= from && value < below;
  }
  bool inside(double value) const { return value >= least && value <= most; }

  // Behind "must be": "in [0, 5) or -100", "in [0, 1]", "finite".
  std::string text() const {
    if (!words.empty()) return words;
    if (real) return "in [" + short_text(least) + ", " + short_text(most) + "]";
    std::string out = "in [" + std::to_string(from) + ", " + std::to_string(below) + ")";
    if (also) out += " or " + std::to_string(*also);
    return out;
  }

  // A number without the zeros that std::to_string puts behind it: "0", "1.5", "nan".
  static std::string short_text(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
  }
};

}  // namespace dsafuzz::guard
