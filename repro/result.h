// Our own trouble as a value: what is wrong, where, and what to do. The target's death is never one of these; it
// is an Outcome. The kind decides the program's exit code.
#pragma once

#include <expected>
#include <string>

namespace dsafuzz {

struct Problem {
  enum class Kind {
    input,        // a file, flag or value the user gave: exit code 2
    environment,  // this machine or the installation: exit code 3
  };
  Kind kind = Kind::input;
  std::string what;    // one sentence, with the offending text
  std::string where;   // "file.yaml:3:7", "--device", ...; may be empty
  std::string remedy;  // what would be right; may be empty

  friend bool operator==(const Problem&, const Problem&) = default;

  // "where: what (remedy)", on one line, control characters escaped.
  std::string text() const;
  int exit_code() const { return kind == Kind::input ? 2 : 3; }
};

template <typename T>
using Result = std::expected<T, Problem>;

inline std::unexpected<Problem> input_problem(std::string what, std::string where = {}, std::string remedy = {}) {
  return std::unexpected(Problem{Problem::Kind::input, std::move(what), std::move(where), std::move(remedy)});
}
inline std::unexpected<Problem> environment_problem(std::string what, std::string where = {}, std::string remedy = {}) {
  return std::unexpected(Problem{Problem::Kind::environment, std::move(what), std::move(where), std::move(remedy)});
}

}  // namespace dsafuzz

// The value of a Result, or return its Problem from the enclosing function.
#define DSAFUZZ_TRY(EXPRESSION)                                          \
  ({                                                                     \
    auto dsafuzz_result = (EXPRESSION);                                  \
    if (!dsafuzz_result) return std::unexpected(dsafuzz_result.error()); \
    *std::move(dsafuzz_result);                                          \
  })
// The same for Result<void>.
#define DSAFUZZ_CHECK(EXPRESSION)                                                                            \
  do {                                                                                                       \
    if (auto dsafuzz_result = (EXPRESSION); !dsafuzz_result) return std::unexpected(dsafuzz_result.error()); \
  } while (0)
