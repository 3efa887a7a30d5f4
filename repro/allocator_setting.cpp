#include "repro/allocator_setting.h"

#include "repro/scan.h"
#include "repro/tsv_table.h"

namespace dsafuzz {
namespace {

bool is_refused(std::string_view key, std::string_view value) {
  if (key == "expandable_segments" || key == "release_lock_on_cudamalloc" || key == "pinned_use_cuda_host_register")
    return value != "True" && value != "False";
  if (key == "max_split_size_mb") {
    constexpr std::int64_t kSmallBlockMib = 20;  // a block that is split must be larger than the small ones
    const auto size = take_number(value);
    return !size || !value.empty() || *size <= kSmallBlockMib;
  }
  if (key == "garbage_collection_threshold")  // a share of the memory, between 0 and 1
    return !(value.starts_with("0.") || value.starts_with(".")) || value.find_first_not_of("0.") == value.npos;
  return key == "backend" && value != "native" && value != "cudaMallocAsync";
}

}  // namespace

std::string bad_allocator_option(std::string_view setting) {
  for (const std::string& option : split(setting, ',')) {
    std::string_view value = trimmed(option);
    const auto key = take_until(value, ":");
    if (key && is_refused(trimmed(*key), trimmed(value))) return std::string(trimmed(option));
  }
  return {};
}

}  // namespace dsafuzz
