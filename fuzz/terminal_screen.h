// The terminal as a screen that is redrawn in place, and put back as it was in the end.
#pragma once

#include <termios.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace dsafuzz {

struct TerminalSize {
  int width = 80, height = 24;
};
// Of the terminal at standard output; COLUMNS and 80 by 24 where it does not say.
TerminalSize terminal_size();

class TerminalScreen {
 public:
  // Takes over the terminal at standard input and output; one at a time. Ctrl-C still sends its signal.
  TerminalScreen();
  ~TerminalScreen();
  TerminalScreen(const TerminalScreen&) = delete;
  TerminalScreen& operator=(const TerminalScreen&) = delete;

  void draw(const std::vector<std::string>& lines);
  // Waits for a key, at most so long; empty if none came or a signal did.
  std::optional<char> wait_for_key(std::chrono::milliseconds limit);

 private:
  std::optional<termios> before_;  // empty: standard input is no terminal, so no key ever comes
};

}  // namespace dsafuzz
