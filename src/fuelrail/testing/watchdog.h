// What ends a program whose test hangs, for tests that go through hundreds of cases.
#pragma once

#include <unistd.h>

namespace fuelrail {

// Ends the program (SIGALRM) a minute after it was made or fed. One at a time.
class Watchdog {
 public:
  Watchdog() { ::alarm(kSeconds); }
  ~Watchdog() { ::alarm(0); }
  Watchdog& operator=(Watchdog&&) = delete;
  // Something has been done.
  void feed() { ::alarm(kSeconds); }

 private:
  static constexpr unsigned kSeconds = 60;
};

}  // namespace fuelrail
