#include "fuzz/terminal_screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace dsafuzz {

TerminalSize terminal_size() {
  TerminalSize size;
  winsize seen{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &seen) == 0 && seen.ws_col > 0 && seen.ws_row > 0) {
    return {.width = seen.ws_col, .height = seen.ws_row};
  }
  const char* columns = std::getenv("COLUMNS");
  if (const int said = columns ? std::atoi(columns) : 0; said >= 20 && said <= 1000) size.width = said;
  return size;
}

TerminalScreen::TerminalScreen() {
  termios now{};
  if (tcgetattr(STDIN_FILENO, &now) == 0) {
    before_ = now;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &now);
  }
  std::fputs("\033[?1049h\033[?25l", stdout);  // the other screen, without a cursor
}

TerminalScreen::~TerminalScreen() {
  std::fputs("\033[?25h\033[?1049l", stdout);
  std::fflush(stdout);
  if (before_) tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
}

void TerminalScreen::draw(const std::vector<std::string>& lines) {
  std::string text = "\033[H";
  for (std::size_t i = 0; i < lines.size(); ++i) text += (i ? "\r\n" : "") + lines[i] + "\033[K";
  text += "\033[J";
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

std::optional<char> TerminalScreen::wait_for_key(std::chrono::milliseconds limit) {
  pollfd waiting{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (poll(&waiting, before_ ? 1 : 0, static_cast<int>(limit.count())) <= 0) return std::nullopt;
  char key = 0;
  return read(STDIN_FILENO, &key, 1) == 1 ? std::optional(key) : std::nullopt;
}

}  // namespace dsafuzz
