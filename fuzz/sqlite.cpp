#include "fuzz/sqlite.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

constexpr int kPatience = 5000;  // milliseconds

// A path as a URI: everything but letters, digits and a few harmless marks is percent-encoded.
std::string uri_of(const std::string& path, std::string_view options) {
  std::string uri = "file:";
  for (const unsigned char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                       c == '.' || c == '-' || c == '_';
    if (plain) {
      uri += static_cast<char>(c);
      continue;
    }
    constexpr char kDigits[] = "0123456789ABCDEF";
    uri += '%';
    uri += kDigits[c >> 4];
    uri += kDigits[c & 15];
  }
  return uri + "?" + std::string(options);
}

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

void bind(sqlite3_stmt* statement, int at, const SqlValue& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) {
    sqlite3_bind_int64(statement, at, *i);
  } else if (const auto* d = std::get_if<double>(&value)) {
    sqlite3_bind_double(statement, at, *d);
  } else if (const auto* s = std::get_if<std::string>(&value)) {
    sqlite3_bind_text64(statement, at, s->data(), s->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
}

SqlValue column(sqlite3_stmt* statement, int at) {
  switch (sqlite3_column_type(statement, at)) {
    case SQLITE_INTEGER: return sqlite3_column_int64(statement, at);
    case SQLITE_FLOAT: return sqlite3_column_double(statement, at);
    case SQLITE_NULL: return std::monostate{};
    default: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, at));
      return std::string(text ? text : "", static_cast<std::size_t>(sqlite3_column_bytes(statement, at)));
    }
  }
}

}  // namespace

std::int64_t integer_of(const SqlValue& value) {
  const auto* i = std::get_if<std::int64_t>(&value);
  return i ? *i : 0;
}

double number_of(const SqlValue& value) {
  const auto* d = std::get_if<double>(&value);
  return d ? *d : static_cast<double>(integer_of(value));
}

std::string text_of(const SqlValue& value) {
  const auto* s = std::get_if<std::string>(&value);
  return s ? *s : std::string();
}

void Sqlite::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

Result<Sqlite> Sqlite::open(const std::string& path, Access access) {
  std::error_code ignored;
  if (access == Access::read && !fs::exists(path, ignored)) {
    return input_problem("there is no database here", path, "an output folder of `dsafuzz fuzz` or `nightly`");
  }
  // A WAL database needs files beside it even to be read, unless nobody can be writing it.
  const bool immutable = access == Access::read && ::access(fs::path(path).parent_path().c_str(), W_OK) != 0;
  const std::string uri = uri_of(path, access == Access::write ? "mode=rwc"
                                       : immutable             ? "mode=ro&immutable=1"
                                                               : "mode=ro");
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(uri.c_str(), &raw,
                      SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
                          (access == Access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY),
                      nullptr);
  Sqlite database(std::unique_ptr<sqlite3, Close>(raw), path);
  if (code != SQLITE_OK) return database.problem();
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, kPatience);
  DSAFUZZ_CHECK(database.run("PRAGMA foreign_keys = ON"));
  if (access == Access::write) {
    if (sqlite3_db_readonly(raw, "main") == 1) {
      return environment_problem("the database may not be written to", path,
                                 "check the permissions of file and folder");
    }
    DSAFUZZ_CHECK(database.run_script("PRAGMA journal_mode = WAL"));
  }
  // Reads the first page: what is no database says so here and not in the middle of a run.
  DSAFUZZ_TRY(database.query("SELECT count(*) FROM sqlite_master"));
  return database;
}

void Sqlite::set_patience(std::chrono::milliseconds patience) {
  sqlite3_busy_timeout(connection_.get(), static_cast<int>(patience.count()));
}

Result<void> Sqlite::run(std::string_view statement, const SqlRow& values) {
  if (auto rows = query(statement, values); !rows) return std::unexpected(rows.error());
  return {};
}

Result<std::vector<SqlRow>> Sqlite::query(std::string_view text, const SqlRow& values) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(connection_.get(), text.data(), static_cast<int>(text.size()), &raw, nullptr) != SQLITE_OK) {
    return problem();
  }
  const Statement statement(raw);
  for (std::size_t i = 0; i < values.size(); ++i) bind(raw, static_cast<int>(i) + 1, values[i]);
  std::vector<SqlRow> rows;
  for (;;) {
    const int code = sqlite3_step(raw);
    if (code == SQLITE_DONE) return rows;
    if (code != SQLITE_ROW) return problem();
    SqlRow& row = rows.emplace_back();
    for (int i = 0; i < sqlite3_column_count(raw); ++i) row.push_back(column(raw, i));
  }
}

Result<void> Sqlite::run_script(const std::string& statements) {
  if (sqlite3_exec(connection_.get(), statements.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return problem();
  return {};
}

std::int64_t Sqlite::last_id() const { return sqlite3_last_insert_rowid(connection_.get()); }
int Sqlite::changes() const { return sqlite3_changes(connection_.get()); }

bool Sqlite::is_busy() const {
  const int code = sqlite3_errcode(connection_.get()) & 0xff;
  return code == SQLITE_BUSY || code == SQLITE_LOCKED;
}

Result<void> Sqlite::check() {
  const auto rows = DSAFUZZ_TRY(query("PRAGMA quick_check(1)"));
  const std::string said = rows.empty() ? "" : text_of(rows[0][0]);
  if (said != "ok") return damaged(said);
  return {};
}

std::unexpected<Problem> Sqlite::damaged(const std::string& said) const {
  return environment_problem("the database is damaged: " + said, path_,
                             "move it away and a new one is begun; findings are read from their folders");
}

std::unexpected<Problem> Sqlite::problem() const {
  const std::string said = sqlite3_errmsg(connection_.get());
  switch (sqlite3_errcode(connection_.get()) & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT: return damaged(said);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return environment_problem("another process keeps the database locked", path_, "end it, or try again later");
    case SQLITE_FULL:
      return environment_problem("no space is left for the database", path_, "make room and start again");
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return environment_problem("the database cannot be opened or written to: " + said, path_,
                                 "check the permissions of file and folder");
    case SQLITE_IOERR:
      return environment_problem("the database cannot be read or written: " + said, path_,
                                 "check the disk; a file system without locks, such as some network ones, will not do");
    default: return environment_problem("the database says: " + said, path_);
  }
}

}  // namespace dsafuzz
