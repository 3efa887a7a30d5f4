#include "fuzz/store.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "fuzz/atomic_file.h"
#include "fuzz/store_parts.h"
#include "fuzz/write_ahead.h"
#include "repro/case_bytes.h"
#include "repro/case_text.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAdditions = ".new-";
constexpr std::size_t kTextLimit = std::size_t{8} << 20;

Result<void> check_plain(std::string_view name) {
  if (is_plain(name)) return {};
  return input_problem("'" + std::string(name) + "' cannot name a file", {}, "lower-case letters, digits, _ and -");
}

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

Result<Case> read_case(const std::string& path) {
  const auto content = read_whole(path, kCaseBytesLimit);
  if (!content) return std::unexpected(content.error());
  return decode_case(bytes_of(*content));
}

std::string text_of(std::span<const std::uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

// What a killed campaign was still writing.
void clear_temporaries(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> left;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with(kTemporaryPrefix)) left.push_back(at->path());
  }
  for (const fs::path& path : left) remove_all(path.string());
}

}  // namespace

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (!name.starts_with('.')) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

bool is_plain(std::string_view name) {
  return !name.empty() && name.size() <= 200 && std::ranges::all_of(name, [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '_' || c == '-';
  });
}

Result<Candidate> read_candidate(const std::string& folder) {
  const auto json = read_whole(folder + "/candidate.json", kTextLimit);
  if (!json) return std::unexpected(json.error());
  Result<Candidate> candidate = parse_candidate(*json, folder + "/candidate.json");
  if (!candidate) return candidate;
  Result<Case> the_case = read_case(folder + "/case.cbor");
  if (!the_case) return std::unexpected(the_case.error());
  candidate->the_case = std::move(*the_case);
  candidate->outcome.log = read_whole(folder + "/log.txt", kTextLimit).value_or("");
  return candidate;
}

StagedFinding::~StagedFinding() {
  if (!temporary_.empty()) remove_all(temporary_);
}

StagedFinding::StagedFinding(StagedFinding&& other) noexcept
    : temporary_(std::exchange(other.temporary_, {})), place_(other.place_), written_(std::move(other.written_)) {}

Result<void> StagedFinding::write(std::string_view name, std::string_view content) {
  written_.emplace(name);
  return write_whole(temporary_ + "/" + std::string(name), content);
}

Result<std::string> StagedFinding::publish() {
  std::error_code error;
  std::vector<fs::path> others;
  for (fs::directory_iterator at(temporary_, error), end; !error && at != end; at.increment(error)) {
    if (!written_.contains(at->path().filename().string())) others.push_back(at->path());
  }
  for (const fs::path& path : others) remove_all(path.string());
  if (auto ok = replace_folder(temporary_, place_); !ok) return std::unexpected(ok.error());
  temporary_.clear();
  return place_;
}

Result<Store> Store::open(const std::string& folder, Access access) {
  std::error_code error;
  const fs::path absolute = fs::absolute(folder, error);
  if (folder.empty() || error) return input_problem("'" + folder + "' cannot be a folder", "--out");
  Store store(absolute.lexically_normal().string());
  if (access == Access::read) {
    std::error_code ignored;
    if (fs::is_directory(store.path("corpus"), ignored) || fs::is_directory(store.path("findings"), ignored))
      return store;
    return input_problem("is not the output folder of a campaign", folder, "it would hold corpus/ and findings/");
  }
  for (const char* part : {"corpus", "candidates", "unconfirmed", "findings", "answered", "running", "logs"}) {
    if (auto ok = make_folder(store.path(part)); !ok) return std::unexpected(ok.error());
  }
  if (access == Access::shared) return store;

  store.lock_ = DSAFUZZ_TRY(FolderLock::take(store.path("lock"), "another campaign",
                                             "wait for it, or choose another folder with --out"));
  for (const char* part : {"candidates", "unconfirmed", "findings", "answered", "corpus"}) {
    clear_temporaries(store.path(part));
  }
  for (const std::string& scenario : names_in(store.path("corpus")))
    clear_temporaries(store.path("corpus/" + scenario));
  return store;
}

std::string Store::log_file(const EngineName& engine) const { return path("logs/" + engine.text() + ".log"); }
std::string Store::running_file(const EngineName& engine) const { return path("running/" + engine.text()); }

