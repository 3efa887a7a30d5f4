#include "fuzz/engine.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/mutate.h"
#include "fuzz/session.h"
#include "fuzz/starting_cases.h"
#include "repro/case_bytes.h"
#include "repro/features.h"

// libFuzzer reads and clears this around every run; volatile, or the optimiser would drop the stores.
__attribute__((
    used, section("__libfuzzer_extra_counters"))) volatile std::uint8_t dsafuzz_extra_counters[dsafuzz::kFeatureBytes];

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t limit);
extern "C" int LLVMFuzzerRunDriver(int* argc, char*** argv,
                                   int (*callback)(const std::uint8_t* data, std::size_t size));

namespace dsafuzz {
namespace {

using Clock = std::chrono::steady_clock;
volatile sig_atomic_t stop_asked = 0;

// libFuzzer's callbacks carry no context, so the one engine of the process is found through a pointer.
struct Engine {
  const EngineOptions& options;
  const Scenario& scenario;
  Session session;
  Clock::time_point start = Clock::now(), last_line = start;

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }
  void send_status(bool done, const std::string& problem);
  [[noreturn]] void end(int code, const std::string& problem = {});
  int run(std::span<const std::uint8_t> bytes);
  std::size_t give(Case made, std::uint8_t* out, std::size_t limit, std::size_t unchanged);
  Case decoded(const std::uint8_t* data, std::size_t size) const;
  bool is_last_given(std::span<const std::uint8_t> bytes) const { return std::ranges::equal(bytes, given_bytes); }

  // The case given to libFuzzer last: nearly always what it runs next, or asks to be changed again.
  Case given;
  std::vector<std::uint8_t> given_bytes;
};
Engine* the_engine = nullptr;

void send_line(int fd, const EngineStatus& status) {
  if (fd < 0) return;
  const std::string line = to_line(status);
  // Lines are shorter than a pipe's atomic size; a campaign that reads no more must not stop the search.
  if (line.size() <= 4096) (void)!::write(fd, line.data(), line.size());
}

void Engine::send_status(bool done, const std::string& problem) {
  EngineStatus status = session.status();
  status.seconds = seconds();
  status.done = done;
  status.problem = problem.substr(0, 2000);
  send_line(options.status_fd, status);
  last_line = Clock::now();
}

void Engine::end(int code, const std::string& problem) {
  if (!problem.empty()) std::fprintf(stderr, "%s\n", problem.c_str());
  send_status(true, problem);
  std::fflush(nullptr);
  ::_exit(code);
}

int Engine::run(std::span<const std::uint8_t> bytes) {
  const auto counters = std::span(const_cast<std::uint8_t*>(dsafuzz_extra_counters), kFeatureBytes);
  const bool enough = options.runs != 0 && session.status().executions >= options.runs;
  const bool met = options.until_expected && session.status().met_expectation;
  if (enough || met || stop_asked || (options.seconds > 0 && seconds() >= options.seconds)) end(0);
  if (Clock::now() - last_line >= std::chrono::seconds(1)) send_status(false, {});
  int kept = -1;
  std::optional<Case> other;
  if (!is_last_given(bytes)) {
    if (auto c = decode_case(bytes)) other = std::move(*c);
  }
  if (const Case* c = other ? &*other : is_last_given(bytes) ? &given : nullptr) {
    const auto use = session.run(*c, bytes, counters);
    if (!use) end(use.error().exit_code(), use.error().text());
    kept = *use == Session::Use::keep ? 0 : -1;
    if (!options.method.feedback) std::ranges::fill(counters, std::uint8_t{0});
  }
  // libFuzzer takes a run without any counter for a target that is not instrumented.
  counters[0] = 1;
  return kept;
}

Case Engine::decoded(const std::uint8_t* data, std::size_t size) const {
  if (is_last_given({data, size})) return given;
  Result<Case> c = decode_case({data, size});
  return c ? std::move(*c) : scenario.base;
}

// Writes the case where libFuzzer wants it. One too large is not made: what is there stays.
std::size_t Engine::give(Case made, std::uint8_t* out, std::size_t limit, std::size_t unchanged) {
  std::vector<std::uint8_t> bytes = encode(made);
  if (bytes.size() > limit) return unchanged;
  std::memcpy(out, bytes.data(), bytes.size());
  given = std::move(made);
  given_bytes = std::move(bytes);
  return given_bytes.size();
}

// Everything that decides by the clock, by other processes, or by signals is off.
std::vector<std::string> driver_arguments(const EngineOptions& options, const std::string& seeds,
                                          const std::string& additions) {
  // libFuzzer takes 0 for "by the clock".
  const std::uint64_t seed = Random::mixed(options.seed + 0x9e3779b97f4a7c15u * (options.index + 1)) % 0xffffffffu + 1;
  return {"dsafuzz",
          "-seed=" + std::to_string(seed),
          "-runs=-1",
          "-max_len=" + std::to_string(kCaseBytesLimit),
          "-seed_inputs=@" + seeds,
          "-artifact_prefix=" + additions + "/",
          "-len_control=0",
          "-reload=0",
          "-timeout=0",
          "-rss_limit_mb=0",
          "-malloc_limit_mb=0",
          "-detect_leaks=0",
          "-report_slow_units=2147483647",
          "-print_pcs=0",
          "-handle_abrt=0",
          "-handle_bus=0",
          "-handle_fpe=0",
          "-handle_ill=0",
          "-handle_int=0",
          "-handle_segv=0",
          "-handle_term=0",
          "-handle_usr1=0",
          "-handle_usr2=0",
          "-handle_xfsz=0",
          additions};
}

// Paths for libFuzzer, through descriptors: the user's folder may hold commas, which its list of seeds cannot.
Result<std::string> path_through(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return environment_problem(std::string("cannot open this folder: ") + std::strerror(errno), folder);
  return "/proc/self/fd/" + std::to_string(fd);
}

Result<std::string> list_of_seeds(const Store& store, const std::string& scenario) {
  const auto files = store.corpus(scenario);
  if (!files) return std::unexpected(files.error());
  if (files->empty()) return environment_problem("the corpus is empty", scenario);
  const auto folder = path_through(std::filesystem::path(files->front()).parent_path().string());
  if (!folder) return folder;
  std::string list;
  for (const std::string& file : *files) {
    list += (list.empty() ? "" : ",") + *folder + "/" + std::filesystem::path(file).filename().string();
  }
  const int fd = ::memfd_create("seeds", MFD_CLOEXEC);
  if (fd < 0 || ::write(fd, list.data(), list.size()) != static_cast<ssize_t>(list.size())) {
    return environment_problem("cannot list the corpus in memory");
  }
  return "/proc/self/fd/" + std::to_string(fd);
}

Result<void> send_stderr_to(const std::string& log) {
  const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0 || ::dup2(fd, 2) < 0) return environment_problem("cannot write this file", log);
  ::close(fd);
  return {};
}

