#include "fuzz/merge.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "fuzz/atomic_file.h"
#include "fuzz/campaign_database.h"
#include "fuzz/feature_set.h"
#include "repro/case_bytes.h"
#include "repro/diagnose.h"
#include "repro/features.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::uintmax_t bytes = 0;
  std::string path;
  auto operator<=>(const Entry&) const = default;
};

// Smaller first, as a case that shows as much in fewer bytes is the better one; then by name.
std::vector<Entry> entries_of(const std::vector<std::string>& paths) {
  std::vector<Entry> entries;
  for (const std::string& path : paths) {
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(path, error);
    entries.push_back({error ? 0 : bytes, path});
  }
  std::ranges::sort(entries);
  return entries;
}

Result<Case> read_case_bytes(const std::string& path) {
  const std::string content = DSAFUZZ_TRY(read_whole(path, kCaseBytesLimit));
  return decode_case({reinterpret_cast<const std::uint8_t*>(content.data()), content.size()});
}

// One thread's work: scenarios, one after the other.
class Minimiser {
 public:
  Minimiser(Store& store, const MergeOptions& options, std::mutex& mutex)
      : store_(store), options_(options), mutex_(mutex) {}

  // nullopt: stopped before the end, and nothing changed.
  Result<std::optional<MergedCorpus>> minimise(const std::string& scenario, const std::function<void()>& one_done) {
    MergedCorpus out{.scenario = scenario};
    std::vector<std::string> superfluous;
    FeatureSet seen;
    std::vector<std::uint8_t> counters(kFeatureBytes);
    for (const Entry& entry : entries_of(DSAFUZZ_TRY(store_.corpus(scenario)))) {
      if (options_.stop && options_.stop()) return std::nullopt;
      ++out.cases;
      const auto c = read_case_bytes(entry.path);
      if (!c) {
        ++out.unreadable;
        superfluous.push_back(entry.path);
      } else if (DSAFUZZ_TRY(is_worth_keeping(*c, counters, seen, out))) {
        ++out.kept;
      } else {
        superfluous.push_back(entry.path);
      }
      one_done();
    }
    out.features = seen.size();
    store_.remove_from_corpus(superfluous);
    return out;
  }

 private:
  Result<bool> is_worth_keeping(const Case& c, std::span<std::uint8_t> counters, FeatureSet& seen, MergedCorpus& out) {
    if (!executor_) executor_ = DSAFUZZ_TRY(options_.start_workers(options_.settings));
    const Outcome outcome = DSAFUZZ_TRY(executor_->run(c, counters));
    const Signature signature = diagnose(c, outcome).signature;
    // What cannot be run here may be worth its place on another device.
    if (signature.verdict == Verdict::setup_failed) return true;
    if (!is_bug(signature.verdict)) return seen.add(counters) > 0;
    ++out.failing;
    if (store_.has_finding(signature)) return false;
    const std::scoped_lock lock(mutex_);
    DSAFUZZ_TRY(store_.add_candidate(
        {.kind = Candidate::Kind::failed, .signature = signature, .the_case = c, .outcome = outcome}));
    return false;
  }

  Store& store_;
  const MergeOptions& options_;
  std::mutex& mutex_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace

Result<void> take_folders(Store& store, const std::vector<std::string>& from, MergeSummary& summary) {
  for (const std::string& folder : from) {
    const Store other = DSAFUZZ_TRY(Store::open(folder, Store::Access::read));
    if (other.folder() == store.folder()) return input_problem("is merged into itself", folder);
    summary.findings += DSAFUZZ_TRY(store.take_findings(other));
    summary.candidates += DSAFUZZ_TRY(store.take_candidates(other));
    summary.cases += DSAFUZZ_TRY(store.take_corpus(other));
    if (std::error_code ignored; !fs::exists(CampaignDatabase::path_in(other.folder()), ignored)) continue;
    CampaignDatabase database = DSAFUZZ_TRY(CampaignDatabase::open(store.folder()));
    summary.runs += DSAFUZZ_TRY(database.take_from(other.folder()));
  }
  return {};
}

Result<void> minimise_corpora(Store& store, const MergeOptions& options, MergeSummary& summary) {
  DSAFUZZ_TRY(store.absorb_additions());
  const std::vector<std::string> scenarios = store.corpus_scenarios();
  std::size_t all = 0, done = 0;
  for (const std::string& scenario : scenarios) all += DSAFUZZ_TRY(store.corpus(scenario)).size();

  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  std::optional<Problem> problem;
  const auto one_done = [&] {
    const std::scoped_lock lock(mutex);
    ++done;
    if (options.progress) options.progress(done, all);
  };
  const auto work = [&] {
    Minimiser minimiser(store, options, mutex);
    for (std::size_t i; (i = next++) < scenarios.size();) {
      const auto merged = minimiser.minimise(scenarios[i], one_done);
      const std::scoped_lock lock(mutex);
      if (!merged) problem = merged.error();
      if (problem) return;
      if (*merged) {
        summary.corpora.push_back(**merged);
      } else {
        summary.interrupted = true;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::min(std::max<std::size_t>(options.jobs, 1), scenarios.size()); ++i) {
      threads.emplace_back(work);
    }
  }
  std::ranges::sort(summary.corpora, {}, &MergedCorpus::scenario);
  if (problem) return std::unexpected(*problem);
  return {};
}

std::string to_text(const MergeSummary& summary) {
  std::string text;
  if (summary.cases + summary.findings + summary.candidates + summary.runs > 0) {
    text += "Taken: " + std::to_string(summary.cases) + " cases, " + std::to_string(summary.findings) + " findings, " +
            std::to_string(summary.candidates) + " candidates, " + std::to_string(summary.runs) + " runs\n";
  }
  std::size_t cases = 0, kept = 0;
  for (const MergedCorpus& corpus : summary.corpora) {
    cases += corpus.cases;
    kept += corpus.kept;
    text += corpus.scenario + ": " + std::to_string(corpus.kept) + " of " + std::to_string(corpus.cases) +
            " cases kept, " + std::to_string(corpus.features) + " features";
    if (corpus.failing > 0) text += ", " + std::to_string(corpus.failing) + " fail";
    if (corpus.unreadable > 0) text += ", " + std::to_string(corpus.unreadable) + " cannot be read";
    text += "\n";
  }
  text += "Corpus: " + std::to_string(kept) + " of " + std::to_string(cases) + " cases kept\n";
  if (summary.interrupted) text += "Stopped before the end; the other scenarios are as they were.\n";
  return text;
}

}  // namespace dsafuzz
