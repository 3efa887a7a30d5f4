// The tables of a campaign's database (campaign_database.h), which programs in other languages read too: what stands
// here is the contract. Times are UTC ("2026-12-02T13:00:00Z"); "at" is seconds since the run started.
//
//   runs           a run of `fuzz` or `nightly`: `ended` is NULL while it runs, and after it was cut off
//   run_devices    what each device did in it; run_scenarios: the same by scenario; run_versions: "torch": "2.11.0"
//   samples        how a run went: a row about every second at first, fewer later, with totals so far
//   signatures     every bug ever met; `name` is that of its folder in findings/, `text` what people compare
//   run_findings   the bugs of a run: `new` ones, `known` ones that were seen again, and `gone` ones, which an earlier
//                  run found and which no longer show
//   run_problems   what went wrong on the way
//   run_steps      how far a nightly run came (nightly.h)
//   regressions    what its replay of the regression corpus gave, as in `regress --json`
//   sites          the catalogue's assert sites, and whether the corpus reaches and triggers them
//   parity, parity_cells  the error-parity matrix, as in `matrix --json`: a row each, and a cell for each device
#pragma once

#include <array>
#include <string_view>

namespace dsafuzz {

// The n-th script brings a database from version n to n + 1; an empty one has version 0 (PRAGMA user_version).
inline constexpr std::array<std::string_view, 2> kCampaignMigrations{
    R"sql(
CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,          -- the same wherever databases are merged
  kind TEXT NOT NULL,                 -- fuzz, nightly
  started TEXT NOT NULL,
  ended TEXT,
  exit_code INTEGER,
  interrupted INTEGER NOT NULL DEFAULT 0,  -- 1: stopped before its end
  program TEXT NOT NULL,              -- the version of dsafuzz
  process INTEGER NOT NULL,           -- its process id
  seed TEXT NOT NULL,                 -- decimal; may not fit a signed number
  jobs INTEGER NOT NULL,
  seconds REAL NOT NULL,              -- that it was given; 0: no limit
  executions_asked INTEGER NOT NULL,  -- for each scenario; 0: no limit
  executions INTEGER NOT NULL DEFAULT 0,
  features INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE run_devices (
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  device TEXT NOT NULL,               -- vcuda, cuda:0
  executions INTEGER NOT NULL, seconds REAL NOT NULL,
  findings INTEGER NOT NULL,          -- new ones that were met and confirmed there
  PRIMARY KEY (run, device)
) STRICT;
CREATE TABLE run_scenarios (
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  scenario TEXT NOT NULL,
  executions INTEGER NOT NULL, features INTEGER NOT NULL, restarts INTEGER NOT NULL, left_out INTEGER NOT NULL,
  seconds REAL NOT NULL,
  PRIMARY KEY (run, scenario)
) STRICT;
CREATE TABLE run_versions (
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  name TEXT NOT NULL, version TEXT NOT NULL,
  PRIMARY KEY (run, name)
) STRICT;
CREATE TABLE samples (
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  at REAL NOT NULL,
  doing TEXT NOT NULL,                -- fuzzing, examining, stopping
  executions INTEGER NOT NULL, per_second REAL NOT NULL, features INTEGER NOT NULL, findings INTEGER NOT NULL,
  candidates INTEGER NOT NULL,        -- waiting to be examined
  engines INTEGER NOT NULL, restarts INTEGER NOT NULL,
  seconds_left REAL,                  -- of the search, where it has a limit
  PRIMARY KEY (run, at)
) STRICT;
CREATE TABLE signatures (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL,
  verdict TEXT NOT NULL, op TEXT NOT NULL, file TEXT NOT NULL, kernel TEXT NOT NULL, condition TEXT NOT NULL
) STRICT;
CREATE TABLE run_findings (
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  signature INTEGER NOT NULL REFERENCES signatures(id),
  state TEXT NOT NULL CHECK (state IN ('new', 'known', 'gone')),
  at REAL NOT NULL,
  scenario TEXT NOT NULL, device TEXT NOT NULL,
  confirmed INTEGER NOT NULL, confirmations INTEGER NOT NULL,
  elements INTEGER NOT NULL, one_minimal INTEGER NOT NULL,  -- of the minimal case
  seen TEXT NOT NULL DEFAULT '',      -- what a gone one shows instead
  PRIMARY KEY (run, signature)
) STRICT;
CREATE TABLE run_problems (
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  at REAL NOT NULL, text TEXT NOT NULL
) STRICT;
)sql",
    R"sql(
CREATE TABLE run_steps (
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  name TEXT NOT NULL,                 -- regress, known, fuzz, merge, coverage, matrix, report, prune
  at REAL NOT NULL, seconds REAL,     -- NULL: begun and not ended
  note TEXT NOT NULL DEFAULT '',      -- one line for people
  PRIMARY KEY (run, name)
) STRICT;
CREATE TABLE regressions (
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  name TEXT NOT NULL, device TEXT NOT NULL,
  status TEXT NOT NULL,               -- differs, flaky, unreadable, not_run, skipped, no_expectation, as_expected
  expected TEXT NOT NULL, seen TEXT NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (run, name)
) STRICT;
CREATE TABLE sites (
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  source TEXT NOT NULL, function TEXT NOT NULL, condition TEXT NOT NULL,
  rows TEXT NOT NULL,                 -- of the catalogue, with spaces between: "U01 U02"
  reached INTEGER NOT NULL, triggered INTEGER NOT NULL,
  scenarios TEXT NOT NULL,            -- that trigger it, else that reach it, with spaces between
  PRIMARY KEY (run, source, function, condition, rows)
) STRICT;
CREATE TABLE parity (
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  id TEXT NOT NULL,                   -- "U13/float16"
  op TEXT NOT NULL, source TEXT NOT NULL, condition TEXT NOT NULL,
  agreement TEXT NOT NULL,            -- catalogue_differs, acceptance_differs, manner_differs, agrees, not_run
  matches_catalogue INTEGER,          -- NULL: the catalogue does not say
  position INTEGER NOT NULL,          -- disagreements first
  PRIMARY KEY (run, id)
) STRICT;
CREATE TABLE parity_cells (
  run INTEGER NOT NULL, id TEXT NOT NULL, device TEXT NOT NULL,
  verdict TEXT NOT NULL, signature TEXT NOT NULL,
  PRIMARY KEY (run, id, device),
  FOREIGN KEY (run, id) REFERENCES parity(run, id) ON DELETE CASCADE
) STRICT;
)sql"};

}  // namespace dsafuzz
