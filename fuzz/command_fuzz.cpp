#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <ranges>

#include "fuzz/campaign.h"
#include "fuzz/commands.h"
#include "fuzz/expectation.h"
#include "fuzz/own_kernels.h"
#include "fuzz/private_names.h"
#include "fuzz/run_reproducer.h"
#include "fuzz/worker_pool.h"
#include "repro/case_text.h"
#include "repro/scenario.h"

namespace dsafuzz {
namespace {

Result<std::vector<Device>> devices_named(std::string_view list) {
  static constexpr const char* kExample = "vcuda:0,vcuda:1 or cuda:0,cuda:1";
  auto devices = DSAFUZZ_TRY(parse_devices(list, kExample));
  for (auto device = devices.begin(); device != devices.end(); ++device) {
    if (std::find(devices.begin(), device, *device) != device) {
      return input_problem("'" + device->text() + "' is given twice", "--devices");
    }
    DSAFUZZ_CHECK(check_kernels_are_atens(*device));
  }
  if (devices.empty()) return input_problem("no device is given", "--devices", kExample);
  return devices;
}

nlohmann::ordered_json elsewhere_json(const std::vector<DeviceCheck>& checks) {
  auto out = nlohmann::ordered_json::object();
  for (const DeviceCheck& check : checks) {
    out[check.device] = {{"confirmed", check.confirmed}, {"of", check.of}, {"instead", check.instead}};
  }
  return out;
}

void print_json(const CampaignSummary& summary) {
  nlohmann::ordered_json out{{"version", 1}, {"interrupted", summary.interrupted}, {"known_before", summary.known}};
  out["scenarios"] = nlohmann::ordered_json::array();
  for (const ScenarioSummary& s : summary.scenarios) {
    out["scenarios"].push_back(
        {{"name", s.name},
         {"executions", s.executions},
         {"features", s.features},
         {"seconds", s.seconds},
         {"restarts", s.restarts},
         {"expected_after", s.expected_after ? nlohmann::ordered_json(*s.expected_after) : nlohmann::ordered_json()}});
  }
  out["devices"] = nlohmann::ordered_json::array();
  for (const DeviceSummary& d : summary.devices) {
    out["devices"].push_back({{"name", d.name},
                              {"executions", d.executions},
                              {"seconds", d.seconds},
                              {"spares_taken", d.spares_taken},
                              {"spares_ready", d.spares_ready},
                              {"findings", d.findings},
                              {"shows", d.shows}});
  }
  out["classes"] = summary.classes;
  out["findings"] = nlohmann::ordered_json::array();
  for (const FindingSummary& f : summary.findings) {
    out["findings"].push_back({{"scenario", f.scenario},
                               {"signature", f.signature},
                               {"folder", f.folder},
                               {"device", f.device},
                               {"confirmed", f.confirmed},
                               {"confirmations", f.confirmations},
                               {"elsewhere", elsewhere_json(f.elsewhere)},
                               {"one_minimal", f.one_minimal}});
  }
  out["not_confirmed"] = summary.not_confirmed;
  out["waiting"] = summary.waiting;
  out["problems"] = summary.problems;
  std::printf("%s\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

}  // namespace

int fuzz_command(const FuzzFlags& flags) {
  const auto settings = settings_of(flags.run, false);
  if (!settings) return fail(settings.error());
  if (const auto atens = check_kernels_are_atens(settings->device); !atens) return fail(atens.error());
  const auto devices = flags.devices ? devices_named(*flags.devices) : std::vector<Device>();
  if (!devices) return fail(devices.error());
  const auto scenarios = load_scenarios(flags.scenarios);
  if (!scenarios) return fail(scenarios.error());
  ProcessReproducerRunner reproducers;
  CampaignOptions options;
  options.scenarios = flags.scenarios;
  options.settings = *settings;
  options.devices = *devices;
  options.seconds = flags.seconds;
  options.runs = flags.runs;
  options.seed = flags.seed;
  options.jobs = static_cast<std::size_t>(flags.jobs);
  options.out = flags.out;
  options.seeds = flags.seeds;
  options.until_expected = flags.until_expected;
  options.method = flags.method;
  options.search_only = flags.search_only;
  options.confirmations = flags.confirmations;
  if (flags.redact) {
    if (const auto ok = check_redactable(*scenarios); !ok) return fail(ok.error());
    options.redact = private_names({folder_of(flags.scenarios[0]), flags.out});
  }
  if (options.settings.modules.empty()) options.settings.modules = folder_of(flags.scenarios[0]);
  options.start_workers = start_workers;
  options.reproducers = flags.run_reproducers ? &reproducers : nullptr;
  options.progress = stderr;
  options.terminal = isatty(STDERR_FILENO);

  const auto summary = run_campaign(options);
  if (!summary) return fail(summary.error());
  if (flags.run.json) {
    print_json(*summary);
  } else {
    std::fputs(to_text(*summary).c_str(), stdout);
  }
  if (flags.expect) {
    bool met = true;
    for (const Scenario& scenario : *scenarios) {
      const auto missing = expectation_unmet(scenario, flags.out);
      if (missing) std::fprintf(stderr, "dsafuzz: %s: %s\n", scenario.name.c_str(), missing->c_str());
      met = met && !missing;
    }
    return met ? 0 : 1;
  }
  return exit_code_of(*summary);
}

}  // namespace dsafuzz
