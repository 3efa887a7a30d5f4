// The layout of an explanation for people.
#include <algorithm>

#include "repro/escape.h"
#include "repro/explain.h"

namespace dsafuzz {
namespace {

// Words wrapped at the width of a terminal, each line behind `margin`; a text that begins with four blanks is a
// command and stays whole.
void append_wrapped(std::string& out, const std::string& text, std::string_view first, std::string_view margin) {
  constexpr std::size_t kWidth = 100;
  if (text.starts_with("    ")) {
    out.append(margin).append(text).append("\n");
    return;
  }
  std::string line(first);
  std::size_t used = line.size();
  bool empty = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::size_t length = end - at;
    if (!empty && used + 1 + length > kWidth) {
      out.append(line).append("\n");
      line = margin;
      used = line.size();
      empty = true;
    }
    if (!empty) line += ' ', ++used;
    line.append(text, at, length);
    used += length;
    empty = false;
    at = end + 1;
  }
  out.append(line).append("\n");
}

// Foreign text on one line.
std::string printable(std::string_view text) {
  std::string out = as_utf8(text);
  std::ranges::replace_if(
      out, [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return out;
}

class Page {
 public:
  void paragraph(std::string_view heading, const std::string& text) {
    if (text.empty()) return;
    begin(heading);
    append_wrapped(out_, printable(text), "  ", "  ");
  }
  void list(std::string_view heading, const std::vector<std::string>& items) {
    if (items.empty()) return;
    begin(heading);
    for (const std::string& item : items) append_wrapped(out_, printable(item), "  - ", "    ");
  }
  void sequence(std::string_view heading, const std::vector<std::string>& items) {
    if (items.empty()) return;
    begin(heading);
    for (const std::string& item : items) append_wrapped(out_, printable(item), "  ", "  ");
  }
  void code(std::string_view heading, std::string_view lines) {
    if (lines.empty()) return;
    begin(heading);
    while (!lines.empty()) {
      const std::size_t end = std::min(lines.find('\n'), lines.size());
      out_.append("      ").append(printable(lines.substr(0, end))).append("\n");
      lines.remove_prefix(std::min(end + 1, lines.size()));
    }
  }
  std::string finish() { return std::move(out_); }

 private:
  void begin(std::string_view heading) {
    if (!out_.empty()) out_ += '\n';
    out_.append(heading).append("\n");
  }
  std::string out_;
};

std::string where_text(const Explanation& e) {
  std::string text = joined(e.operators);
  if (!text.empty() && !e.argument.empty()) text += "; the argument `" + e.argument + "`";
  return text;
}

}  // namespace

std::string explanation_text(const Explanation& e) {
  Page page;
  page.paragraph("What happened", e.happened);
  page.paragraph("Operator", where_text(e));
  page.paragraph("The assert fails for", e.meaning);
  page.paragraph("Legal values", e.legal);
  page.list("Likely causes", e.causes);
  page.code("A guard to put before the call (it waits for the device; take it out afterwards)", e.guard);
  page.paragraph("Your own code", e.own_frame.empty() ? "" : e.own_frame + ". " + e.own_frame_remark);
  page.list("Only a consequence", e.echoes);
  page.list("What the log does not say", e.open);
  page.sequence("What to do", e.steps);
  std::vector<std::string> ready;
  if (!e.scenario.empty()) ready.push_back("    dsafuzz fuzz " + e.scenario);
  if (!e.case_id.empty()) ready.push_back("    dsafuzz replay corpus/catalogue/cases/" + e.case_id + ".yaml");
  page.sequence("The same failure, ready to run without a GPU", ready);
  return page.finish();
}

}  // namespace dsafuzz
