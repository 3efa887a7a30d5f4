// A frame of a Python stack, in the forms in which interpreters, notebooks and test runners print it.
#pragma once

#include <optional>
#include <string_view>

#include "repro/finding.h"

namespace dsafuzz {

// `  File "x.py", line 3, in f`, and faulthandler's `line 3 in f`; anywhere in the line. Takes it off.
std::optional<Frame> take_file_frame(std::string_view& line);

// The page translator's form of the same.
std::optional<Frame> take_translated_frame(std::string_view& line);

// rich: `/z/inference.py:140 in main`, which may wrap before the name
std::optional<Frame> rich_frame(std::string_view line);

// pytest: `tests/test_lookup.py:31: RuntimeError`, and above it `tests/conftest.py:12: ` for each caller
std::optional<Frame> pytest_frame(std::string_view line);

// IPython's forms, some of which tell the line number below, by an arrow.
class NotebookFrames {
 public:
  // The frame that this line completes, if any.
  std::optional<Frame> read(std::string_view line);

 private:
  std::optional<Frame> pending_;  // without its line number
};

}  // namespace dsafuzz
