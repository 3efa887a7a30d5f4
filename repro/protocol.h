// How supervisor, zygote and workers talk. One page of shared memory (a memfd) a worker holds the case, the outcome and
// the coverage; SOCK_SEQPACKET sockets carry fixed messages, and their end of file is the news of a death.
//
//   supervisor -> zygote   fork, with three descriptors: the worker's socket, its page, the file for its output
//   zygote -> supervisor   forked {pid}; died {pid, wait status}
//   worker -> supervisor   ready; done
//   supervisor -> worker   run
//
// `run` and `done` only wake who sleeps: what counts are the doorbells in the page, whose number is the case's. So a
// late message of an earlier case is harmless.
//
// The case's bytes stand in the page before the worker is told, and the worker notes each step before it runs it, so a
// killed worker leaves both behind. Before it is ready it writes an outcome that holds its versions and nothing else,
// since a killed one can no longer say what it ran with. Private to fuzz/ and the worker; both ends are always of one
// build.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "repro/case_bytes.h"
#include "repro/doorbell.h"
#include "repro/features.h"

namespace dsafuzz {

inline constexpr std::uint32_t kProtocolVersion = 3;
inline constexpr std::size_t kOutcomeBytesLimit = std::size_t{1} << 18;

struct SharedPage {
  std::uint32_t version = kProtocolVersion;
  std::atomic<std::int32_t> step{-1};  // the step in progress (Outcome::step)
  std::uint32_t case_length = 0;
  std::uint32_t outcome_length = 0;
  Doorbell request, answer;    // of the case with this number
  bool worker_ends = false;    // with the answer: the worker ends itself, because its device is lost
  bool wants_results = false;  // the supervisor wants Outcome::results of a run that returned, too
  std::uint8_t features[kFeatureBytes];
  std::uint8_t outcome_bytes[kOutcomeBytesLimit];
  std::uint8_t case_bytes[kCaseBytesLimit];
};

struct Message {
  enum class Kind : std::uint32_t { fork, forked, died, ready, run, done };
  Kind kind = Kind::run;
  std::int32_t pid = 0;     // forked, died
  std::int32_t status = 0;  // died: as waitpid gives it
};

// The zygote's control socket and, in the worker, its socket and page.
inline constexpr int kControlDescriptor = 3;

// What a fork message carries: the worker's ends of its socket, its page, and the file for its output.
using WorkerDescriptors = int[3];
// False when the zygote is gone.
bool send_fork(int control, const WorkerDescriptors& fds);
// Waits for a fork message. `fds` are then the caller's to close. False at end of file or nonsense.
bool receive_fork(int control, WorkerDescriptors& fds);

}  // namespace dsafuzz
