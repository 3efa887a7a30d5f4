// What a shell says of a program that a signal ended: "Aborted (core dumped)", "run.sh: line 3: 81 Killed  python
// a.py", "zsh: abort (core dumped)  python a.py". Unlike everything that CUDA, PyTorch and NVIDIA's tools print, it is
// in the user's language: the signal in the C library's words, the remark on the core in bash's own.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dsafuzz {

enum class ShellDeath : std::uint8_t { abort, segfault, kill };

// The signal that `line` reports; nullopt if it is another line. Without a remark on the core, a process number or a
// shell's name the words may be the program's own, as prose has them ("Killed", "中止"): such a line counts only if it
// holds nothing else and `at_end`, where a shell's word is the last.
std::optional<ShellDeath> shell_death(std::string_view line, bool at_end);

}  // namespace dsafuzz
