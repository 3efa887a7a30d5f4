#include "fuzz/atomic_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

std::unexpected<Problem> failed(const std::string& doing, const std::string& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return environment_problem("cannot " + doing + ": " + std::strerror(error), path,
                             full ? "free some space, or choose another folder with --out" : "");
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Makes a rename survive a power cut.
void sync_folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  sync_folder(folder.empty() ? "." : folder.string());
}

// 0, or the errno of what went wrong.
int write_and_sync(const std::string& path, std::string_view content) {
  const Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (fd.get() < 0) return errno;
  while (!content.empty()) {
    const ssize_t written = ::write(fd.get(), content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(fd.get()) == 0 ? 0 : errno;
}

}  // namespace

Result<void> write_whole(const std::string& path, std::string_view content) {
  const std::string temporary = temporary_beside(path);
  int error = write_and_sync(temporary, content);
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    return failed("write this file", path, error);
  }
  sync_folder_of(path);
  return {};
}

Result<void> replace_folder(const std::string& finished, const std::string& place) {
  if (::renameat2(AT_FDCWD, finished.c_str(), AT_FDCWD, place.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno != EEXIST && errno != ENOTEMPTY && errno != EINVAL)
      return failed("put this folder in place", place, errno);
    if (::renameat2(AT_FDCWD, finished.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) != 0) {
      // A file system that cannot exchange, or one that knows no flags at all.
      remove_all(place);
      if (::rename(finished.c_str(), place.c_str()) != 0) return failed("put this folder in place", place, errno);
    } else {
      remove_all(finished);
    }
  }
  sync_folder_of(place);
  return {};
}

Result<std::string> read_whole(const std::string& path, std::size_t limit) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0) return failed("read this file", path, errno);
  if (!S_ISREG(info.st_mode)) return input_problem("is not a file", path);
  if (static_cast<std::size_t>(info.st_size) > limit) {
    return input_problem("is larger than " + std::to_string(limit) + " bytes", path);
  }
  std::string content(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t got = 0;
  while (got < content.size()) {
    const ssize_t n = ::read(fd.get(), content.data() + got, content.size() - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("read this file", path, errno);
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  content.resize(got);
  return content;
}

void sync_folder(const std::string& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) ::fsync(fd.get());
}

void sync_file_system_of(const std::string& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) ::syncfs(fd.get());
}

Result<void> make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return failed("create this folder", path, error.value());
  return {};
}

void remove_all(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

std::string temporary_beside(const std::string& path) {
  static std::atomic<std::uint64_t> counter{0};
  const fs::path place(path);
  const std::string name = std::string(kTemporaryPrefix) + std::to_string(::getpid()) + "-" +
                           std::to_string(counter.fetch_add(1)) + "-" + place.filename().string();
  return (place.parent_path() / name).string();
}

}  // namespace dsafuzz
