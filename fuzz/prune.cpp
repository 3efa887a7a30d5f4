#include "fuzz/prune.h"

#include <chrono>
#include <filesystem>

#include "fuzz/atomic_file.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

// Entries of the folder that nobody has written to for so long.
int remove_older(const std::string& folder, std::uint64_t days, bool only_count) {
  const auto limit = fs::file_time_type::clock::now() - std::chrono::hours(24) * days;
  int removed = 0;
  std::error_code error;
  std::vector<fs::path> old;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code unknown;
    const auto written = fs::last_write_time(at->path(), unknown);
    if (!unknown && written < limit) old.push_back(at->path());
  }
  for (const fs::path& path : old) {
    if (!only_count) remove_all(path.string());
    ++removed;
  }
  return removed;
}

}  // namespace

Result<Pruned> prune(const Store& store, CampaignDatabase& database, const KeepPolicy& policy, bool only_count) {
  Pruned out;
  Sqlite& sql = database.sql();
  // A run that others may still complete stays, too.
  const std::string old =
      "FROM runs WHERE ended IS NOT NULL AND id <> (SELECT max(id) FROM runs) AND ("
      "(?1 > 0 AND started < strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-' || ?1 || ' days')) OR "
      "(?2 > 0 AND id NOT IN (SELECT id FROM runs ORDER BY started DESC, id DESC LIMIT ?2)))";
  const SqlRow limits{static_cast<std::int64_t>(policy.days), static_cast<std::int64_t>(policy.runs)};
  out.runs = static_cast<int>(integer_of(DSAFUZZ_TRY(sql.query("SELECT count(*) " + old, limits))[0][0]));
  if (!only_count && out.runs > 0) {
    // Signatures stay: a finding that lies in its folder must not look new again.
    DSAFUZZ_CHECK(sql.run("DELETE " + old, limits));
    DSAFUZZ_CHECK(sql.run("VACUUM"));
  }
  if (policy.days == 0) return out;
  for (const char* part : {"/logs", "/unconfirmed"})
    out.files += remove_older(store.folder() + part, policy.days, only_count);
  return out;
}

}  // namespace dsafuzz
