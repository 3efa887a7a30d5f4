// What stands for a line's own text and is put back: HTML's tags and entities, and words of a page translator. log_json
// reads lines of JSON, log_reader cuts bytes into lines, log_margin knows what wrappers put before them.
#include "repro/log_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "repro/log_json.h"
#include "repro/log_margin.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

using Phrase = std::pair<std::string_view, std::string_view>;

std::string replaced(std::string line, const auto& phrases) {
  for (const auto& [from, to] : phrases) {
    std::string out;
    std::size_t at = 0;
    for (std::size_t hit; (hit = line.find(from, at)) != std::string::npos; at = hit + from.size()) {
      out.append(line, at, hit - at).append(to);
    }
    if (at != 0) line = out.append(line, at, std::string::npos);
  }
  return line;
}

// A log that went through a page translator; the tools themselves are never localised. Only whole phrases are put
// back, so that a path in that language stays as it is.
std::string untranslated(std::string line) {
  static constexpr std::array kSpaced{Phrase{"： ", "："}, Phrase{"， ", "，"}, Phrase{"（）", "()"}};
  static constexpr std::array kPhrases{
      Phrase{"：块：[", ": block: ["},
      Phrase{"：block：[", ": block: ["},
      Phrase{"，线程：[", ", thread: ["},
      Phrase{"，thread：[", ", thread: ["},
      Phrase{"] 断言失败。", "] Assertion `` failed."},
      Phrase{"]断言失败。", "] Assertion `` failed."},
      Phrase{" 断言“", " Assertion `"},
      Phrase{"”失败。", "` failed."},
      Phrase{"，", ","},
      Phrase{"CUDA 错误：触发设备端断言", " CUDA error: device-side assert triggered"}};
  line = replaced(replaced(std::move(line), kSpaced), kPhrases);
  // What is left of the colons: with a blank before a word, as behind a line's number.
  constexpr std::string_view kColon = "：";
  std::string out;
  std::string_view rest = line;
  while (const auto before = take_until(rest, kColon)) {
    out.append(*before).append(!rest.empty() && is_letter(rest.front()) ? ": " : ":");
  }
  return out.append(rest);
}

// Copied from a page's source, with the tags that pages put around lines and parts of them.
std::string without_tags(std::string_view line) {
  constexpr std::array<std::string_view, 5> kTags{"span", "div", "code", "pre", "br"};
  std::string out;
  std::size_t kept = 0;
  for (std::size_t open = line.find('<'); open != std::string_view::npos; open = line.find('<', open + 1)) {
    std::string_view rest = line.substr(open + 1);
    take(rest, "/");
    const auto tag = std::ranges::find_if(kTags, [&](std::string_view each) {
      return rest.starts_with(each) && rest.size() > each.size() && !is_word(rest[each.size()]);
    });
    if (tag == kTags.end()) continue;
    constexpr std::size_t kLongest = 256;
    const std::size_t close = rest.substr(0, kLongest).find('>');
    if (close == std::string_view::npos) continue;
    out.append(line, kept, open - kept);
    if (*tag == "br") out += '\n';
    kept = line.size() - rest.size() + close + 1;
    open = kept - 1;
  }
  out.append(line.substr(kept));
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

// `&amp;` comes last, so that "&amp;lt;" is undone once only.
std::string without_entities(std::string line) {
  static constexpr std::array kEntities{Phrase{"&lt;", "<"},   Phrase{"&gt;", ">"},   Phrase{"&quot;", "\""},
                                        Phrase{"&#39;", "'"},  Phrase{"&#x27;", "'"}, Phrase{"&#96;", "`"},
                                        Phrase{"&#x60;", "`"}, Phrase{"&nbsp;", " "}, Phrase{"&amp;", "&"}};
  return replaced(std::move(line), kEntities);
}

// A notebook's front end makes a link of each place, which pastes as "File [~/net.py:42](http://..), in f(x)", as
// "Cell [In[4], line 2](vscode-notebook-cell:..)", or before ": f: block: ..".
std::string without_links(std::string_view line) {
  constexpr std::size_t kLongest = 512;
  std::string out;
  std::size_t kept = 0;
  for (std::size_t middle = line.find("]("); middle != std::string_view::npos; middle = line.find("](", middle + 2)) {
    if (middle == 0 || !is_digit(line[middle - 1])) continue;
    const std::size_t from = std::max(kept, middle > kLongest ? middle - kLongest : 0);
    const std::string_view before = line.substr(from, middle - from);
    std::size_t open = before.rfind('[');
    if (open != std::string_view::npos && before.substr(0, open).ends_with("[In")) open -= 3;  // "[In[4], line 2"
    const std::size_t close = line.substr(0, middle + kLongest).find(')', middle);
    if (open == std::string_view::npos || close == std::string_view::npos) continue;
    const std::string_view text = before.substr(open + 1);
    if (!split_file_line(text) && !contains(text, ", line ")) continue;
    out.append(line, kept, from + open - kept).append(text);
    kept = close + 1;
    middle = close - 1;
  }
  return out.append(line.substr(kept));
}

// `nested`: how many margins may still be found, one inside the other.
std::string cleaned(std::string_view line, int nested) {
  for (; nested > 0; --nested) {
    if (auto message = json_text(line)) {
      std::string out;
      std::string_view rest = *message;
      while (const auto each = take_until(rest, "\n")) {
        out += cleaned(*each, nested - 1) + "\n";
      }
      return out + cleaned(rest, nested - 1);
    }
    line = without_frame(line);
    const std::size_t margin = margin_of(line);
    if (margin == 0) break;
    line.remove_prefix(margin);
  }
  std::string text(line);
  if (contains(line, "块：") || contains(line, "block：") || contains(line, "触发设备端断言")) {
    text = untranslated(std::move(text));
  }
  if (contains(line, "](")) text = without_links(text);
  if (contains(line, "</") || contains(line, "<br")) text = without_tags(text);
  if (contains(line, "&") && contains(line, ";")) text = without_entities(std::move(text));
  // A whole report as one string, as a program prints what another one raised.
  constexpr std::string_view kInOneString = "(most recent call last):\\n";
  if (contains(text, kInOneString)) {
    static constexpr std::array kEscapes{Phrase{"\\n", "\n"}, Phrase{"\\\"", "\""}, Phrase{"\\'", "'"}};
    text = replaced(std::move(text), kEscapes);
  }
  return text;
}

}  // namespace

std::string without_margins(std::string_view line) {
  constexpr int kNested = 8;
  return cleaned(line, kNested);
}

LogText read_log_text(std::string_view raw) {
  LogReader reader;
  reader.add(raw);
  return reader.finish();
}

}  // namespace dsafuzz
