// What stands for a line's own text and is put back: JSON's escapes, HTML's, and words of a page translator. log_reader
// cuts bytes into lines, log_margin knows what wrappers put before them.
#include "repro/log_text.h"

#include <array>
#include <optional>
#include <utility>

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

// A string of JSON, from behind its opening quote. Line feeds inside stay, one at its end does not.
std::string json_string(std::string_view s) {
  std::string out;
  for (std::size_t i = 0; i < s.size() && s[i] != '"'; ++i) {
    if (s[i] != '\\' || i + 1 == s.size()) {
      out += s[i];
      continue;
    }
    ++i;
    if (s[i] == 'r') continue;
    constexpr std::array<std::pair<std::string_view, char>, 3> kAngles{
        {{"u003c", '<'}, {"u003e", '>'}, {"u0026", '&'}}};
    bool taken = false;
    for (const auto& [code, character] : kAngles) {
      if (!s.substr(i).starts_with(code)) continue;
      out += character;
      i += code.size() - 1;
      taken = true;
    }
    if (!taken) out += s[i] == 'n' ? '\n' : s[i] == 't' ? '\t' : s[i];
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

// The message of a log that writes one JSON object a line: Docker's json-file, journald, structured loggers.
std::optional<std::string> json_message(std::string_view line) {
  if (!line.starts_with("{\"")) return std::nullopt;
  for (std::string_view key : {"log", "msg", "message", "MESSAGE", "text"}) {
    for (std::string_view colon : {"\":\"", "\": \""}) {
      const std::string field = "\"" + std::string(key) + std::string(colon);
      const std::size_t at = line.find(field);
      if (at != std::string_view::npos) return json_string(line.substr(at + field.size()));
    }
  }
  if (line.starts_with("{\"log\":")) return std::string();  // cut before the message begins
  return std::nullopt;
}

// A log that went through a page translator; the tools themselves are never localised. Only whole phrases are put
// back, so that a path in that language stays as it is.
std::string untranslated(std::string line) {
  static constexpr std::array kPhrases{Phrase{"：块：[", ": block: ["},
                                       Phrase{"：block：[", ": block: ["},
                                       Phrase{"，线程：[", ", thread: ["},
                                       Phrase{"，thread：[", ", thread: ["},
                                       Phrase{" 断言“", " Assertion `"},
                                       Phrase{"”失败。", "` failed."},
                                       Phrase{"，", ","},
                                       Phrase{"：", ":"},
                                       Phrase{"CUDA 错误:触发设备端断言", " CUDA error: device-side assert triggered"}};
  return replaced(std::move(line), kPhrases);
}

// Copied from a page's source. `&amp;` comes last, so that "&amp;lt;" is undone once only.
std::string without_entities(std::string line) {
  static constexpr std::array kEntities{Phrase{"&lt;", "<"},   Phrase{"&gt;", ">"},   Phrase{"&quot;", "\""},
                                        Phrase{"&#39;", "'"},  Phrase{"&#x27;", "'"}, Phrase{"&#96;", "`"},
                                        Phrase{"&#x60;", "`"}, Phrase{"&nbsp;", " "}, Phrase{"&amp;", "&"}};
  return replaced(std::move(line), kEntities);
}

}  // namespace

std::string without_margins(std::string_view line) {
  constexpr int kNested = 8;
  for (int i = 0; i < kNested; ++i) {
    if (auto message = json_message(line)) return *std::move(message);
    line = without_frame(line);
    const std::size_t margin = margin_of(line);
    if (margin == 0) break;
    line.remove_prefix(margin);
  }
  std::string text(line);
  if (contains(line, "：块：[") || contains(line, "：block：[") || contains(line, "触发设备端断言")) {
    text = untranslated(std::move(text));
  }
  if (contains(line, "&") && contains(line, ";")) text = without_entities(std::move(text));
  // A whole report as one string, as a program prints what another one raised.
  constexpr std::string_view kInOneString = "(most recent call last):\\n";
  if (contains(text, kInOneString)) {
    static constexpr std::array kEscapes{Phrase{"\\n", "\n"}, Phrase{"\\\"", "\""}, Phrase{"\\'", "'"}};
    text = replaced(std::move(text), kEscapes);
  }
  return text;
}

LogText read_log_text(std::string_view raw) {
  LogReader reader;
  reader.add(raw);
  return reader.finish();
}

}  // namespace dsafuzz
