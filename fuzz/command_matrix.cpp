// `dsafuzz matrix`: the error-parity table.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "fuzz/atomic_file.h"
#include "fuzz/commands.h"
#include "fuzz/matrix.h"
#include "fuzz/row_counter.h"
#include "fuzz/worker_pool.h"

namespace dsafuzz {

int matrix_command(const MatrixFlags& flags) {
  MatrixOptions options;
  const auto settings = settings_of(flags.run, true);
  if (!settings) return fail(settings.error());
  options.catalogue = flags.catalogue.empty() ? shipped_folder("corpus/catalogue") : flags.catalogue;
  options.operators = flags.operators;
  options.settings = *settings;
  // The CPU first: it is the second opinion on the others. A GPU only where there is one.
  for (const Device::Kind kind : {Device::Kind::cpu, Device::Kind::vcuda}) options.devices.push_back({kind, 0});
  std::error_code ignored;
  if (std::filesystem::exists("/dev/nvidiactl", ignored)) options.devices.push_back({Device::Kind::cuda, 0});
  options.variants = flags.variants;
  options.jobs = static_cast<std::size_t>(flags.jobs);
  options.start_workers = start_workers;
  RowCounter counter("matrix", "rows");
  options.progress = [&](std::size_t done, std::size_t all) { counter.show(done, all); };

  const auto rows = run_matrix(options);
  if (!rows) return fail(rows.error());
  const std::string text = flags.run.json ? matrix_json(*rows) : flags.html ? matrix_html(*rows) : matrix_text(*rows);
  if (flags.out.empty()) {
    std::fputs(text.c_str(), stdout);
  } else if (const auto written = write_whole(flags.out, text); !written) {
    return fail(written.error());
  }
  const bool differs =
      std::ranges::any_of(*rows, [](const MatrixRow& row) { return row.agreement == Agreement::catalogue_differs; });
  return differs ? 1 : 0;
}

}  // namespace dsafuzz
