// Sends what a benchmark's target prints to nowhere: assert lines would drown the results.
#pragma once

class Silence {
 public:
  Silence();   // file descriptor 2 is /dev/null from here on
  ~Silence();  // and what it was before
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  int kept_;
};
