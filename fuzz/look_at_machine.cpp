#include "fuzz/look_at_machine.h"

#include <unistd.h>

#include <cstdlib>

#include "fuzz/look_at_installation.h"
#include "fuzz/look_at_system.h"

namespace dsafuzz {
namespace {

void look_at_driver(MachineRecord& record) {
  record_output("nvidia-smi.txt", {"nvidia-smi"}, record);
  if (!record.contains("nvidia-smi.txt")) {
    record["nvidia-smi.txt"] = "nvidia-smi: command not found\n";
    return;
  }
  record_output("nvidia-smi-q.txt", {"nvidia-smi", "-q"}, record);
  record_output("nvidia-smi-list.txt", {"nvidia-smi", "-L"}, record);
  record_output("nvidia-smi-csv.txt", {"nvidia-smi", "--query-gpu=index,name,compute_cap", "--format=csv"}, record);
}

// Reading the kernel's log is often not allowed; then nothing is recorded.
void look_at_kernel_log(MachineRecord& record) {
  record_output("kernel-log.txt", {"dmesg"}, record);
  const auto at = record.find("kernel-log.txt");
  if (at == record.end()) return;
  at->second = lines_with(at->second, {"NVRM", "nvidia-uvm", "request_free_mem_region"});
  if (at->second.empty()) record.erase(at);
}

}  // namespace

Result<MachineRecord> look_at_machine(const LookOptions& options) {
  if (head_of("/proc/version").empty())
    return environment_problem("/proc cannot be read, so that nothing can be seen of this machine", "", "Linux");
  if (options.python.contains('/') && access(options.python.c_str(), X_OK) != 0)
    return input_problem("there is no Python here that can be started", options.python);
  MachineRecord record;
  look_at_driver(record);
  const auto query = record.find("nvidia-smi-q.txt");
  look_at_system(query == record.end() ? "" : query->second, record);
  look_at_kernel_log(record);
  const char* usual = std::getenv("DSAFUZZ_PYTHON");
  look_at_python(!options.python.empty() ? options.python : usual ? usual : "python3", record);
  look_at_toolkit(record);
  look_at_libraries(packages_of(record), record);
  DSAFUZZ_CHECK(look_at_device_code(options.libraries, record));
  return record;
}

}  // namespace dsafuzz
