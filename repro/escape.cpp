#include "repro/escape.h"

#include <algorithm>
#include <cctype>

namespace dsafuzz {
namespace {

bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x7f; }

// The length of the UTF-8 sequence at `at`, or 0 if it is none (overlong forms and surrogates are none).
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef && tail(1) && tail(2)) {
    const unsigned code = (first & 0xf) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    return code >= 0x800 && (code < 0xd800 || code > 0xdfff) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4 && tail(1) && tail(2) && tail(3)) {
    const unsigned code = (first & 0x7) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
    return code >= 0x10000 && code <= 0x10ffff ? 4 : 0;
  }
  return 0;
}

std::string hex_byte(unsigned char c) {
  static constexpr char kDigits[] = "0123456789abcdef";
  return {'\\', 'x', kDigits[c >> 4], kDigits[c & 15]};
}
// Always three digits, so that a digit after it is not swallowed.
std::string octal_byte(unsigned char c) {
  return {'\\', static_cast<char>('0' + (c >> 6)), static_cast<char>('0' + (c >> 3 & 7)),
          static_cast<char>('0' + (c & 7))};
}

std::string quoted(std::string_view text, std::string (*byte)(unsigned char), bool trigraphs, char quote = '"') {
  std::string out(1, quote);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const bool second_mark = trigraphs && c == '?' && i > 0 && text[i - 1] == '?';
    if (c == static_cast<unsigned char>(quote) || c == '\\' || second_mark) {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (is_plain(c)) {
      out += static_cast<char>(c);
    } else {
      out += byte(c);
    }
  }
  return out + quote;
}

constexpr const char* kPythonWords[] = {
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", "match", "case", "type", "print", "str",
    "int", "getattr", "float", "len", "type", "Exception", "repr", "abs", "set", "list",
    // used by emitted programs
    "torch", "sys", "os", "subprocess", "device", "error", "result", "shows", "run", "child", "dsafuzz_vcuda", "pytest",
    "program", "said", "command", "library", "same",
    // not told apart from 1 and 0, say linters
    "l", "I", "O"};

constexpr const char* kCppWords[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "char8_t", "char16_t", "char32_t", "class", "compl", "concept", "const", "consteval", "constexpr", "constinit",
    "const_cast", "continue", "co_await", "co_return", "co_yield", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
    "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
    "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "return", "short", "signed",
    "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw",
    "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile",
    "wchar_t", "while", "xor", "xor_eq", "final", "override", "import", "module",
    // macros of the standard library, and what emitted programs use
    "NAN", "INFINITY", "INT64_MIN", "INT64_MAX", "NULL", "EOF", "assert", "errno", "stdin", "stdout", "stderr", "unix",
    "linux", "at", "c10", "std", "torch", "main", "argc", "argv", "call", "device", "error", "result", "reproduce",
    "synchronize", "index", "grad", "autocast"};

}  // namespace

// As formatters want it: the quotes that need fewer escapes, else double ones.
std::string python_string(std::string_view text) {
  const bool single = std::ranges::count(text, '"') > std::ranges::count(text, '\'');
  return quoted(text, hex_byte, false, single ? '\'' : '"');
}
std::string cpp_string(std::string_view text) { return quoted(text, octal_byte, true); }

std::string cmake_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '$' || c == '@') out += '\\';
    if (c == ';') out += '\\';
    out += is_plain(static_cast<unsigned char>(c)) ? c : '_';
  }
  return out + '"';
}

std::string comment_text(std::string_view text, std::size_t limit) {
  std::string out;
  for (const char c : text) {
    if (out.size() >= limit) {
      out += "...";
      break;
    }
    out += is_plain(static_cast<unsigned char>(c)) ? c : ' ';
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  // A backslash would join the next line to a C++ comment; so would the trigraph for it.
  if (out.ends_with('\\') || out.ends_with("?\?/")) out += " .";
  return out;
}

std::string as_utf8(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const unsigned char c = static_cast<unsigned char>(text[at]);
    const std::size_t length = utf8_length(text, at);
    const bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    if (length == 0 || control) {
      out += hex_byte(c);
      ++at;
      continue;
    }
    out += text.substr(at, length);
    at += length;
  }
  return out;
}

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : as_utf8(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  const std::string html = html_escaped(text);
  for (std::size_t at = 0; at < html.size(); ++at) {
    const std::string_view three = std::string_view(html).substr(at, 3);
    if (html[at] == '\n' || html[at] == '\t') {
      out += html[at] == '\n' ? "&#10;" : "&#9;";
    } else if (three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF") {  // the two noncharacters that XML leaves out
      out += three[2] == '\xBE' ? "\\ufffe" : "\\uffff";
      at += 2;
    } else {
      out += html[at];
    }
  }
  return out;
}

std::string uri_reference(std::string_view path) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte < 0x80 && std::isalnum(byte)) || std::string_view("/-._~").contains(c);
    out += plain ? std::string(1, c) : std::string{'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return out;
}

namespace {

std::size_t longest_run_of_backticks(std::string_view text) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  return longest;
}

}  // namespace

std::string markdown_code(std::string_view raw) {
  std::string text = as_utf8(raw);
  std::ranges::replace(text, '\n', ' ');
  if (text.empty()) return "(empty)";
  const std::string ticks(longest_run_of_backticks(text) + 1, '`');
  const bool pad = text.front() == '`' || text.back() == '`' || text.front() == ' ';
  return ticks + (pad ? " " : "") + text + (pad ? " " : "") + ticks;
}

std::string markdown_text(std::string_view raw) {
  std::string out;
  for (const char c : as_utf8(raw)) {
    if (c == '\n') {
      out += ' ';
      continue;
    }
    if (std::string_view("\\`*_{}[]<>#|~$&!").contains(c)) out += '\\';
    out += c;
  }
  return out;
}

std::string markdown_block(std::string_view raw, std::string_view language) {
  const std::string text = as_utf8(raw);
  const std::string fence(std::max<std::size_t>(3, longest_run_of_backticks(text) + 1), '`');
  return fence + std::string(language) + "\n" + text + (text.ends_with('\n') ? "" : "\n") + fence + "\n";
}

Identifiers::Identifiers(Language language) {
  switch (language) {
    case Language::python: taken_.insert(std::begin(kPythonWords), std::end(kPythonWords)); break;
    case Language::cpp: taken_.insert(std::begin(kCppWords), std::end(kCppWords)); break;
  }
}

std::string Identifiers::make(std::string_view name) {
  std::string base;
  for (const char c : name) {
    const bool legal = std::isalnum(static_cast<unsigned char>(c)) && is_plain(static_cast<unsigned char>(c));
    // Two underscores in a row, and one in front, are kept for the languages themselves.
    if (legal) {
      base += c;
    } else if (!base.empty() && base.back() != '_') {
      base += '_';
    }
  }
  if (base.size() > 64) base.resize(64);
  if (base.empty() || std::isdigit(static_cast<unsigned char>(base[0]))) base = "t" + base;
  std::string out = base;
  for (int n = 2; taken_.contains(out); ++n) out = base + (base.ends_with('_') ? "" : "_") + std::to_string(n);
  taken_.insert(out);
  return out;
}

}  // namespace dsafuzz
