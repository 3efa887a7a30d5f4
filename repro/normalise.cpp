// See normalise.h.
#include "repro/normalise.h"

#include <algorithm>

#include "repro/scan.h"

namespace dsafuzz {
namespace {

constexpr std::size_t kLongestMessage = 300;

// The line that says what was wrong: the first that is not blank. TorchScript puts its own traceback first and the
// message last.
std::string_view telling_line(std::string_view message) {
  if (message.find("The following operation failed in the TorchScript interpreter.") < 8) {
    while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.remove_suffix(1);
    return trimmed(message.substr(message.rfind('\n') + 1));
  }
  while (!message.empty()) {
    const std::size_t end = message.find('\n');
    const std::string_view line = trimmed(message.substr(0, end));
    if (!line.empty()) return line;
    if (end == std::string_view::npos) break;
    message.remove_prefix(end + 1);
  }
  return {};
}

// Length of the number at `at`, which is not preceded by a word: sign, digits, fraction, exponent, or hexadecimal.
std::size_t number_length(std::string_view s, std::size_t at) {
  std::size_t i = at;
  if (s[i] == '-') ++i;
  if (i >= s.size() || !is_digit(s[i])) return 0;
  if (s.substr(i).starts_with("0x")) {
    i += 2;
    while (i < s.size() && is_hex(s[i])) ++i;
    return i - at;
  }
  auto digits = [&] {
    while (i < s.size() && is_digit(s[i])) ++i;
  };
  digits();
  if (i + 1 < s.size() && s[i] == '.' && is_digit(s[i + 1])) ++i, digits();
  if (i + 1 < s.size() && s[i] == 'e' && (is_digit(s[i + 1]) || s[i + 1] == '-' || s[i + 1] == '+')) i += 2, digits();
  while (i + 1 < s.size() && s[i] == 'x' && is_digit(s[i + 1])) ++i, digits();  // a shape: 2x3
  return i < s.size() && is_word(s[i]) ? 0 : i - at;                            // "2d" is a name
}

// "[#, #, #]" to "[#]": the number of dimensions is a shape too.
std::string collapsed(std::string_view s) {
  std::string out;
  for (std::size_t i = 0; i < s.size();) {
    if (s.substr(i).starts_with(", #") && out.ends_with('#')) {
      i += 3;
    } else {
      out += s[i++];
    }
  }
  return out;
}

}  // namespace

std::string normalised_message(std::string_view message) {
  const std::string_view line = telling_line(message).substr(0, 4 * kLongestMessage);
  std::string out;
  for (std::size_t i = 0; i < line.size();) {
    const bool after_word = i > 0 && is_word(line[i - 1]);
    const bool may_start = is_digit(line[i]) ? !after_word : line[i] == '-' && !after_word;
    const std::size_t length = may_start ? number_length(line, i) : 0;
    if (length > 0) {
      out += '#';
      i += length;
    } else {
      out += line[i++];
    }
  }
  return collapsed(out).substr(0, kLongestMessage);
}

std::string short_kernel_name(std::string_view printed) {
  std::string_view s = trimmed(printed);
  if (s == "unknown" || s == "(null)") return {};
  s = s.substr(0, s.find(" [with "));
  if (contains(s, "operator()")) return "operator()";
  std::string plain;  // without template arguments and the unnamed namespace
  int depth = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    constexpr std::string_view kUnnamed = "(anonymous namespace)";
    if (depth == 0 && s.substr(i).starts_with(kUnnamed)) {
      i += kUnnamed.size() - 1;
    } else if (s[i] == '<') {
      ++depth;
    } else if (s[i] == '>' && depth > 0) {
      --depth;
    } else if (depth == 0) {
      plain += s[i];
    }
  }
  std::string_view name = plain;
  name = trimmed(name.substr(0, name.find('(')));
  const std::size_t before = name.find_last_of(" :*&");
  return std::string(before == std::string_view::npos ? name : name.substr(before + 1));
}

std::string signature_file(std::string_view path) {
  if (path == "unknown") return {};
  std::string trimmed = trimmed_path(path);
  std::ranges::replace(trimmed, '\\', '/');
  for (std::string_view root : {"aten/", "c10/", "kernels/"}) {
    if (trimmed.starts_with(root)) return trimmed;
  }
  const std::size_t ours = trimmed.rfind("/kernels/");
  if (ours != std::string::npos) return trimmed.substr(ours + 1);
  const std::size_t slash = trimmed.rfind('/');
  return slash == std::string::npos ? trimmed : trimmed.substr(slash + 1);
}

}  // namespace dsafuzz