// Returns only when the engine could not start.
Problem start(const EngineOptions& options, const Scenario& scenario, Executor& executor) {
  Result<Store> store = Store::open(options.out, Store::Access::shared);
  if (!store) return store.error();
  const EngineName name{scenario.name, options.index};
  if (auto ok = add_starting_cases(*store, scenario, options.method.from_legal); !ok) return ok.error();
  const auto additions = store->additions(name);
  if (!additions) return additions.error();
  const auto additions_path = path_through(*additions);
  if (!additions_path) return additions_path.error();
  const auto seeds = list_of_seeds(*store, scenario.name);
  if (!seeds) return seeds.error();
  Result<WriteAhead> running = WriteAhead::open(store->running_file(name));
  if (!running) return running.error();
  if (auto ok = send_stderr_to(store->log_file(name)); !ok) return ok.error();

  struct sigaction action{};
  action.sa_handler = [](int) { stop_asked = 1; };
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, nullptr);

  Engine engine{.options = options,
                .scenario = scenario,
                .session = Session(scenario, executor, *store, name, std::move(*running), options.known_every),
                .given = {},
                .given_bytes = {}};
  the_engine = &engine;
  std::vector<std::string> arguments = driver_arguments(options, *seeds, *additions_path);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  int count = static_cast<int>(arguments.size());
  char** vector = pointers.data();
  const int code = LLVMFuzzerRunDriver(
      &count, &vector, [](const std::uint8_t* data, std::size_t size) { return the_engine->run({data, size}); });
  return {Problem::Kind::environment, "libFuzzer ended with code " + std::to_string(code), store->log_file(name), ""};
}

}  // namespace

int run_engine(const EngineOptions& options, const Scenario& scenario, Executor& executor) {
  if (options.parent != 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have ended before this took effect.
    if (static_cast<std::uint64_t>(::getppid()) != options.parent) ::_exit(0);
  }
  const Problem problem = start(options, scenario, executor);
  std::fprintf(stderr, "%s\n", problem.text().c_str());
  EngineStatus status;
  status.done = true;
  status.problem = problem.text().substr(0, 2000);
  send_line(options.status_fd, status);
  return problem.exit_code();
}

int run_engine(const EngineOptions& options, Executor& executor) {
  const Result<Scenario> scenario = load_scenario(options.scenario);
  if (scenario) return run_engine(options, *scenario, executor);
  std::fprintf(stderr, "%s\n", scenario.error().text().c_str());
  EngineStatus status;
  status.done = true;
  status.problem = scenario.error().text().substr(0, 2000);
  send_line(options.status_fd, status);
  return scenario.error().exit_code();
}

}  // namespace dsafuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t limit, unsigned seed) {
  using namespace dsafuzz;
  if (!the_engine->options.method.structured) return LLVMFuzzerMutate(data, size, limit);
  Random random(seed);
  return the_engine->give(mutate(the_engine->scenario, the_engine->decoded(data, size), random), data, limit, size);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data1, std::size_t size1,
                                                 const std::uint8_t* data2, std::size_t size2, std::uint8_t* out,
                                                 std::size_t limit, unsigned seed) {
  using namespace dsafuzz;
  // Nothing made: libFuzzer tries another change.
  if (!the_engine->options.method.structured) return 0;
  Random random(seed);
  const Case child =
      crossover(the_engine->scenario, the_engine->decoded(data1, size1), the_engine->decoded(data2, size2), random);
  return the_engine->give(child, out, limit, 0);
}
