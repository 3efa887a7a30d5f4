#include "fuzz/engine_options.h"

#include <array>
#include <charconv>

namespace dsafuzz {
namespace {

template <typename T>
bool read(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}
bool read(const std::string& text, bool& value) {
  value = text == "1";
  return text == "1" || text == "0";
}
bool read(const std::string& text, std::string& value) {
  value = text;
  return true;
}
bool read(const std::string& text, std::chrono::milliseconds& value) {
  std::int64_t count = 0;
  if (!read(text, count)) return false;
  value = std::chrono::milliseconds(count);
  return true;
}
bool read(const std::string& text, std::optional<Tool>& value) {
  value = parse_tool(text);
  return text.empty() || value.has_value();
}
bool read(const std::string& text, Device& value) {
  const auto device = parse_device(text);
  if (device) value = *device;
  return device.has_value();
}

std::string written(const std::string& value) { return value; }
std::string written(bool value) { return value ? "1" : "0"; }
std::string written(std::uint64_t value) { return std::to_string(value); }
std::string written(int value) { return std::to_string(value); }
std::string written(double value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}
std::string written(std::chrono::milliseconds value) { return std::to_string(value.count()); }
std::string written(std::optional<Tool> value) { return value ? std::string(to_text(*value)) : ""; }
std::string written(const Device& value) { return value.text(); }

// Names each field once, for both directions.
template <typename Options, typename Visit>
void visit_fields(Options& o, Visit visit) {
  visit("--scenario", o.scenario);
  visit("--out", o.out);
  visit("--index", o.index);
  visit("--seed", o.seed);
  visit("--runs", o.runs);
  visit("--seconds", o.seconds);
  visit("--known-every", o.known_every);
  visit("--until-expected", o.until_expected);
  visit("--from-legal", o.method.from_legal);
  visit("--feedback", o.method.feedback);
  visit("--structured", o.method.structured);
  visit("--status-fd", o.status_fd);
  visit("--parent", o.parent);
  visit("--device", o.settings.device);
  visit("--tool", o.settings.tool);
  visit("--blocking", o.settings.blocking);
  visit("--cpp-stacks", o.settings.cpp_stacks);
  visit("--caching", o.settings.caching);
  visit("--modules", o.settings.modules);
  visit("--time-limit-ms", o.settings.time_limit);
  visit("--start-limit-ms", o.settings.start_limit);
  visit("--memory-bytes", o.settings.memory_bytes);
  visit("--output-bytes", o.settings.output_bytes);
}

}  // namespace

std::vector<std::string> to_arguments(const EngineOptions& options) {
  std::vector<std::string> arguments;
  visit_fields(options, [&](const char* name, const auto& value) {
    arguments.push_back(std::string(name) + "=" + written(value));
  });
  return arguments;
}

Result<EngineOptions> parse_engine_arguments(std::span<const std::string> arguments) {
  EngineOptions options;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    bool known = false, good = false;
    visit_fields(options, [&](const char* field, auto& target) {
      if (name != field) return;
      known = true;
      good = read(value, target);
    });
    if (!known) return input_problem("'" + argument + "' is not an option of an engine");
    if (!good) return input_problem("'" + value + "' is not a value", name);
  }
  return options;
}

}  // namespace dsafuzz
