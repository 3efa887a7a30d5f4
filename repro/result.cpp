#include "repro/result.h"

namespace dsafuzz {
namespace {

void append_escaped(std::string& out, const std::string& text) {
  static constexpr std::size_t kLimit = 400;
  for (std::size_t i = 0; i < text.size() && i < kLimit; ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    static constexpr char kHex[] = "0123456789abcdef";
    if (c == '\n') {
      out += "\\n";
    } else if (c < 0x20 || c == 0x7f) {
      out += "\\x";
      out += kHex[c >> 4];
      out += kHex[c & 15];
    } else {
      out += text[i];
    }
  }
  if (text.size() > kLimit) out += "...";
}

}  // namespace

std::string Problem::text() const {
  std::string out;
  if (!where.empty()) {
    append_escaped(out, where);
    out += ": ";
  }
  append_escaped(out, what);
  if (!remedy.empty()) {
    out += " (";
    append_escaped(out, remedy);
    out += ")";
  }
  return out;
}

}  // namespace dsafuzz
