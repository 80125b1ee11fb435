// Ends a program whose test hangs, for tests with hundreds of cases.
#pragma once

#include <unistd.h>

namespace fuelrail {

// Ends the program (SIGALRM) a minute after it was created or last fed. At most one at a time.
class Watchdog {
 public:
  Watchdog() { ::alarm(kSeconds); }
  ~Watchdog() { ::alarm(0); }
  Watchdog& operator=(Watchdog&&) = delete;
  // Called after each step: restarts the minute.
  void feed() { ::alarm(kSeconds); }

 private:
  static constexpr unsigned kSeconds = 60;
};

}  // namespace fuelrail
