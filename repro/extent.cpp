#include "repro/extent.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace dsafuzz {
namespace {

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// One walk over the text serves parsing, evaluation and listing: a visitor is told of each atom.
// `atom(text)` gives the value of a name or number; the walk returns the sum.
template <typename Atom>
Result<std::int64_t> walk(std::string_view text, std::string* canonical, Atom&& atom) {
  std::size_t at = 0;
  const auto skip = [&] {
    while (at < text.size() && text[at] == ' ') ++at;
  };
  const auto bad = [&](const std::string& why) {
    return input_problem("'" + std::string(text) + "' is not a size: " + why, {},
                         "write sums and products of shape variables and numbers, like `2 * heads * width + 1`");
  };
  std::int64_t sum = 0;
  bool minus = false;
  skip();
  if (at < text.size() && text[at] == '-') {
    minus = true;
    ++at;
    if (canonical) *canonical += "-";
  }
  for (;;) {
    std::int64_t product = 1;
    for (;;) {
      skip();
      const std::size_t begin = at;
      if (at < text.size() && is_name_start(text[at])) {
        while (at < text.size() && is_name_part(text[at])) ++at;
      } else {
        while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]))) ++at;
      }
      if (at == begin) {
        return bad(at == text.size() ? "it ends too early" : "unexpected '" + std::string(1, text[at]) + "'");
      }
      const std::string_view word = text.substr(begin, at - begin);
      if (canonical) *canonical += word;
      const Result<std::int64_t> value = atom(word);
      if (!value) return std::unexpected(value.error());
      if (__builtin_mul_overflow(product, *value, &product)) return bad("it overflows");
      skip();
      if (at == text.size() || text[at] != '*') break;
      ++at;
      if (canonical) *canonical += " * ";
    }
    if (minus ? __builtin_sub_overflow(sum, product, &sum) : __builtin_add_overflow(sum, product, &sum)) {
      return bad("it overflows");
    }
    if (at == text.size()) return sum;
    if (text[at] != '+' && text[at] != '-') return bad("unexpected '" + std::string(1, text[at]) + "'");
    minus = text[at++] == '-';
    if (canonical) *canonical += minus ? " - " : " + ";
  }
}

Result<std::int64_t> number_or(std::string_view word, std::int64_t otherwise) {
  if (is_name_start(word[0])) return otherwise;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{}) return input_problem("'" + std::string(word) + "' is too large for a size");
  return value;
}

}  // namespace

Result<Extent> parse_extent(std::string_view text) {
  if (text.size() > 200) return input_problem("a size of " + std::to_string(text.size()) + " characters is too long");
  Extent out;
  const Result<std::int64_t> ok = walk(text, &out.text, [](std::string_view word) { return number_or(word, 1); });
  if (!ok) return std::unexpected(ok.error());
  return out;
}

Result<std::int64_t> evaluate(const Extent& extent, const Shapes& shapes) {
  return walk(extent.text, nullptr, [&](std::string_view word) -> Result<std::int64_t> {
    if (!is_name_start(word[0])) return number_or(word, 0);
    const auto found = shapes.find(std::string(word));
    if (found == shapes.end()) {
      return input_problem("no shape variable '" + std::string(word) + "'", {}, "declare it under shapes");
    }
    return found->second;
  });
}

std::vector<std::string> names_in(const Extent& extent) {
  std::vector<std::string> out;
  (void)walk(extent.text, nullptr, [&](std::string_view word) -> Result<std::int64_t> {
    if (is_name_start(word[0]) && std::ranges::find(out, word) == out.end()) out.emplace_back(word);
    return 1;
  });
  return out;
}

}  // namespace dsafuzz
