#include "fuzz/campaign_database.h"

#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <chrono>
#include <ctime>
#include <utility>

#include "fuzz/campaign_schema.h"
#include "fuzz/stored_finding.h"
#include "repro/case_text.h"

namespace dsafuzz {
namespace {

// Not for guessing, only for two runs never to have the same: when, where and by which process it was begun.
std::string new_uuid(const std::string& folder) {
  std::array<char, 256> host{};
  (void)::gethostname(host.data(), host.size() - 1);
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const std::string text =
      std::string(host.data()) + "\n" + folder + "\n" + std::to_string(::getpid()) + "\n" + std::to_string(now);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  std::array<char, 40> out;
  std::snprintf(out.data(), out.size(), "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return out.data();
}

// Columns of a table but for the run's id, which is another in another database.
Result<std::string> columns_of(Sqlite& sql, const std::string& table) {
  std::string columns;
  for (const SqlRow& row : DSAFUZZ_TRY(sql.query("SELECT name FROM pragma_table_info(?)", {table}))) {
    const std::string name = text_of(row[0]);
    if (name == "run" || (table == "runs" && name == "id")) continue;
    columns += (columns.empty() ? "" : ", ") + name;
  }
  return columns;
}

constexpr std::array kTablesOfARun{"run_devices", "run_scenarios", "run_versions", "samples", "run_problems",
                                   "run_steps",   "regressions",   "sites",        "parity",  "parity_cells"};

}  // namespace

std::string_view to_text(FindingState state) {
  switch (state) {
    case FindingState::new_one: return "new";
    case FindingState::known: return "known";
    case FindingState::gone: return "gone";
  }
  std::unreachable();
}

int CampaignDatabase::schema_version() { return static_cast<int>(kCampaignMigrations.size()); }

Result<std::int64_t> CampaignDatabase::schema_of(Sqlite& sql, const std::string& path) {
  const std::int64_t version = integer_of(DSAFUZZ_TRY(sql.query("PRAGMA user_version"))[0][0]);
  if (version >= 0 && version <= schema_version()) return version;
  return environment_problem("the database was written by a newer dsafuzz: its schema is " + std::to_string(version) +
                                 ", this program knows " + std::to_string(schema_version()),
                             path, "use the newer program, or another folder");
}

Result<CampaignDatabase> CampaignDatabase::open(const std::string& out) {
  const std::string path = path_in(out);
  Sqlite sql = DSAFUZZ_TRY(Sqlite::open(path, Sqlite::Access::write));
  DSAFUZZ_CHECK(sql.check());
  const Result<void> migrated = sql.together([&]() -> Result<void> {
    // Read within the transaction: two programs may meet the same old file.
    const std::int64_t version = DSAFUZZ_TRY(schema_of(sql, path));
    for (std::size_t at = static_cast<std::size_t>(version); at < kCampaignMigrations.size(); ++at) {
      DSAFUZZ_CHECK(sql.run_script(std::string(kCampaignMigrations[at])));
      DSAFUZZ_CHECK(sql.run_script("PRAGMA user_version = " + std::to_string(at + 1)));
    }
    return {};
  });
  if (!migrated) return std::unexpected(migrated.error());
  return CampaignDatabase(std::move(sql));
}

Result<std::int64_t> CampaignDatabase::begin(const RunStart& start) {
  const auto folder = DSAFUZZ_TRY(sql_.query("SELECT file FROM pragma_database_list WHERE name = 'main'"));
  DSAFUZZ_CHECK(
      sql_.run("INSERT INTO runs (uuid, kind, started, program, process, seed, jobs, seconds, executions_asked) "
               "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
               {new_uuid(text_of(folder[0][0])), start.kind, utc_now(), std::string(DSAFUZZ_VERSION),
                static_cast<std::int64_t>(::getpid()), std::to_string(start.seed), stored_count(start.jobs),
                start.seconds, stored_count(start.executions)}));
  return sql_.last_id();
}

Result<void> CampaignDatabase::add(std::int64_t run, const RunFinding& f) {
  const Signature& s = f.signature;
  return sql_.together([&]() -> Result<void> {
    DSAFUZZ_CHECK(
        sql_.run("INSERT OR IGNORE INTO signatures (name, text, verdict, op, file, kernel, condition) VALUES (?, ?, ?, "
                 "?, ?, ?, ?)",
                 {s.folder_name(), s.text(), std::string(to_text(s.verdict)), s.op, s.file, s.kernel, s.condition}));
    return sql_.run(
        "INSERT OR REPLACE INTO run_findings (run, signature, state, at, scenario, device, confirmed, confirmations, "
        "elements, one_minimal, seen) VALUES (?, (SELECT id FROM signatures WHERE name = ?), ?, ?, ?, ?, ?, ?, ?, ?, "
        "?)",
        {run, s.folder_name(), std::string(to_text(f.state)), f.at, f.scenario, f.device,
         static_cast<std::int64_t>(f.confirmed), static_cast<std::int64_t>(f.confirmations), f.elements,
         static_cast<std::int64_t>(f.one_minimal), f.seen});
  });
}

Result<void> CampaignDatabase::add_problem(std::int64_t run, double at, const std::string& text) {
  return sql_.run("INSERT INTO run_problems (run, at, text) VALUES (?, ?, ?)", {run, at, text});
}

Result<void> CampaignDatabase::add_versions(std::int64_t run, const std::map<std::string, std::string>& versions) {
  for (const auto& [name, version] : versions) {
    DSAFUZZ_CHECK(
        sql_.run("INSERT OR REPLACE INTO run_versions (run, name, version) VALUES (?, ?, ?)", {run, name, version}));
  }
  return {};
}

Result<int> CampaignDatabase::adopt_findings(const Store& store, std::int64_t run) {
  std::set<std::string> recorded;
  for (const SqlRow& row : DSAFUZZ_TRY(sql_.query("SELECT name FROM signatures"))) {
    recorded.insert(text_of(row[0]));
  }
  const auto cut_off =
      DSAFUZZ_TRY(sql_.query("SELECT id FROM runs WHERE ended IS NULL AND id <> ? ORDER BY id DESC LIMIT 1", {run}));
  const std::int64_t heir = cut_off.empty() ? run : integer_of(cut_off[0][0]);
  int adopted = 0;
  for (const std::string& name : store.findings()) {
    if (recorded.contains(name)) continue;
    const std::string folder = store.finding_file(name, "");
    const auto stored = read_stored_finding(folder);
    const auto minimal = load_case(folder + "case.yaml");
    // A folder of another name than its signature's is someone's copy.
    if (!stored || !minimal || stored->signature.folder_name() != name) continue;
    DSAFUZZ_CHECK(add(heir, {.signature = stored->signature,
                             .scenario = minimal->scenario,
                             .device = stored->device,
                             .confirmed = stored->confirmed,
                             .confirmations = stored->confirmations,
                             .elements = element_count(*minimal),
                             .one_minimal = stored->one_minimal}));
    ++adopted;
  }
  return adopted;
}

Result<void> CampaignDatabase::close_cut_off(std::int64_t but) {
  return sql_.run(
      "UPDATE runs SET interrupted = 1, "
      "executions = coalesce((SELECT max(executions) FROM samples WHERE run = runs.id), executions), "
      "features = coalesce((SELECT max(features) FROM samples WHERE run = runs.id), features), "
      "ended = strftime('%Y-%m-%dT%H:%M:%SZ', started, "
      "coalesce((SELECT max(at) FROM samples WHERE run = runs.id), 0) || ' seconds') "
      "WHERE ended IS NULL AND kind = 'fuzz' AND id <> ?",
      {but});
}

Result<int> CampaignDatabase::take_from(const std::string& other_out) {
  // Brought to our version first, in its own place: an older one is copied column by column all the same.
  DSAFUZZ_TRY(CampaignDatabase::open(other_out));
  DSAFUZZ_CHECK(sql_.run("ATTACH DATABASE ? AS other", {path_in(other_out)}));
  int taken = 0;
  const Result<void> copied = sql_.together([&]() -> Result<void> {
    DSAFUZZ_CHECK(
        sql_.run("INSERT OR IGNORE INTO signatures (name, text, verdict, op, file, kernel, condition) "
                 "SELECT name, text, verdict, op, file, kernel, condition FROM other.signatures"));
    const std::string columns = DSAFUZZ_TRY(columns_of(sql_, "runs"));
    const auto runs = DSAFUZZ_TRY(
        sql_.query("SELECT id FROM other.runs WHERE uuid NOT IN (SELECT uuid FROM main.runs) ORDER BY started, id"));
    for (const SqlRow& row : runs) {
      DSAFUZZ_CHECK(sql_.run(
          "INSERT INTO main.runs (" + columns + ") SELECT " + columns + " FROM other.runs WHERE id = ?", {row[0]}));
      const std::int64_t run = sql_.last_id();
      for (const std::string table : kTablesOfARun) {
        const std::string rest = DSAFUZZ_TRY(columns_of(sql_, table));
        DSAFUZZ_CHECK(sql_.run("INSERT INTO main." + table + " (run, " + rest + ") SELECT ?, " + rest + " FROM other." +
                                   table + " WHERE run = ?",
                               {run, row[0]}));
      }
      DSAFUZZ_CHECK(sql_.run(
          "INSERT INTO main.run_findings (run, signature, state, at, scenario, device, confirmed, confirmations, "
          "elements, one_minimal, seen) SELECT ?, m.id, f.state, f.at, f.scenario, f.device, f.confirmed, "
          "f.confirmations, f.elements, f.one_minimal, f.seen FROM other.run_findings f "
          "JOIN other.signatures o ON o.id = f.signature JOIN main.signatures m ON m.name = o.name WHERE f.run = ?",
          {run, row[0]}));
      ++taken;
    }
    return {};
  });
  (void)sql_.run("DETACH DATABASE other");
  if (!copied) return std::unexpected(copied.error());
  return taken;
}

Result<std::optional<std::int64_t>> CampaignDatabase::unfinished(const std::string& kind) {
  const auto rows =
      DSAFUZZ_TRY(sql_.query("SELECT id FROM runs WHERE kind = ? AND ended IS NULL ORDER BY id DESC LIMIT 1", {kind}));
  if (rows.empty()) return std::nullopt;
  return integer_of(rows[0][0]);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> out;
  std::strftime(out.data(), out.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return out.data();
}

}  // namespace dsafuzz
