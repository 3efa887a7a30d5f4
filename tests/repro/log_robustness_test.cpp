// Damaged logs: no sample, cut or changed anywhere, may crash the parser or take long.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "repro/parse_log.h"

namespace dsafuzz {
namespace {

constexpr std::uint64_t kSeed = 20260301;

std::vector<std::string> small_samples() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(DSAFUZZ_LOG_SAMPLES)) {
    if (entry.path().extension() == ".log" && entry.file_size() < 20'000) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<std::string> samples;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    samples.push_back(bytes.str());
  }
  return samples;
}

TEST(LogRobustness, TruncatedAnywhere) {
  std::mt19937_64 random(kSeed);
  for (const std::string& sample : small_samples()) {
    for (int i = 0; i < 40; ++i) {
      const std::size_t from = random() % (sample.size() + 1);
      const std::size_t size = random() % (sample.size() - from + 1);
      parse_log(std::string_view(sample).substr(from, size));
      parse_log(std::string_view(sample).substr(0, from));
    }
  }
}

TEST(LogRobustness, BytesChangedAnywhere) {
  static constexpr char kBytes[] = "\0\x1b[`'\":()\n\r\xff =+-0x|";
  constexpr std::string_view kNasty{kBytes, sizeof(kBytes) - 1};
  std::mt19937_64 random(kSeed + 1);
  for (const std::string& sample : small_samples()) {
    if (sample.empty()) continue;
    for (int i = 0; i < 40; ++i) {
      std::string damaged = sample;
      for (int j = 0; j < 8; ++j) damaged[random() % damaged.size()] = kNasty[random() % kNasty.size()];
      const LogReading reading = parse_log(damaged);
      EXPECT_LE(reading.evidence.size(), kEvidenceLimit);
      EXPECT_GE(reading.count, 0);
    }
  }
}

// The parts every grammar looks for, repeated without an end: 2 MB of each must be read in time linear in its size.
TEST(LogRobustness, RepeatedAnchorsTakeLinearTime) {
  constexpr std::string_view kAnchors[] = {" block: [",
                                           " block: [0,0,0], thread: [0,0,0] Assertion `",
                                           "a.cu:1: ",
                                           ":1",
                                           "` failed.",
                                           "File \"",
                                           "[0;",
                                           "\x1b[",
                                           "========= ",
                                           "========= Invalid __global__ \n",
                                           "=========     at 0x1 in a:1:\n",
                                           "CUDA error: ",
                                           " in ",
                                           "frame #0: ",
                                           "Traceback (most recent call last)",
                                           "<record>",
                                           "<frame>",
                                           "1,",
                                           "> ",
                                           "[rank1]: ",
                                           "(",
                                           "\\",
                                           "/",
                                           ": cudaError",
                                           "Exception raised from ",
                                           "Device-side assertion `",
                                           "<what>",
                                           " from ",
                                           "|",
                                           "thread: [1,",
                                           " block: [0,0,0], thread: [0,0,0]",
                                           "CUDA_ERROR_ASSERT",
                                           "CUDA_ERROR_ASSERT ",
                                           "error: cudaErrorAssert(",
                                           "the CUDA error: ",
                                           "cuda",
                                           "GPU 0: x (UUID: GPU-",
                                           "index, name",
                                           "index, memory.total [MiB]\n",
                                           "| NVIDIA-SMI 1 Driver Version: 2 |\n",
                                           "|  0  x Off | 00:0A:00.0 Off | 0 |\n",
                                           "NVRM version:",
                                           "PyTorch version: 1\n",
                                           "{\"msg\":\"a: rror\\n\",",
                                           "{\"log\":\"\\u001b[0m\"}\n",
                                           "\"a\\n\",\n",
                                           "<span ></",
                                           "[a:1](b)",
                                           "1](",
                                           "块：",
                                           " block: (1,2,3), thread: (1,2,3) Assertion `",
                                           "a.cu:1: f:\nblock: [0,0,0], thread: [0,0,0] Assertion `",
                                           "========= Other\n=========     at f\n",
                                           "<hostStack><frame>",
                                           "(core dumped)",
                                           "a:1: 2 Aborted (",
                                           "\r"};
  constexpr std::size_t kBytes = 2'000'000;
  for (std::string_view anchor : kAnchors) {
    SCOPED_TRACE(anchor);
    std::string log = anchor.starts_with('<') ? "<ComputeSanitizerOutput>\n<record>" : "";
    while (log.size() < kBytes) log += anchor;
    const auto start = std::chrono::steady_clock::now();
    parse_log(log);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_LT(seconds.count(), 5.0);
  }
}

}  // namespace
}  // namespace dsafuzz
