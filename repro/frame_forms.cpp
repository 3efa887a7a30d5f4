// One reader per form; each wants its own words, so that they can be tried one after the other.
#include "repro/frame_forms.h"

#include <utility>

#include "repro/exception_name.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

std::optional<Frame> frame_of(std::string_view file, std::optional<std::int64_t> line, std::string_view function) {
  if (!line || *line > 1'000'000'000) return std::nullopt;
  return Frame{std::string(function), std::string(file), static_cast<int>(*line)};
}

// "f(x, y)" without its arguments
std::string_view called_name(std::string_view s) {
  s = trimmed(s);
  return s.substr(0, s.find('('));
}

// What an arrow of IPython points at: "---> 13 acc = score(logits, y)"
std::optional<std::int64_t> arrow_line(std::string_view line) {
  line = trimmed(line);
  std::size_t dashes = 0;
  while (dashes < line.size() && line[dashes] == '-') ++dashes;
  line.remove_prefix(dashes);
  if (dashes < 2 || !take(line, "> ")) return std::nullopt;
  return take_number(line);
}

}  // namespace

// `  File "x.py", line 3, in f`, and faulthandler's `line 3 in f`; anywhere in the line. Takes it off.
std::optional<Frame> take_file_frame(std::string_view& line) {
  std::string_view rest = line;
  if (!take_until(rest, "File \"")) return std::nullopt;
  const auto file = take_until(rest, "\", line ");
  if (!file || contains(*file, "\"")) return std::nullopt;
  const auto number = take_number(rest);
  if (!number) return std::nullopt;
  std::string_view function;
  if (take(rest, ", in ") || take(rest, " in ")) {
    const std::size_t end = rest.starts_with('<') ? rest.find('>') + 1 : rest.find(' ');  // "<cell line: 3>"
    function = rest.substr(0, end == 0 ? std::string_view::npos : end);
    rest.remove_prefix(function.size());
  }
  line = rest;
  return frame_of(*file, number, function);
}

// The page translator's form of the same.
std::optional<Frame> take_translated_frame(std::string_view& line) {
  std::string_view rest = line;
  if (!take_until(rest, "文件“")) return std::nullopt;
  const auto file = take_until(rest, "”，第 ");
  const auto number = file ? take_number(rest) : std::nullopt;
  if (!number || !take(rest, " 行，在 ")) return std::nullopt;
  const std::string_view function = rest.substr(0, rest.find(' '));
  line = {};
  return frame_of(*file, number, function);
}

std::optional<Frame> NotebookFrames::read(std::string_view line) {
  if (pending_) {
    if (const auto number = arrow_line(line)) {
      const Frame frame = *std::exchange(pending_, std::nullopt);
      return frame_of(frame.file, number, frame.function);
    }
  }
  std::string_view rest = line;
  if (line.starts_with("Cell In[")) {  // Cell In[4], line 2, in score(p, y)
    const auto file = take_until(rest, ", line ");
    const auto number = file ? take_number(rest) : std::nullopt;
    return number ? frame_of(*file, number, take(rest, ", in ") ? called_name(rest) : "") : std::nullopt;
  }
  if (take(rest, "File ") && !rest.starts_with('"')) {  // File ~/net.py:42, in Net.forward(self, x)
    const auto site = take_until(rest, ", in ");
    const auto place = site ? split_file_line(*site) : std::nullopt;
    return place ? frame_of(place->file, place->line, called_name(rest)) : std::nullopt;
  }
  rest = line;
  if (line.starts_with("Input In [")) {  // Input In [4], in <cell line: 2>()
    const auto file = take_until(rest, ", in ");
    if (file) pending_ = Frame{std::string(called_name(rest)), std::string(*file), 0};
    return std::nullopt;
  }
  const auto file = take_until(rest, " in ");  // ~/net.py in forward(self, x), <ipython-input-7-3b8a> in <module>
  const bool path = file && !contains(*file, " ") && (file->ends_with(".py") || file->starts_with("<ipython-input-"));
  if (path) pending_ = Frame{std::string(called_name(rest)), std::string(*file), 0};
  return std::nullopt;
}

// rich: `/z/inference.py:140 in main`, which may wrap before the name; in an old console between bars of ASCII
std::optional<Frame> rich_frame(std::string_view line) {
  take(line, "| ");
  const std::size_t in = line.find(" in ");
  const bool drive = line.size() > 2 && is_letter(line[0]) && line[1] == ':' && (line[2] == '\\' || line[2] == '/');
  if ((!line.starts_with('/') && !drive) || in == std::string_view::npos) return std::nullopt;
  const auto place = split_file_line(line.substr(0, in));
  std::string_view function = trimmed(line.substr(in + 4));
  function = function.substr(0, function.find(' '));
  return place && !function.empty() ? frame_of(place->file, place->line, function) : std::nullopt;
}

// pytest: `tests/test_lookup.py:31: RuntimeError`, and above it `tests/conftest.py:12: ` for each caller
std::optional<Frame> pytest_frame(std::string_view line) {
  const std::size_t colon = line.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view what = trimmed(line.substr(colon + 1));
  if (!what.empty() && !is_exception_name(what)) return std::nullopt;
  const auto place = split_file_line(line.substr(0, colon));
  if (!place || !place->file.ends_with(".py") || contains(place->file, " ")) return std::nullopt;
  return frame_of(place->file, place->line, {});
}

}  // namespace dsafuzz
