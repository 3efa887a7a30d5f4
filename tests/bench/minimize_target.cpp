// libFuzzer's side of reduce_peers: a target that aborts when the case in its input (as compact bytes) shows the bug
// named by REDUCE_WANTED, so that `-minimize_crash=1` can shrink the bytes. Cases run in a worker, like those of the
// other reducers. Every input that decodes adds one to the 64-bit number in the file REDUCE_COUNT.
#include <fcntl.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "fuzz/trials.h"
#include "fuzz/worker_pool.h"
#include "repro/case_bytes.h"
#include "tests/bench/empty_tensor.h"

namespace {

using namespace dsafuzz;

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) std::fprintf(stderr, "%s is not set\n", name), std::exit(2);
  return text;
}

std::uint64_t* count() {
  const int file = open(variable("REDUCE_COUNT").c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(std::uint64_t)) != 0) std::exit(3);
  void* page = mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) std::exit(3);
  return static_cast<std::uint64_t*>(page);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string wanted = variable("REDUCE_WANTED");
  static std::uint64_t* const executions = count();
  static const auto device =
      start_workers({.device = {Device::Kind::vcuda, 0}, .blocking = true}).value_or(std::unique_ptr<Executor>());
  static const std::map<std::string, Scenario> scenarios;
  if (!device) std::exit(3);
  const auto c = decode_case({data, size});
  if (!c || !validate(*c) || has_empty_tensor(*c)) return 0;
  ++*executions;
  static Trials trials(*device, nullptr, scenarios);
  const auto judged = trials.judge(*c, false, false);
  if (judged && judged->signature().folder_name() == wanted) std::abort();
  return 0;
}
