// A lock on a folder that the kernel drops with its holder's death, so a stale one cannot be.
#pragma once

#include <string>

#include "repro/result.h"

namespace dsafuzz {

class FolderLock {
 public:
  FolderLock() = default;  // holds nothing
  // Locks the file, which is made as needed and names the holder's process. Problem (environment): another process
  // holds it; `holder` is what that is called ("another campaign").
  static Result<FolderLock> take(const std::string& file, const std::string& holder, const std::string& remedy);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_ = -1;
};

}  // namespace dsafuzz
