#include "repro/redact.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

#include "repro/scan.h"

namespace dsafuzz {
namespace {

// Replaces the name where it stands as a word of its own.
void replace_word(std::string& text, const std::string& name, std::string_view stand_in) {
  if (name.empty() || name == stand_in) return;
  const auto in_word = [&](std::size_t at) { return at < text.size() && (is_word(text[at]) || text[at] == '-'); };
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;) {
    if ((at > 0 && in_word(at - 1)) || in_word(at + name.size())) {
      at += name.size();
      continue;
    }
    text.replace(at, name.size(), stand_in);
    at += stand_in.size();
  }
}

// The folder and what lies in it: "/data/alice/run/x" becomes "/folder/x". Not "/data/alice/run2".
void replace_folder(std::string& text, std::string folder, std::string_view stand_in) {
  while (folder.ends_with('/')) folder.pop_back();
  if (folder.find('/', 1) == std::string::npos || folder.front() != '/') return;
  const auto in_name = [&](std::size_t at) {
    return at < text.size() && (is_word(text[at]) || text[at] == '-' || text[at] == '.');
  };
  for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos;) {
    if (in_name(at + folder.size()) || (at > 0 && in_name(at - 1))) {
      at += folder.size();
      continue;
    }
    text.replace(at, folder.size(), stand_in);
    at += stand_in.size();
  }
}

// /home/alice/x becomes /home/user/x, for any user.
void replace_homes(std::string& text) {
  for (const std::string_view root : {"/home/", "/Users/"}) {
    for (std::size_t at = 0; (at = text.find(root, at)) != std::string::npos;) {
      at += root.size();
      std::size_t end = at;
      while (end < text.size() && (is_word(text[end]) || text[end] == '-' || text[end] == '.')) ++end;
      text.replace(at, end - at, "user");
    }
  }
}

class Uuids {
 public:
  // "0a1b2c3d-4e5f-..." after the prefix becomes "00000000-0000-0000-0000-000000000001", and so on by first appearance.
  void replace(std::string& text, std::string_view prefix) {
    for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;) {
      at += prefix.size();
      std::size_t end = at;
      while (end < text.size() && (is_hex(text[end]) || text[end] == '-')) ++end;
      if (end - at < 4) continue;
      const std::string stand_in = stand_in_for(text.substr(at, end - at));
      text.replace(at, end - at, stand_in);
      at += stand_in.size();
    }
  }

 private:
  // One that begins another (CUDA_VISIBLE_DEVICES may hold beginnings) stands for the same thing.
  std::string stand_in_for(const std::string& uuid) {
    for (const auto& [known, stand_in] : stand_ins_) {
      if (known.starts_with(uuid) || uuid.starts_with(known)) return stand_in;
    }
    std::string digits = std::to_string(stand_ins_.size() + 1);
    digits.insert(0, 12 - digits.size(), '0');
    return stand_ins_[uuid] = "00000000-0000-0000-0000-" + digits;
  }
  std::map<std::string, std::string> stand_ins_;
};

void replace_serials(std::string& text) {
  for (const std::string_view label : {"Serial Number", "Board Part Number", "GPU Part Number"}) {
    for (std::size_t at = 0; (at = text.find(label, at)) != std::string::npos;) {
      const std::size_t line_end = std::min(text.find('\n', at), text.size());
      const std::size_t colon = text.find(": ", at);
      if (colon < line_end) {
        text.replace(colon + 2, line_end - colon - 2, "N/A");
      }
      at += label.size();
    }
  }
}

void replace_names(std::string& text, const PrivateNames& names) {
  std::vector<std::string> folders = names.folders;
  // One inside another goes first.
  std::ranges::sort(folders, std::ranges::greater(), &std::string::size);
  for (const std::string& folder : folders) replace_folder(text, folder, "/folder");
  replace_folder(text, names.home, "/home/user");
  replace_homes(text);
  replace_word(text, names.host, "host");
  if (names.user != "root") replace_word(text, names.user, "user");
}

}  // namespace

MachineRecord redacted(const MachineRecord& record, const PrivateNames& names) {
  MachineRecord result = record;
  Uuids uuids;
  // nvidia-smi's whole UUIDs are seen before the variable's beginnings of them.
  for (const std::string_view name : {"nvidia-smi-q.txt", "nvidia-smi-list.txt"}) {
    if (const auto at = result.find(name); at != result.end()) {
      uuids.replace(at->second, "GPU-");
      uuids.replace(at->second, "MIG-");
    }
  }
  for (auto& [name, text] : result) {
    if (name != "nvidia-smi-q.txt" && name != "nvidia-smi-list.txt") {
      uuids.replace(text, "GPU-");
      uuids.replace(text, "MIG-");
    }
    replace_serials(text);
    replace_names(text, names);
  }
  return result;
}

std::string redacted_text(std::string text, const PrivateNames& names) {
  Uuids uuids;
  uuids.replace(text, "GPU-");
  uuids.replace(text, "MIG-");
  replace_serials(text);
  replace_names(text, names);
  return text;
}

}  // namespace dsafuzz
