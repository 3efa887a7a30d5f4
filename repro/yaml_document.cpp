#include "repro/yaml_document.h"

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>

#include "repro/escape.h"

namespace dsafuzz {
namespace {

struct Refused {
  YAML::Mark mark;
  std::string what, remedy;
};

// Walks the events before any tree is built, and refuses what a scenario never needs.
class Gate : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) throw Refused{mark, "a second document starts here", "one document in a file"};
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { node(mark, "", anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Refused{mark, "aliases (*name) are not allowed", "write the value out"};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string&) override {
    node(mark, tag, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    node(mark, tag, anchor);
    enter(mark);
  }
  void OnSequenceEnd() override { --depth_; }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    node(mark, tag, anchor);
    enter(mark);
  }
  void OnMapEnd() override { --depth_; }

 private:
  void node(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) throw Refused{mark, "anchors (&name) are not allowed", "write the value out"};
    if (!tag.empty() && tag != "?" && tag != "!") throw Refused{mark, "tags are not allowed: " + tag, "remove it"};
    if (++nodes_ > YamlDocument::kNodeLimit)
      throw Refused{mark, "too many values", "at most " + std::to_string(YamlDocument::kNodeLimit)};
  }
  void enter(const YAML::Mark& mark) {
    if (++depth_ > YamlDocument::kDepthLimit)
      throw Refused{mark, "nested too deeply", "at most " + std::to_string(YamlDocument::kDepthLimit) + " levels"};
  }
  int documents_ = 0, nodes_ = 0, depth_ = 0;
};

// Nesting of flow brackets, seen before yaml-cpp recurses over them. Quotes are not tracked: brackets in strings
// count too, which only makes the bound stricter.
bool brackets_too_deep(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') {
      if (++depth > 2 * YamlDocument::kDepthLimit) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

// The offset of the first byte that is not UTF-8 or is a control character other than tab and line ends; npos if none.
std::size_t first_bad_byte(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    std::size_t length = 1;
    if (c < 0x20 ? (c != '\n' && c != '\r' && c != '\t') : c == 0x7f) return i;
    if (c >= 0x80) {
      length = c >= 0xf0 && c <= 0xf4 ? 4 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xc2 && c < 0xe0 ? 2 : 0;
      if (length == 0 || i + length > text.size()) return i;
      for (std::size_t k = 1; k < length; ++k) {
        if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return i;
      }
    }
    i += length;
  }
  return std::string_view::npos;
}

std::string place(const std::string& file, const YAML::Mark& mark) {
  if (mark.is_null()) return file;
  return file + ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
}

std::string kind_of(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Undefined: return "nothing";
    case YAML::NodeType::Null: return "nothing";
    case YAML::NodeType::Scalar: return "'" + node.Scalar() + "'";
    case YAML::NodeType::Sequence: return "a list";
    case YAML::NodeType::Map: return "a mapping";
  }
  return "something";
}

}  // namespace

Result<YamlDocument> YamlDocument::parse(std::string_view text, std::string file) {
  if (text.size() > kSizeLimit) return input_problem("is larger than " + std::to_string(kSizeLimit) + " bytes", file);
  if (const std::size_t bad = first_bad_byte(text); bad != std::string_view::npos) {
    const std::string_view before = text.substr(0, bad);
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return input_problem("byte 0x" + std::string(1, "0123456789abcdef"[(text[bad] >> 4) & 15]) +
                             std::string(1, "0123456789abcdef"[text[bad] & 15]) + " is not text",
                         file + ":" + std::to_string(line) + ":" + std::to_string(bad - line_start + 1),
                         "write the file in UTF-8");
  }
  if (brackets_too_deep(text))
    return input_problem("nested too deeply", file, "at most " + std::to_string(kDepthLimit) + " levels");
  YamlDocument document;
  document.file_ = std::move(file);
  try {
    std::istringstream first{std::string(text)};
    YAML::Parser parser(first);
    Gate gate;
    while (parser.HandleNextDocument(gate)) {
    }
    document.root_ = YAML::Load(std::string(text));
  } catch (const Refused& refused) {
    return input_problem(refused.what, place(document.file_, refused.mark), refused.remedy);
  } catch (const YAML::Exception& error) {
    return input_problem("is not YAML: " + error.msg, place(document.file_, error.mark));
  }
  if (!document.root_.IsDefined() || document.root_.IsNull()) return input_problem("is empty", document.file_);
  return document;
}