Result<std::vector<std::string>> Store::corpus(const std::string& scenario) const {
  if (auto ok = check_plain(scenario); !ok) return std::unexpected(ok.error());
  const std::string folder = path("corpus/" + scenario);
  std::vector<std::string> paths;
  for (const std::string& name : names_in(folder)) paths.push_back(folder + "/" + name);
  return paths;
}

std::vector<std::string> Store::corpus_scenarios() const {
  std::vector<std::string> names = names_in(path("corpus"));
  std::erase_if(names, [](const std::string& name) { return !is_plain(name); });
  return names;
}

void Store::remove_from_corpus(const std::vector<std::string>& paths) {
  for (const std::string& file : paths) ::unlink(file.c_str());
}

Result<void> Store::add_to_corpus(const Case& c) {
  if (auto ok = check_plain(c.scenario); !ok) return ok;
  const std::string folder = path("corpus/" + c.scenario);
  if (auto ok = make_folder(folder); !ok) return ok;
  const std::string file = folder + "/" + case_id(c);
  if (std::error_code ignored; fs::exists(file, ignored)) return {};
  return write_whole(file, text_of(encode(c)));
}

Result<std::string> Store::additions(const EngineName& engine) {
  if (auto ok = check_plain(engine.scenario); !ok) return std::unexpected(ok.error());
  const std::string folder = path("corpus/" + std::string(kAdditions) + engine.text());
  if (auto left = absorb(folder); !left) return std::unexpected(left.error());
  if (auto ok = make_folder(folder); !ok) return std::unexpected(ok.error());
  return folder;
}

Result<int> Store::absorb_additions() {
  int added = 0;
  std::error_code error;
  std::vector<std::string> folders;
  for (fs::directory_iterator at(path("corpus"), error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with(kAdditions)) folders.push_back(at->path().string());
  }
  std::ranges::sort(folders);
  for (const std::string& folder : folders) {
    const auto one = absorb(folder);
    if (!one) return one;
    added += *one;
  }
  return added;
}

Result<int> Store::absorb(const std::string& additions) {
  int added = 0;
  std::set<std::string> folders;
  const std::vector<std::string> names = names_in(additions);
  // libFuzzer does not wait for the disk. One wait for all of them here, not one for each, which would take minutes.
  if (!names.empty()) sync_file_system_of(additions);
  for (const std::string& name : names) {
    const std::string from = additions + "/" + name;
    const auto content = read_whole(from, kCaseBytesLimit);
    const Result<Case> c = content ? decode_case(bytes_of(*content)) : std::unexpected(content.error());
    if (!c || !is_plain(c->scenario)) continue;
    const std::string folder = path("corpus/" + c->scenario);
    const std::string file = folder + "/" + case_id(*c);
    if (std::error_code ignored; fs::exists(file, ignored)) continue;
    if (auto ok = make_folder(folder); !ok) return std::unexpected(ok.error());
    // Bytes that are not as encode() makes them are written anew, so that equal cases have equal files.
    if (*content != text_of(encode(*c)) || ::rename(from.c_str(), file.c_str()) != 0) {
      if (auto ok = add_to_corpus(*c); !ok) return std::unexpected(ok.error());
    }
    folders.insert(folder);
    ++added;
  }
  for (const std::string& folder : folders) sync_folder(folder);
  remove_all(additions);
  return added;
}

Result<bool> Store::add_candidate(const Candidate& candidate) {
  const std::string name = candidate.name();
  if (auto ok = check_plain(name); !ok) return std::unexpected(ok.error());
  const std::string place = path("candidates/" + name);
  std::error_code ignored;
  if (fs::exists(place, ignored)) return false;
  const std::string temporary = temporary_beside(place);
  const auto written = [&]() -> Result<void> {
    if (auto ok = make_folder(temporary); !ok) return ok;
    if (auto ok = write_whole(temporary + "/case.cbor", text_of(encode(candidate.the_case))); !ok) return ok;
    if (auto ok = write_whole(temporary + "/case.yaml", to_yaml(candidate.the_case)); !ok) return ok;
    if (auto ok = write_whole(temporary + "/log.txt", candidate.outcome.log); !ok) return ok;
    if (auto ok = write_whole(temporary + "/candidate.json", to_json(candidate)); !ok) return ok;
    return replace_folder(temporary, place);
  }();
  if (written) return true;
  remove_all(temporary);
  return std::unexpected(written.error());
}

