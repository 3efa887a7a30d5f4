#include "fuzz/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "fuzz/atomic_file.h"

namespace dsafuzz {

Result<FolderLock> FolderLock::take(const std::string& file, const std::string& holder, const std::string& remedy) {
  FolderLock lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.descriptor_ < 0)
    return environment_problem(std::string("cannot open the lock: ") + std::strerror(errno), file);
  if (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const std::string process = read_whole(file, 64).value_or("");
    return environment_problem(holder + " uses this folder" + (process.empty() ? "" : " (process " + process + ")"),
                               std::filesystem::path(file).parent_path().string(), remedy);
  }
  const std::string pid = std::to_string(::getpid());
  if (::ftruncate(lock.descriptor_, 0) == 0) (void)!::pwrite(lock.descriptor_, pid.data(), pid.size(), 0);
  return lock;
}

FolderLock::FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace dsafuzz
