// A log explained to the person who pasted it: what happened, which operator and argument, what is legal, what was
// probably done wrong, which line is his own, what is only a consequence, and how to make a case of it. Claims nothing
// that the log, the catalogue of asserts or a contract does not say; what stays open is said too.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "repro/parse_log.h"

namespace dsafuzz {

// A scenario shipped with dsafuzz, as far as choosing one needs.
struct KnownScenario {
  std::string path;              // as a user types it: "scenarios/embedding.yaml"
  std::string signature;         // that it expects, Signature::text()
  std::vector<std::string> ops;  // of its steps: "aten::embedding"
};

struct Explanation {
  bool fault = false;                  // the log shows one
  std::string happened;                // one sentence; always there
  std::vector<std::string> operators;  // that may have failed, the likeliest first
  std::string argument;                // at fault: "target"; empty if unknown
  std::string condition;               // that failed, as printed; empty if unknown
  std::string meaning;                 // when it fails: "a label below 0 or from C on"
  std::string legal;                   // what the argument may hold
  std::vector<std::string> causes;     // likely ones
  std::string guard;                   // Python, to paste before the call; may be several lines
  std::string own_frame;               // "train.py:31 in step": the user's own call that started it
  std::string own_frame_remark;        // how far that frame can be trusted
  std::vector<std::string> echoes;     // what in the log is only a consequence
  std::vector<std::string> open;       // what the log does not say
  std::vector<std::string> steps;      // what to do next: a sentence, or a command behind four blanks
  std::string scenario;                // ready to run; empty: none fits
  std::string case_id;                 // of corpus/catalogue/cases; empty: none fits
};

Explanation explain(const LogReading& reading, std::span<const KnownScenario> scenarios);

// For a terminal: printable UTF-8, one heading for each part that has something to say.
std::string explanation_text(const Explanation& explanation);

}  // namespace dsafuzz
