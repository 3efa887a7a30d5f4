// Text from cases, logs and errors made safe for the language it is written into. Input may be any bytes; output is
// plain ASCII for source code, and UTF-8 for Markdown.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dsafuzz {

// A quoted literal whose value is the input: valid on one line, whatever the bytes. Bytes that are not ASCII become
// escapes (in C++ as octal, which cannot swallow what follows; no trigraph is left).
std::string python_string(std::string_view text);
std::string cpp_string(std::string_view text);
std::string cmake_string(std::string_view text);

// What may follow `# ` or `// `: one line, printable ASCII, no backslash or ??/ at its end, at most `limit` characters.
std::string comment_text(std::string_view text, std::size_t limit = 110);

// Markdown. A code span, an escaped run of text, and a fenced block whose fence is longer than any in the text.
std::string markdown_code(std::string_view text);
std::string markdown_text(std::string_view text);
std::string markdown_block(std::string_view text, std::string_view language = "text");

// Text of an HTML element or of a quoted attribute.
std::string html_escaped(std::string_view text);
// The same for XML, which has no word for some characters: they become \xNN or \uNNNN. Newlines and tabs survive in an
// attribute too.
std::string xml_escaped(std::string_view text);
// A file's path as a URI reference: "a%20b/case.yaml"; an absolute one as "file:///...".
std::string uri_reference(std::string_view path);

// Valid UTF-8: wrong bytes and control characters (other than newline and tab) become \xNN.
std::string as_utf8(std::string_view text);

// The parts (strings or views, in any container) with `between` between them.
template <typename Parts>
std::string joined(const Parts& parts, std::string_view between = ", ") {
  std::string out;
  for (const std::string_view part : parts) out.append(out.empty() ? "" : between).append(part);
  return out;
}

// Identifiers for names, unique within one file and never a keyword or a name the file uses itself.
class Identifiers {
 public:
  enum class Language { python, cpp };
  explicit Identifiers(Language language);
  std::string make(std::string_view name);

 private:
  std::set<std::string> taken_;
};

}  // namespace dsafuzz
