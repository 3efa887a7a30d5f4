// What one campaign's folder takes from another's: a node's, a colleague's, last year's. Nothing there is believed:
// names are checked, cases decoded, and what is no plain file is left behind.
#include <filesystem>

#include "fuzz/atomic_file.h"
#include "fuzz/store.h"
#include "fuzz/store_parts.h"
#include "fuzz/stored_finding.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFileLimit = std::size_t{64} << 20;

// The plain files of one folder into another, which is new.
Result<void> copy_files(const std::string& from, const std::string& to) {
  DSAFUZZ_CHECK(make_folder(to));
  for (const std::string& name : names_in(from)) {
    std::error_code error;
    if (fs::symlink_status(from + "/" + name, error).type() != fs::file_type::regular) continue;
    const std::string content = DSAFUZZ_TRY(read_whole(from + "/" + name, kFileLimit));
    DSAFUZZ_CHECK(write_whole(to + "/" + name, content));
  }
  return {};
}

}  // namespace

Result<int> Store::take_corpus(const Store& from) {
  int taken = 0;
  for (const std::string& scenario : from.corpus_scenarios()) {
    // The way engines' additions come in: one wait for the disk for all, and each decoded and named anew.
    const std::string folder = DSAFUZZ_TRY(additions({.scenario = scenario, .index = 0}));
    for (const std::string& file : DSAFUZZ_TRY(from.corpus(scenario))) {
      const std::string name = fs::path(file).filename().string();
      std::error_code error;
      if (fs::exists(path("corpus/" + scenario + "/" + name), error)) continue;
      if (fs::symlink_status(file, error).type() != fs::file_type::regular) continue;
      fs::copy_file(file, folder + "/" + name, error);
      // A file that a running campaign has just merged away is no trouble; a full disk is.
      if (std::error_code gone; error && fs::exists(file, gone)) {
        return environment_problem("cannot copy this file: " + error.message(), file, "make room and start again");
      }
    }
    taken += DSAFUZZ_TRY(absorb(folder));
  }
  return taken;
}

Result<int> Store::take_findings(const Store& from) {
  int taken = 0;
  for (const std::string& name : from.findings()) {
    const std::string theirs = from.path("findings/" + name), ours = path("findings/" + name);
    const auto stored = read_stored_finding(theirs);
    if (!is_plain(name) || !stored || stored->signature.folder_name() != name || has_finding(stored->signature))
      continue;
    const std::string temporary = temporary_beside(ours);
    Result<void> done = copy_files(theirs, temporary);
    if (done) done = replace_folder(temporary, ours);
    if (!done) {
      remove_all(temporary);
      return std::unexpected(done.error());
    }
    ++taken;
  }
  return taken;
}

Result<int> Store::take_candidates(const Store& from) {
  int taken = 0;
  for (const std::string& name : names_in(from.path("candidates"))) {
    const auto candidate = read_candidate(from.path("candidates/" + name));
    if (!candidate || has_finding(candidate->signature)) continue;
    taken += DSAFUZZ_TRY(add_candidate(*candidate));
  }
  const std::set<std::string> had = answered();
  for (const std::string& name : from.answered()) {
    if (!is_plain(name) || had.contains(name)) continue;
    DSAFUZZ_CHECK(write_whole(path("answered/" + name), read_whole(from.path("answered/" + name), 4096).value_or("")));
  }
  return taken;
}

}  // namespace dsafuzz
