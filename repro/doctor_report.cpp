// The doctor's report, for people and for programs.
#include <nlohmann/json.hpp>

#include "repro/doctor.h"
#include "repro/escape.h"
#include "repro/tsv_table.h"

namespace dsafuzz {
namespace {

std::string of_gpus(const std::vector<std::string>& gpus) {
  if (gpus.empty()) return {};
  std::string text = gpus.size() == 1 ? "GPU " : "GPUs ";
  for (std::size_t i = 0; i < gpus.size(); ++i) text += (i == 0 ? "" : i + 1 == gpus.size() ? " and " : ", ") + gpus[i];
  return text + ": ";
}

// One line, whatever was seen: control characters become visible.
std::string one_line(const std::string& text) {
  std::string result = as_utf8(text);
  for (char& c : result) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return result;
}

// The text in lines of about 100 characters; those after the first are indented.
std::string wrapped(const std::string& text) {
  constexpr std::size_t kWidth = 100;
  std::string result;
  std::size_t length = 0;
  for (const std::string& word : split(text, ' ')) {
    if (length > 0 && length + word.size() > kWidth) {
      result += "\n           ";
      length = 0;
    } else if (!result.empty()) {
      result += ' ';
    }
    result += word;
    length += word.size() + 1;
  }
  return result;
}

std::size_t count(const std::vector<DoctorLine>& lines, Health level) {
  std::size_t n = 0;
  for (const DoctorLine& line : lines) n += line.level == level ? 1 : 0;
  return n;
}

std::string counted(std::size_t n, const std::string& noun) {
  return (n == 0 ? "no" : std::to_string(n)) + " " + noun + (n == 1 ? "" : "s");
}

}  // namespace

std::string doctor_text(const std::vector<DoctorLine>& lines, const std::vector<NotCheckable>& not_checkable) {
  std::string text, topic;
  for (const DoctorLine& line : lines) {
    if (line.topic != topic) text += (topic.empty() ? "" : "\n") + line.topic + "\n";
    topic = line.topic;
    std::string level(to_text(line.level));
    level.resize(9, ' ');
    text += "  " + level + wrapped(one_line(of_gpus(line.gpus) + line.says)) + "\n";
    if (!line.mends.empty()) text += "           mend: " + one_line(line.mends) + "\n";
  }
  text += "\n" + counted(count(lines, Health::fault), "fault") + ", " +
          counted(count(lines, Health::warning), "warning") + "\n";
  if (not_checkable.empty()) return text;
  text += "\nnot checkable from outside a running program\n";
  for (const NotCheckable& row : not_checkable) text += "  " + row.conflict + ": " + row.reason + "\n";
  return text;
}

std::string doctor_json(const std::vector<DoctorLine>& lines, const std::vector<NotCheckable>& not_checkable,
                        const MachineFacts& facts) {
  nlohmann::ordered_json json;
  json["faults"] = count(lines, Health::fault);
  json["warnings"] = count(lines, Health::warning);
  json["lines"] = nlohmann::ordered_json::array();
  for (const DoctorLine& line : lines) {
    nlohmann::ordered_json entry{{"level", to_text(line.level)}, {"id", line.id}, {"topic", line.topic}};
    for (const std::string& gpu : line.gpus) entry["gpus"].push_back(one_line(gpu));
    entry["says"] = one_line(line.says);
    if (!line.mends.empty()) entry["mends"] = one_line(line.mends);
    json["lines"].push_back(std::move(entry));
  }
  json["not_checkable"] = nlohmann::ordered_json::array();
  for (const NotCheckable& row : not_checkable)
    json["not_checkable"].push_back({{"conflict", row.conflict}, {"reason", row.reason}});
  json["facts"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : facts.values) json["facts"][one_line(name)] = one_line(value);
  json["gpus"] = nlohmann::ordered_json::array();
  for (const FactValues& gpu : facts.gpus) {
    nlohmann::ordered_json entry = nlohmann::ordered_json::object();
    for (const auto& [name, value] : gpu) entry[one_line(name)] = one_line(value);
    json["gpus"].push_back(std::move(entry));
  }
  return json.dump(2) + "\n";
}

}  // namespace dsafuzz
