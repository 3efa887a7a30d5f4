// Takes what names a person or a piece of hardware out of a record that is to be sent: names of user and host, folders
// of users, UUIDs, serial numbers. The same name is replaced by the same stand-in everywhere, so that what belonged
// together still does.
#pragma once

#include <string>

#include "repro/machine_record.h"

namespace dsafuzz {

// Names of this machine; an empty one, and the user "root", are nobody's.
struct PrivateNames {
  std::string host, user;
};

MachineRecord redacted(const MachineRecord& record, const PrivateNames& names);

}  // namespace dsafuzz
