// Files that are whole or not there: written beside their place under a temporary name, forced to the disk, then
// renamed. What a crash or a full disk leaves behind starts with kTemporaryPrefix and counts for nothing.
#pragma once

#include <string>
#include <string_view>

#include "repro/result.h"

namespace dsafuzz {

inline constexpr std::string_view kTemporaryPrefix = ".tmp-";

// Replaces the file, if there is one. Problem (environment): no space, no permission; nothing has changed then.
Result<void> write_whole(const std::string& path, std::string_view content);

// Moves a finished folder to its place; one that is there already is exchanged and then removed. Both paths are on
// one file system.
Result<void> replace_folder(const std::string& finished, const std::string& place);

// At most `limit` bytes. Problem: not there, not readable, or larger.
Result<std::string> read_whole(const std::string& path, std::size_t limit);

// Waits until names made, renamed or removed in the folder survive a power cut. Some file systems cannot do that; the
// files themselves are safe then all the same.
void sync_folder(const std::string& folder);

// Waits until everything written so far to the file system that holds the folder is on the disk.
void sync_file_system_of(const std::string& folder);

// Creates the folder and its parents.
Result<void> make_folder(const std::string& path);

// Removes a file or a folder with all it holds; nothing there is no trouble.
void remove_all(const std::string& path);

// A name beside `path` that no other call in any process gets.
std::string temporary_beside(const std::string& path);

}  // namespace dsafuzz
