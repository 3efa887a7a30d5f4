#include "fuzz/write_ahead.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "fuzz/atomic_file.h"

namespace dsafuzz {
namespace {

constexpr std::size_t kHeader = 16;
constexpr std::size_t kFileBytes = kHeader + kCaseBytesLimit;

void store_length(std::uint8_t* memory, std::uint64_t length) {
  std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(memory)).store(length, std::memory_order_release);
}

}  // namespace

Result<WriteAhead> WriteAhead::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return environment_problem(std::string("cannot create this file: ") + std::strerror(errno), path);
  int error = ::ftruncate(fd, kFileBytes) == 0 ? ::posix_fallocate(fd, 0, kFileBytes) : errno;
  void* memory = MAP_FAILED;
  if (error == 0) {
    memory = ::mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) error = errno;
  }
  ::close(fd);
  if (error != 0) {
    return environment_problem(std::string("cannot reserve this file: ") + std::strerror(error), path,
                               error == ENOSPC ? "free some space, or choose another folder with --out" : "");
  }
  store_length(static_cast<std::uint8_t*>(memory), 0);
  return WriteAhead(static_cast<std::uint8_t*>(memory));
}

WriteAhead::WriteAhead(WriteAhead&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}

WriteAhead::~WriteAhead() {
  if (memory_) ::munmap(memory_, kFileBytes);
}

void WriteAhead::begin(std::span<const std::uint8_t> bytes, std::uint64_t sequence) {
  std::memcpy(memory_ + 8, &sequence, sizeof sequence);
  std::memcpy(memory_ + kHeader, bytes.data(), bytes.size());
  store_length(memory_, bytes.size());
}

void WriteAhead::end() { store_length(memory_, 0); }

std::optional<InterruptedRun> read_interrupted(const std::string& path) {
  const auto content = read_whole(path, kFileBytes);
  if (!content || content->size() != kFileBytes) return std::nullopt;
  std::uint64_t length = 0;
  InterruptedRun run;
  std::memcpy(&length, content->data(), sizeof length);
  std::memcpy(&run.sequence, content->data() + 8, sizeof run.sequence);
  if (length == 0 || length > kCaseBytesLimit) return std::nullopt;
  run.bytes.assign(content->begin() + kHeader, content->begin() + static_cast<long>(kHeader + length));
  return run;
}

}  // namespace dsafuzz
