// Small steps for reading other programs' text by hand: each looks at the front of a view, and on success takes what
// it read off. Nothing here backtracks over more than it returns, so every grammar built on it is linear.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dsafuzz {

using Triple = std::array<std::int64_t, 3>;  // block or thread index: x, y, z

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

// Takes `word` off the front; false and nothing taken if it is not there.
bool take(std::string_view& s, std::string_view word);
void skip_blanks(std::string_view& s);
std::string_view trimmed(std::string_view s);
bool contains(std::string_view s, std::string_view word);
std::string_view first_line(std::string_view s);  // without its end; all of it where there is no other

// A decimal number of at most 18 digits, no sign; nullopt and nothing taken otherwise.
std::optional<std::int64_t> take_number(std::string_view& s);
// The same with a locale's separators between groups of three: "1,048,576".
std::optional<std::int64_t> take_grouped_number(std::string_view& s);
// "[1,2,3]" or, with '(' and ')', "(1, 2, 3)".
std::optional<Triple> take_triple(std::string_view& s, char open, char close);
// What lies before the first `end`, which is taken too; nullopt and nothing taken if there is none.
std::optional<std::string_view> take_until(std::string_view& s, std::string_view end);

// "FILE:LINE", split at the last colon that has only digits after it; nullopt if there is none.
struct FileLine {
  std::string_view file;
  std::int64_t line = 0;
};
std::optional<FileLine> split_file_line(std::string_view s);

// From the last aten/ on, else from the last c10/ on, with `/` as separator; else the path as printed.
std::string trimmed_path(std::string_view path);

}  // namespace dsafuzz
