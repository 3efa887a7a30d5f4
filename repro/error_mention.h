// Whether a line that holds an error's text reports the error, or only speaks of it: documentation, source code, a
// commit's message, somebody's question.
#pragma once

#include <string_view>

namespace dsafuzz {

// `before` and `after` are the line's parts around the error, which begins with its announcement ("CUDA error: ..") or
// its exception's name. Only what shows plainly that nothing failed here counts; in doubt it is a report.
bool only_mentions(std::string_view before, std::string_view after);

}  // namespace dsafuzz
