// What the guard saw, as numbers for TensorBoard or a file: how often each argument was checked and refused, and the
// least and greatest value it held (the greatest label, the range of an output). Needs no LibTorch.
//
//   for (const auto& [name, value] : dsafuzz::guard::counters().scalars()) writer.add_scalar(name, step, value);
//
// Safe for several threads. Names are CALL/ARGUMENT/WHAT: "cross_entropy/target/max", ".../violations/label".
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace dsafuzz::guard {

class Counters {
 public:
  using Scalars = std::vector<std::pair<std::string, double>>;

  // One more checked tensor, whose least and greatest element these are. NaN: it held one, and they are not known.
  void saw(const std::string& call, const std::string& argument, double least, double greatest) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Entry& entry = entries_[{call, argument}];
    ++entry.checked;
    if (std::isnan(least) || std::isnan(greatest)) {
      ++entry.with_nan;
      return;
    }
    if (!entry.has_range || least < entry.least) entry.least = least;
    if (!entry.has_range || greatest > entry.greatest) entry.greatest = greatest;
    entry.has_range = true;
  }

  // One more failed check, with `elements` offending ones; 0 where the argument as a whole was wrong.
  void violated(const std::string& call, const std::string& argument, const std::string& check, std::int64_t elements) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Entry& entry = entries_[{call, argument}];
    ++entry.violations[check];
    entry.elements += elements;
  }

  // Everything, by name. `checked`, `violations/CHECK` and `bad_elements` are totals; `min` and `max` are there once a
  // tensor without NaN was seen, `with_nan` once one with NaN was.
  Scalars scalars() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    Scalars out;
    for (const auto& [key, entry] : entries_) {
      const std::string name = key.first + "/" + key.second + "/";
      out.emplace_back(name + "checked", static_cast<double>(entry.checked));
      if (entry.has_range) {
        out.emplace_back(name + "min", entry.least);
        out.emplace_back(name + "max", entry.greatest);
      }
      if (entry.with_nan > 0) out.emplace_back(name + "with_nan", static_cast<double>(entry.with_nan));
      for (const auto& [check, count] : entry.violations) {
        out.emplace_back(name + "violations/" + check, static_cast<double>(count));
      }
      if (entry.elements > 0) out.emplace_back(name + "bad_elements", static_cast<double>(entry.elements));
    }
    return out;
  }

  void reset() {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.clear();
  }

  // A line for each scalar: step,name,value. The caller writes a header once: "step,name,value".
  void write_csv(std::ostream& out, std::int64_t step) const {
    for (const auto& [name, value] : scalars()) {
      out << step << ",\"" << doubled_quotes(name) << "\"," << number_text(value) << '\n';
    }
  }

  // One object on one line: {"step":3,"cross_entropy/target/max":4}. What JSON has no number for is a string: "inf".
  void write_json_line(std::ostream& out, std::int64_t step) const {
    out << "{\"step\":" << step;
    for (const auto& [name, value] : scalars()) {
      const bool finite = std::isfinite(value);
      out << ",\"" << json_escaped(name) << "\":" << (finite ? "" : "\"") << number_text(value) << (finite ? "" : "\"");
    }
    out << "}\n";
  }

 private:
  struct Entry {
    std::int64_t checked = 0, with_nan = 0, elements = 0;
    bool has_range = false;
    double least = 0, greatest = 0;
    std::map<std::string, std::int64_t> violations;  // by check
  };

  static std::string number_text(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
  }
  static std::string doubled_quotes(const std::string& name) {
    std::string out;
    for (const char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
    return out;
  }
  static std::string json_escaped(const std::string& name) {
    std::string out;
    for (const char c : name) {
      if (static_cast<unsigned char>(c) < 0x20) {
        char text[8];
        std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
        out += text;
      } else {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
      }
    }
    return out;
  }

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Entry> entries_;
};

// The counters that all checks of this process use.
inline Counters& counters() {
  static Counters all;
  return all;
}

}  // namespace dsafuzz::guard
