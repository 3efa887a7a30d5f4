// A connection to an SQLite file, with its errors as Problems that say what to do. Nothing here knows our tables.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "repro/result.h"

struct sqlite3;

namespace dsafuzz {

using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;  // monostate: NULL
using SqlRow = std::vector<SqlValue>;
// A count is stored signed, as SQLite's integers are.
inline std::int64_t stored_count(std::uint64_t n) { return static_cast<std::int64_t>(n); }
// What a column declared NOT NULL holds; zero or empty for a NULL or another type.
std::int64_t integer_of(const SqlValue& value);
double number_of(const SqlValue& value);
std::string text_of(const SqlValue& value);

class Sqlite {
 public:
  enum class Access : std::uint8_t {
    write,  // the file is created as needed, and kept in WAL mode: readers never wait for the writer
    read,   // the file is there, and nothing is written, not even beside it where the folder may not be written to
  };
  // Problem (environment): not there, no permission, or not a database.
  static Result<Sqlite> open(const std::string& path, Access access);

  // Each waits this long for another process that is writing; 5 s at first.
  void set_patience(std::chrono::milliseconds patience);

  // One statement with ? for each value. Problem: what SQLite says, with the file and what to do; nothing of the
  // statement is done then. `is_busy` tells whether trying again may help.
  Result<void> run(std::string_view statement, const SqlRow& values = {});
  Result<std::vector<SqlRow>> query(std::string_view statement, const SqlRow& values = {});
  Result<void> run_script(const std::string& statements);
  // Problem: the file is damaged, as far as a quick look shows.
  Result<void> check();
  std::int64_t last_id() const;
  int changes() const;  // rows that the last statement changed
  bool is_busy() const;

  // Everything that `work` does (it returns Result<void>), or nothing of it. Not nested.
  template <typename Work>
  Result<void> together(Work&& work) {
    DSAFUZZ_CHECK(run("BEGIN IMMEDIATE"));
    Result<void> done = work();
    if (done) done = run("COMMIT");
    // Some errors, such as a full disk, have rolled back by themselves; a second time does no harm.
    if (!done) (void)run("ROLLBACK");
    return done;
  }

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  Sqlite(std::unique_ptr<sqlite3, Close> connection, std::string path)
      : connection_(std::move(connection)), path_(std::move(path)) {}
  std::unexpected<Problem> problem() const;
  std::unexpected<Problem> damaged(const std::string& said) const;

  std::unique_ptr<sqlite3, Close> connection_;
  std::string path_;
};

}  // namespace dsafuzz
