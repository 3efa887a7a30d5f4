#include "tests/bench/silence.h"

#include <fcntl.h>
#include <unistd.h>

Silence::Silence() : kept_(dup(STDERR_FILENO)) {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDERR_FILENO);
  close(nowhere);
}

Silence::~Silence() {
  dup2(kept_, STDERR_FILENO);
  close(kept_);
}
