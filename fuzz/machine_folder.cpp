#include "fuzz/machine_folder.h"

#include <filesystem>

#include "fuzz/atomic_file.h"
#include "repro/read_file.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kItemLimit = std::size_t{1} << 20;

}  // namespace

Result<MachineRecord> read_machine_folder(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return input_problem("is no folder", folder, "one that `dsafuzz doctor --record FOLDER` wrote");
  MachineRecord record;
  for (const RecordItem& item : kRecordItems) {
    const std::string path = (fs::path(folder) / item.name).string();
    if (!fs::exists(path, error)) continue;
    record.emplace(item.name, DSAFUZZ_TRY(read_file(path, kItemLimit)));
  }
  if (record.empty())
    return environment_problem("nothing is recorded here, so nothing can be said of the machine", folder,
                               "files such as " + std::string(kRecordItems.front().name) +
                                   ", as `dsafuzz doctor --record FOLDER` writes them");
  return record;
}

Result<void> write_machine_folder(const std::string& folder, const MachineRecord& record) {
  DSAFUZZ_CHECK(make_folder(folder));
  for (const RecordItem& item : kRecordItems) {
    const std::string path = (fs::path(folder) / item.name).string();
    const auto at = record.find(item.name);
    if (at == record.end()) {
      remove_all(path);
    } else {
      DSAFUZZ_CHECK(write_whole(path, at->second));
    }
  }
  return {};
}

}  // namespace dsafuzz
