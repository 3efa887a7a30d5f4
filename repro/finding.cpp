// Names of verdicts and of signatures.
#include "repro/finding.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace dsafuzz {

std::string_view to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok: return "ok";
    case Verdict::host_reject: return "host_reject";
    case Verdict::device_assert: return "device_assert";
    case Verdict::memory_fault: return "memory_fault";
    case Verdict::silent: return "silent";
    case Verdict::wrong_result: return "wrong_result";
    case Verdict::hang: return "hang";
    case Verdict::crash: return "crash";
    case Verdict::out_of_memory: return "out_of_memory";
    case Verdict::setup_failed: return "setup_failed";
  }
  std::unreachable();
}

std::optional<Verdict> parse_verdict(std::string_view text) {
  const auto found = std::ranges::find(kVerdicts, text, [](Verdict v) { return to_text(v); });
  return found == kVerdicts.end() ? std::nullopt : std::optional(*found);
}

bool is_bug(Verdict verdict) {
  switch (verdict) {
    case Verdict::device_assert:
    case Verdict::memory_fault:
    case Verdict::silent:
    case Verdict::wrong_result:
    case Verdict::hang:
    case Verdict::crash: return true;
    case Verdict::ok:
    case Verdict::host_reject:
    case Verdict::out_of_memory:
    case Verdict::setup_failed: return false;
  }
  std::unreachable();
}

std::string Signature::text() const {
  std::string out = file.substr(file.rfind('/') + 1);  // npos + 1 is 0: the whole
  auto append = [&](std::string_view part) {
    if (!out.empty()) out += ' ';
    out += part;
  };
  if (!kernel.empty()) append(kernel);
  if (!condition.empty()) append("`" + condition + "`");
  return out;
}

std::string Signature::folder_name() const {
  // A zero byte ends each field, so that no two signatures join to the same bytes.
  std::string all;
  for (std::string_view field : {to_text(verdict), std::string_view(op), std::string_view(file),
                                 std::string_view(kernel), std::string_view(condition)}) {
    all.append(field).push_back('\0');
  }
  const unsigned long long hash = XXH3_64bits(all.data(), all.size());
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", hash);
  return std::string(to_text(verdict)) + "-" + digits.data();
}

}  // namespace dsafuzz
