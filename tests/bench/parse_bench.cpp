// Reading of long logs: 100 MB that a failed assert of a large grid prints, the same between a program's own lines, and
// a log without any fault. The log is made piece by piece, as a file would be read, so that the peak of memory is the
// reader's.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <string>

#include "repro/parse_log.h"

namespace dsafuzz {
namespace {

constexpr std::size_t kBytes = 100'000'000;
constexpr std::size_t kPiece = std::size_t{1} << 20;

void append_assert(std::string& out, std::size_t number) {
  out += "/pytorch/aten/src/ATen/native/cuda/IndexKernel.cu:111: operator(): block: [" + std::to_string(number / 128) +
         ",0,0], thread: [" + std::to_string(number % 128) +
         ",0,0] Assertion `-sizes[i] <= index && index < sizes[i] && \"index out of bounds\"` failed.\n";
}

void append_training(std::string& out, std::size_t number) {
  out += "Epoch 3:  41%|####      | " + std::to_string(number) + "/2000000 [00:12<00:18,  6.55it/s, loss=0.71]\n";
}

// Text of about kPiece bytes; `share` of its lines in 10 are assert lines.
std::string piece(std::size_t& number, std::size_t share) {
  std::string text;
  text.reserve(kPiece + 512);
  while (text.size() < kPiece) {
    number % 10 < share ? append_assert(text, number) : append_training(text, number);
    ++number;
  }
  return text;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void read_log(benchmark::State& state) {
  const auto share = static_cast<std::size_t>(state.range(0));
  std::int64_t count = 0;
  std::size_t bytes = 0;
  for (auto _ : state) {
    LogReader reader;
    std::size_t number = 0;
    bytes = 0;
    while (bytes < kBytes) {
      state.PauseTiming();
      const std::string text = piece(number, share);
      state.ResumeTiming();
      reader.add(text);
      bytes += text.size();
    }
    count = parse_log(reader.finish()).count;
    benchmark::DoNotOptimize(count);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
  state.counters["asserts"] = static_cast<double>(count);
  state.counters["peak_mb"] = peak_megabytes();
}
BENCHMARK(read_log)->Name("read_log/assert_lines_in_10")->Arg(10)->Arg(5)->Arg(0)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace dsafuzz

BENCHMARK_MAIN();
