// The campaign's folder on disk, and the only place that builds paths in it:
//
//   corpus/SCENARIO/CASE_ID             cases worth mutating, as bytes; corpus/.new-ENGINE is where an engine adds
//   candidates/SIGNATURE-CASE_ID/       case.cbor, case.yaml, candidate.json, log.txt: met, not yet examined
//   unconfirmed/SIGNATURE-CASE_ID/      the same and why.txt: examined, did not hold
//   findings/SIGNATURE/                 case.yaml, original.yaml, finding.json, finding.md, issue.md, repro.py, ...
//   classes/NAME.md                     one report for all findings that lack the same check (missing_check.h)
//   answered/SIGNATURE                  suspects that were examined; engines do not raise them again
//   running/ENGINE                      the case an engine is running (write_ahead.h)
//   logs/ENGINE.log                     an engine's own output
//   campaign.db                         what ran and how it went (campaign_database.h)
//   nightly.lock                        held by the one nightly run that may use the folder
//   lock                                held (flock) by the one campaign that may use the folder
//
// Names are made of scenario names, case ids, signature hashes and numbers, all of checked form, so no content can
// lead outside the folder. Every file and folder appears whole or not at all (atomic_file.h).
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fuzz/candidate.h"
#include "fuzz/folder_lock.h"
#include "repro/result.h"

namespace dsafuzz {

// One engine of a campaign: the index-th of its scenario.
struct EngineName {
  std::string scenario;
  std::uint64_t index = 0;
  std::string text() const { return scenario + "-" + std::to_string(index); }
};

// A finding being written: files go into a temporary folder, publish() makes it appear at once, replacing an earlier
// finding of the same signature. Dropped without publish, it leaves nothing.
class StagedFinding {
 public:
  StagedFinding(std::string temporary, std::string place)
      : temporary_(std::move(temporary)), place_(std::move(place)) {}
  ~StagedFinding();
  StagedFinding(StagedFinding&& other) noexcept;
  StagedFinding& operator=(StagedFinding&&) = delete;

  const std::string& folder() const { return temporary_; }  // where the files are now
  // `name` is one of the names in findings/SIGNATURE, given by our own code.
  Result<void> write(std::string_view name, std::string_view content);
  // Returns the finding's folder. Anything in it that write() did not put there is removed first.
  Result<std::string> publish();

 private:
  std::string temporary_, place_;
  std::set<std::string, std::less<>> written_;
};

class Store {
 public:
  enum class Access : std::uint8_t {
    exclusive,  // a campaign: takes the lock, clears what a killed one left half-written
    shared,     // an engine of the campaign that holds the lock
    read,       // someone who changes nothing; the folder may belong to a campaign that is running
  };
  // Creates the folder as needed, but to read. Problem: another campaign holds it (its process is named), it cannot be
  // written, or there is nothing of a campaign to read.
  static Result<Store> open(const std::string& folder, Access access);

  const std::string& folder() const { return folder_; }
  std::string log_file(const EngineName& engine) const;
  std::string running_file(const EngineName& engine) const;

  // Paths of the scenario's corpus, sorted. Problem: not a scenario name.
  Result<std::vector<std::string>> corpus(const std::string& scenario) const;
  Result<void> add_to_corpus(const Case& c);
  // The folder where the engine's libFuzzer adds inputs, empty. What an earlier engine of this name left in it is
  // absorbed.
  Result<std::string> additions(const EngineName& engine);
  // Moves what engines added into the corpus; what does not decode is dropped. Returns how many are new.
  Result<int> absorb_additions();  // Requires: no engine running
  std::vector<std::string> corpus_scenarios() const;  // that have a corpus, sorted
  // Leaves these of its paths out of the corpus from now on.
  void remove_from_corpus(const std::vector<std::string>& paths);

  // From another campaign's folder, whatever is in it: cases that decode; findings whose folder bears the name of their
  // signature and which we have not; candidates and answers. Returns how many came. Requires: exclusive access.
  Result<int> take_corpus(const Store& from);
  Result<int> take_findings(const Store& from);
  Result<int> take_candidates(const Store& from);

  // False if the same case with the same signature is there already.
  Result<bool> add_candidate(const Candidate& candidate);
  // Sorted by examined_before. Folders that do not read back are set aside.
  std::vector<Candidate> candidates() const;
  std::size_t candidate_count() const;
  void remove_candidate(const Candidate& candidate);
  Result<void> set_aside(const Candidate& candidate, const std::string& why);
  // Cases that were running when engines were killed, as candidates of kind interrupted; the marks are cleared once
  // the candidates are on disk. Requires: exclusive access and no engine running.
  Result<int> recover_interrupted();
  // The same for one engine, which has ended. `device` is where it ran its cases; empty: not known.
  Result<bool> recover_interrupted(const EngineName& engine, const std::string& device = {});

  Result<StagedFinding> stage(const Signature& signature);
  std::string finding_folder(const Signature& signature) const;
  bool has_finding(const Signature& signature) const;
  std::set<std::string> findings() const;  // folder names, sorted
  // Where a file of one of them lies. `name` is given by our own code.
  std::string finding_file(const std::string& folder, std::string_view name) const;
  Result<void> write_class_report(std::string_view name, std::string_view content);
  Result<void> mark_answered(const Signature& suspect);
  std::set<std::string> answered() const;  // folder names

 private:
  explicit Store(std::string folder) : folder_(std::move(folder)) {}
  std::string path(std::string_view part) const { return folder_ + "/" + std::string(part); }

  Result<int> absorb(const std::string& additions);

  std::string folder_;
  FolderLock lock_;
};

}  // namespace dsafuzz
