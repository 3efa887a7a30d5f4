#include "repro/protocol.h"

#include <sys/socket.h>

#include <cstring>

namespace dsafuzz {
namespace {

// One message, and room for its descriptors.
struct Parcel {
  Parcel() {
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = space;
    header.msg_controllen = sizeof space;
  }
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;

  Message message{.kind = Message::Kind::fork};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(WorkerDescriptors))]{};
  iovec data{&message, sizeof message};
  msghdr header{};
};

}  // namespace

bool send_fork(int control, const WorkerDescriptors& fds) {
  Parcel parcel;
  cmsghdr* const rights = CMSG_FIRSTHDR(&parcel.header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof fds);
  std::memcpy(CMSG_DATA(rights), fds, sizeof fds);
  return sendmsg(control, &parcel.header, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof parcel.message);
}

bool receive_fork(int control, WorkerDescriptors& fds) {
  Parcel parcel;
  if (recvmsg(control, &parcel.header, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof parcel.message)) return false;
  const cmsghdr* const rights = CMSG_FIRSTHDR(&parcel.header);
  if (!rights || rights->cmsg_type != SCM_RIGHTS || rights->cmsg_len != CMSG_LEN(sizeof fds)) return false;
  std::memcpy(fds, CMSG_DATA(rights), sizeof fds);
  return parcel.message.kind == Message::Kind::fork;
}

}  // namespace dsafuzz
