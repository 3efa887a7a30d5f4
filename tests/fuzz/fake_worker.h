// What the fake worker and its test agree on. The fake plays dsafuzz-worker's protocol without LibTorch: its start
// takes kFakeStart, as a CUDA worker's takes a while, and a case's scenario says how the case goes.
#pragma once

#include <chrono>

namespace dsafuzz {

inline constexpr std::chrono::milliseconds kFakeStart{400};

// Scenarios. Every answer's `error` is "PROCESS CASES": who ran it, and how many cases it had run with this one.
inline constexpr const char* kReturns = "returns";       // the case returns
inline constexpr const char* kThrows = "throws";         // it throws and the device lives
inline constexpr const char* kLost = "lost";             // it throws, and the device is lost: the worker ends itself
inline constexpr const char* kLingers = "lost_lingers";  // the same, but the worker hangs where it should end
inline constexpr const char* kDies = "dies";             // it ends the process by SIGSEGV without an answer

}  // namespace dsafuzz
