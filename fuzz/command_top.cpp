// `dsafuzz top`: watches the last run of a campaign from another process, through its database.
#include <langinfo.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "fuzz/campaign_reader.h"
#include "fuzz/child_process.h"
#include "fuzz/commands.h"
#include "fuzz/stop_request.h"
#include "fuzz/terminal_screen.h"
#include "fuzz/top_view.h"

namespace dsafuzz {
namespace {

// Seconds since 1970 of "2026-12-02T13:00:00Z"; 0 for anything else.
std::time_t seconds_of(const std::string& time) {
  std::tm utc{};
  const char* end = strptime(time.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return end && *end == '\0' ? timegm(&utc) : 0;
}

TopMoment moment_of(const RunOverview& run) {
  const std::time_t started = seconds_of(run.started);
  const bool alive = !run.ended && is_alive(run.process);
  double elapsed = 0;
  if (started && (alive || run.ended)) {
    elapsed = std::difftime(run.ended ? seconds_of(*run.ended) : std::time(nullptr), started);
  } else if (!run.samples.empty()) {
    elapsed = run.samples.back().at;  // it was cut off some time after that
  }
  return {.elapsed = elapsed, .alive = alive};
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value && *value;
}

bool can_redraw() {
  const char* kind = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && kind && *kind && std::strcmp(kind, "dumb") != 0;
}

struct Glance {
  std::vector<std::string> lines;
  bool going_on = false;
};

// The database is opened anew for each: it may be replaced, or begun later than this.
Result<Glance> look_at(const std::string& out, bool terminal) {
  CampaignReader reader = DSAFUZZ_TRY(CampaignReader::open(out));
  const auto run = DSAFUZZ_TRY(reader.last_run());
  if (!run) return input_problem("no run is recorded in it", CampaignDatabase::path_in(out), "`dsafuzz fuzz --out`");
  const TerminalSize size = terminal_size();
  const TopMoment moment = moment_of(*run);
  const TopLook look{.width = size.width,
                     .height = terminal ? size.height - 1 : 0,
                     .colour = terminal && !is_set("NO_COLOR"),
                     .blocks = std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
  return Glance{top_lines(out, *run, moment, look), moment.alive};
}

void print(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::puts(line.c_str());
  std::fflush(stdout);
}

// Until a key or a signal ends it.
Result<void> watch(const TopFlags& flags, const StopRequest& stop, std::chrono::milliseconds interval) {
  TerminalScreen screen;
  while (!stop.asked()) {
    Glance glance = DSAFUZZ_TRY(look_at(flags.out, true));
    glance.lines.push_back(glance.going_on ? "q ends" : "q ends; a new run will show here");
    screen.draw(glance.lines);
    if (screen.wait_for_key(interval) == 'q') return {};
  }
  return {};
}

}  // namespace

int top_command(const TopFlags& flags) {
  std::setlocale(LC_CTYPE, "");
  const std::chrono::milliseconds interval(static_cast<std::int64_t>(flags.interval * 1000));
  const StopRequest stop;
  if (can_redraw() && !flags.once) {
    if (const auto watched = watch(flags, stop, interval); !watched) return fail(watched.error());
  }
  // What stays on the screen; elsewhere a block each time, until the run is over.
  for (bool first = true;; first = false) {
    const auto glance = look_at(flags.out, flags.once && can_redraw());
    if (!glance) return fail(glance.error());
    if (!first) std::puts("");
    print(glance->lines);
    if (flags.once || can_redraw() || !glance->going_on) return 0;
    for (auto waited = std::chrono::milliseconds(0); waited < interval; waited += std::chrono::milliseconds(50)) {
      if (stop.asked()) return 0;
      usleep(50'000);
    }
  }
}

}  // namespace dsafuzz
