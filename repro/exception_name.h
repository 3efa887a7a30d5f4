// The class of an exception, as Python and C++ programs print it in front of its message.
#pragma once

#include <string>
#include <string_view>

namespace dsafuzz {

// "torch.AcceleratorError", "std::bad_exception": something that ends in Error or Exception.
bool is_exception_name(std::string_view word);

// The word at the end of `s`, of letters, digits, `_`, `.` and `:`, which it does not begin with.
std::string_view word_at_end(std::string_view s);

// `before` is what precedes a message: "torch.AcceleratorError: ", or Python's "RuntimeError('". Empty if that is no
// exception.
std::string exception_before(std::string_view before);

// The class at the front of a whole line: "a.b.XlaRuntimeError: INTERNAL: ..". Empty if there is none.
std::string exception_at_front(std::string_view line);

}  // namespace dsafuzz
