// Takes what names a person or a piece of hardware out of a record or text that is to be sent: names of user and host, folders
// of users, UUIDs, serial numbers. The same name is replaced by the same stand-in everywhere, so that what belonged
// together still does.
#pragma once

#include <string>
#include <vector>

#include "repro/machine_record.h"

namespace dsafuzz {

// Names of this machine; an empty one, and the user "root", are nobody's.
struct PrivateNames {
  std::string host, user;
  std::string home{};                  // becomes /home/user
  std::vector<std::string> folders{};  // become /folder; one of a single part, as /tmp, tells nothing and stays
};

MachineRecord redacted(const MachineRecord& record, const PrivateNames& names);
// Any other text: a log, an error's words.
std::string redacted_text(std::string text, const PrivateNames& names);

}  // namespace dsafuzz
