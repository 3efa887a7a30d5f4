// What the CPU said of an input (diagnose.h: opinion), read back.
#pragma once

#include <string>
#include <string_view>

namespace dsafuzz {

// "Target 1 is out of bounds." of "raises IndexError: Target 1 is out of bounds."; empty where it raised nothing. The
// type's name is left out: C++ and Python have different ones for the same error.
inline std::string cpu_message(std::string_view opinion) {
  constexpr std::string_view kRaises = "raises ";
  if (!opinion.starts_with(kRaises)) return {};
  const std::size_t colon = opinion.find(": ");
  return colon == std::string_view::npos ? std::string() : std::string(opinion.substr(colon + 2));
}

}  // namespace dsafuzz
