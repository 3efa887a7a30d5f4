// Every field of a DSA record is optional: a record starts at its "Assertion failure <i>" line and takes what follows.
#include "repro/parse_dsa.h"

#include <algorithm>
#include <utility>

namespace dsafuzz {
namespace {

void read_field(std::string_view line, AssertRecord& record) {
  line = trimmed(line);
  if (take(line, "GPU assertion failure message = ")) {
    record.condition = std::string(line);
  } else if (take(line, "File containing assertion = ")) {
    const auto place = split_file_line(line);
    record.file = trimmed_path(place ? place->file : line);
    record.line = place ? place->line : 0;
  } else if (take(line, "Device function containing assertion = ")) {
    record.function = std::string(line);
  } else if (take(line, "Thread ID that failed assertion = ")) {
    record.thread = take_triple(line, '[', ']');
  } else if (take(line, "Block ID that failed assertion = ")) {
    record.block = take_triple(line, '[', ']');
  }
}

// "2 CUDA device-side assertion failures were found on GPU #0!"
std::optional<DsaDevice> found_on_gpu(std::string_view line) {
  const auto number = take_number(line);
  if (!number || !take(line, " CUDA device-side assertion failures were found on GPU #")) return std::nullopt;
  return DsaDevice{take_number(line).value_or(0), *number, 0};
}

std::optional<std::int64_t> found_at_least(std::string_view line) {
  return take(line, "But at least ") ? take_number(line) : std::nullopt;
}

void merge(std::vector<AssertRecord> all, AssertReading& reading) {
  for (AssertRecord& record : all) {
    auto same = [&](const AssertRecord& known) {
      return known.line == record.line && known.condition == record.condition && known.file == record.file;
    };
    const auto known = std::ranges::find_if(reading.records, same);
    if (known != reading.records.end()) {
      ++known->count;
    } else if (reading.records.size() < kAssertRecordLimit) {
      record.count = 1;
      reading.records.push_back(std::move(record));
    }
  }
}

}  // namespace

AssertReading parse_dsa(const LogText& log) {
  constexpr std::size_t kRecordLimit = 4096;
  AssertReading reading;
  std::vector<AssertRecord> all;
  constexpr std::size_t kDeviceLimit = 64;
  for (std::size_t i = 0; i < log.lines.size(); ++i) {
    const std::string_view line = trimmed(log.lines[i]);
    if (const auto found = found_on_gpu(line)) {
      if (reading.devices.size() < kDeviceLimit) reading.devices.push_back(*found);
    } else if (const auto more = found_at_least(line)) {
      if (!reading.devices.empty()) reading.devices.back().reported = std::max(reading.devices.back().reported, *more);
    } else if (line.starts_with("Assertion failure ") && all.size() < kRecordLimit) {
      std::string_view rest = line.substr(std::string_view("Assertion failure ").size());
      if (!take_number(rest) || !rest.empty()) continue;
      if (!reading.devices.empty()) ++reading.devices.back().printed;
      all.emplace_back();
      all.back().form = AssertForm::dsa;
      all.back().log_line = i;
      all.back().verbatim = std::string(line.substr(0, kVerbatimLimit));
    } else if (!all.empty()) {
      read_field(line, all.back());
    }
  }
  std::erase_if(all, [](const AssertRecord& record) { return record.condition.empty() && record.file.empty(); });
  for (const DsaDevice& device : reading.devices) reading.count += device.reported;
  reading.count = std::max(reading.count, static_cast<std::int64_t>(all.size()));
  if (all.empty()) reading.count = 0;
  merge(std::move(all), reading);
  return reading;
}

}  // namespace dsafuzz