std::string YamlDocument::where(const YAML::Node& at) const { return place(file_, at.Mark()); }

std::unexpected<Problem> YamlDocument::problem(const YAML::Node& at, std::string what, std::string remedy) const {
  return input_problem(std::move(what), where(at), std::move(remedy));
}

Result<std::string> YamlDocument::text(const YAML::Node& node, const std::string& what) const {
  if (!node.IsScalar()) return problem(node, what + " is " + kind_of(node), "write a word");
  return node.Scalar();
}

Result<std::int64_t> YamlDocument::integer(const YAML::Node& node, const std::string& what, std::int64_t least,
                                           std::int64_t most) const {
  const auto number = node.IsScalar() ? parse_number(node.Scalar()) : std::nullopt;
  const auto* value = number ? std::get_if<std::int64_t>(&*number) : nullptr;
  if (!value || *value < least || *value > most) {
    return problem(node, what + " is " + kind_of(node),
                   "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return *value;
}

Result<Number> YamlDocument::number(const YAML::Node& node, const std::string& what) const {
  if (const auto number = node.IsScalar() ? parse_number(node.Scalar()) : std::nullopt) return *number;
  return problem(node, what + " is " + kind_of(node), "a number that fits 64 bits, .nan, .inf or -.inf");
}

Result<bool> YamlDocument::boolean(const YAML::Node& node, const std::string& what) const {
  if (node.IsScalar() && (node.Scalar() == "true" || node.Scalar() == "false")) return node.Scalar() == "true";
  return problem(node, what + " is " + kind_of(node), "true or false");
}

Result<Extent> YamlDocument::extent(const YAML::Node& node, const std::string& what) const {
  const std::string written = DSAFUZZ_TRY(text(node, what));
  return placed(node, parse_extent(written));
}

Result<std::vector<YAML::Node>> YamlDocument::items(const YAML::Node& node, const std::string& what) const {
  if (!node.IsSequence()) return problem(node, what + " is " + kind_of(node), "write a list: [a, b]");
  std::vector<YAML::Node> out;
  for (const YAML::Node& item : node) out.push_back(item);
  return out;
}

Result<std::vector<YamlDocument::Entry>> YamlDocument::entries(const YAML::Node& node, const std::string& what,
                                                               const std::vector<std::string_view>& allowed) const {
  if (!node.IsMap()) return problem(node, what + " is " + kind_of(node), "write a mapping: {name: value}");
  std::vector<Entry> out;
  std::set<std::string> seen;
  for (const auto& pair : node) {
    const std::string key = DSAFUZZ_TRY(text(pair.first, "a key of " + what));
    if (!seen.insert(key).second) return problem(pair.first, "'" + key + "' is given twice");
    if (!allowed.empty() && std::ranges::find(allowed, key) == allowed.end()) {
      return problem(pair.first, what + " has no '" + key + "'", "known here: " + joined(allowed));
    }
    out.push_back({key, pair.first, pair.second});
  }
  return out;
}

std::optional<Number> parse_number(std::string_view text) {
  if (text == ".nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == ".inf") return std::numeric_limits<double>::infinity();
  if (text == "-.inf") return -std::numeric_limits<double>::infinity();
  if (text.empty() || text.size() > 64 ||
      !std::ranges::all_of(text, [](char c) { return std::string_view("0123456789+-.eE").contains(c); })) {
    return std::nullopt;
  }
  const char* end = text.data() + text.size();
  std::int64_t integer = 0;
  if (const auto r = std::from_chars(text.data(), end, integer); r.ptr == end) {
    return r.ec == std::errc{} ? std::optional<Number>(integer) : std::nullopt;
  }
  double real = 0;
  if (const auto r = std::from_chars(text.data(), end, real); r.ptr == end && r.ec == std::errc{}) return real;
  return std::nullopt;
}

}  // namespace dsafuzz
