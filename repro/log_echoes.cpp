#include "repro/log_echoes.h"

#include <array>

#include "repro/parse_shell_death.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

struct Text {
  std::string_view text, what;
};
constexpr std::array kTexts{
    Text{"CUBLAS_STATUS_", "A cuBLAS call failed because the context was lost already"},
    Text{"CUDNN_STATUS_", "A cuDNN call failed because the context was lost already"},
    Text{"failed to synchronize: cudaError", "Thrust noticed the failure while it waited for its own kernel"},
    Text{"NCCL WARN", "NCCL noticed that the device no longer answers"},
    Text{"watchdog thread terminated",
         "The watchdog of a process group ended the process, since a rank's device was lost"},
    Text{"CUDA warning: ", "Destructors warn of each event or stream that they could not free"},
    Text{"terminate called after throwing", "A destructor or another thread met the error and aborted the process"},
    Text{"Fatal Python error: Aborted", "Python tells where it was when the process was aborted"},
    Text{"ChildFailedError", "torchrun reports that one of its processes ended"},
    Text{"(SIGTERM) received by PID", "The launcher ended the other ranks"},
    Text{"repr-error 'CUDA error", "Tensors could not be printed any more"}};

}  // namespace

std::vector<LogEcho> find_echoes(const LogText& log) {
  std::array<std::int64_t, kTexts.size()> counts{};
  std::int64_t aborts = 0;
  for (const std::string& line : log.lines) {
    for (std::size_t i = 0; i < kTexts.size(); ++i) {
      if (contains(line, kTexts[i].text)) ++counts[i];
    }
    if (shell_death(line, false) == ShellDeath::abort) ++aborts;
  }
  std::vector<LogEcho> echoes;
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    if (counts[i] > 0) echoes.push_back({kTexts[i].what, counts[i]});
  }
  if (aborts > 0) echoes.push_back({"The shell reports the abort", aborts});
  return echoes;
}

}  // namespace dsafuzz
