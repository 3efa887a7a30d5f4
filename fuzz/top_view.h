// What `dsafuzz top` shows of a run, as lines of text. No clock, no terminal: both come in as values.
#pragma once

#include <string>
#include <vector>

#include "fuzz/campaign_reader.h"

namespace dsafuzz {

struct TopLook {
  int width = 80;       // no line is longer
  int height = 0;       // nor are there more lines; 0: as many as there are
  bool colour = false;  // ANSI sequences
  bool blocks = false;  // Unicode's block elements in small charts; otherwise ASCII
};

struct TopMoment {
  double elapsed = 0;  // seconds since the run started
  bool alive = false;  // its process is there
};

// How it stands: "fuzzing", "examining", a nightly run's step, "ended", "stopped before its end", "cut off".
std::string top_state(const RunOverview& run, const TopMoment& moment);

// Every line without its newline. Foreign text is printable ASCII in it, whatever it was.
std::vector<std::string> top_lines(const std::string& out, const RunOverview& run, const TopMoment& moment,
                                   const TopLook& look);

// A chart of one line: the last `width` values, each by its height between 0 and the largest. Empty for no values.
std::string sparkline(const std::vector<double>& values, int width, bool blocks);

}  // namespace dsafuzz