std::vector<Candidate> Store::candidates() const {
  std::vector<Candidate> found;
  for (const std::string& name : names_in(path("candidates"))) {
    Result<Candidate> candidate = read_candidate(path("candidates/" + name));
    if (candidate && is_plain(name)) {
      candidate->stored_as = name;
      found.push_back(std::move(*candidate));
    } else {
      // Only someone else's hand can have made this: our own files are whole.
      std::error_code error;
      remove_all(path("unconfirmed/" + name));
      fs::rename(path("candidates/" + name), path("unconfirmed/" + name), error);
      if (error) remove_all(path("candidates/" + name));
    }
  }
  std::ranges::sort(found, examined_before);
  return found;
}

std::size_t Store::candidate_count() const { return names_in(path("candidates")).size(); }

void Store::remove_candidate(const Candidate& candidate) {
  const std::string place = path("candidates/" + candidate.name());
  // Out of sight first, so that a half-removed folder is never read.
  const std::string temporary = temporary_beside(place);
  std::error_code error;
  fs::rename(place, temporary, error);
  if (!error) remove_all(temporary);
}

Result<void> Store::set_aside(const Candidate& candidate, const std::string& why) {
  const std::string name = candidate.name();
  if (auto ok = write_whole(path("candidates/" + name + "/why.txt"), why + "\n"); !ok) return ok;
  return replace_folder(path("candidates/" + name), path("unconfirmed/" + name));
}

Result<bool> Store::recover_interrupted(const EngineName& engine, const std::string& device) {
  const std::string file = running_file(engine);
  const auto run = read_interrupted(file);
  bool recovered = false;
  if (run) {
    if (Result<Case> c = decode_case(run->bytes)) {
      const Candidate candidate{.kind = Candidate::Kind::interrupted,
                                .signature = {.verdict = Verdict::crash, .condition = "interrupted"},
                                .the_case = std::move(*c),
                                .outcome = {.device = device},
                                .engine = engine.index,
                                .sequence = run->sequence};
      const auto added = add_candidate(candidate);
      if (!added) return std::unexpected(added.error());
      recovered = true;
    }
  }
  ::unlink(file.c_str());
  return recovered;
}

Result<int> Store::recover_interrupted() {
  int recovered = 0;
  for (const std::string& name : names_in(path("running"))) {
    const std::size_t dash = name.rfind('-');
    if (dash == std::string::npos) continue;
    const EngineName engine{name.substr(0, dash), std::strtoull(name.c_str() + dash + 1, nullptr, 10)};
    if (engine.text() != name) continue;
    const auto one = recover_interrupted(engine);
    if (!one) return std::unexpected(one.error());
    recovered += *one;
  }
  return recovered;
}

Result<StagedFinding> Store::stage(const Signature& signature) {
  if (auto ok = check_plain(signature.folder_name()); !ok) return std::unexpected(ok.error());
  const std::string place = finding_folder(signature);
  const std::string temporary = temporary_beside(place);
  if (auto ok = make_folder(temporary); !ok) return std::unexpected(ok.error());
  return StagedFinding(temporary, place);
}

std::string Store::finding_folder(const Signature& signature) const {
  return path("findings/" + signature.folder_name());
}

bool Store::has_finding(const Signature& signature) const {
  std::error_code ignored;
  return fs::exists(finding_folder(signature), ignored);
}

std::set<std::string> Store::findings() const {
  const auto names = names_in(path("findings"));
  return {names.begin(), names.end()};
}

std::string Store::finding_file(const std::string& folder, std::string_view name) const {
  return path("findings/" + folder + "/" + std::string(name));
}

Result<void> Store::write_class_report(std::string_view name, std::string_view content) {
  if (auto ok = check_plain(std::string(name)); !ok) return ok;
  if (auto ok = make_folder(path("classes")); !ok) return ok;
  return write_whole(path("classes/" + std::string(name) + ".md"), content);
}

Result<void> Store::mark_answered(const Signature& suspect) {
  if (auto ok = check_plain(suspect.folder_name()); !ok) return ok;
  return write_whole(path("answered/" + suspect.folder_name()), suspect.text() + "\n");
}

std::set<std::string> Store::answered() const {
  const auto names = names_in(path("answered"));
  return {names.begin(), names.end()};
}

}  // namespace dsafuzz
