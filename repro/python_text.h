// Lines of Python as `ruff format` leaves them: four blanks a level, and `# fmt: skip` behind what is wider than a line
// may be and better left on one (or is wrapped by hand), so that nobody's formatter tears it apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "repro/finding.h"

namespace dsafuzz {

class PythonText {
 public:
  void add(std::string_view line);  // one line, or a statement of several whose first needs the indentation
  void add(const std::vector<std::string>& lines);
  void begin(std::string_view line) {  // opens a block
    add(line);
    ++level_;
  }
  void end() { --level_; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int level_ = 0;
};

// What both Python files of a finding share. `device` is the name that the program has for it.

// Loads the device's part and the operators of our own: lines for the inside of a `try`.
std::vector<std::string> python_loading(const Case& c);
// "in" tests on `variable`, the text that a run left, for the messages that show the bug; "False" if there are none.
std::string python_message_test(const Finding& finding, const std::string& variable);

}  // namespace dsafuzz
