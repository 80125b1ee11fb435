// Reads that wait for nobody, for a caller who has something better to do than to wait here.
#pragma once

namespace fuelrail {

// Thrown by what would have to wait for storage while an OnlyAtHand lives on this thread. It is no
// Error: nothing adds to it, and nothing takes it for a failure of the data.
struct WouldWait {};

// While one lives, this thread reads of local files only what is in the page cache; the first read
// that would wait, and whatever opens or looks at a file, throws WouldWait. Reads by other threads
// (ReadQueue) are not asked for either.
class OnlyAtHand {
 public:
  OnlyAtHand() { ++count(); }
  ~OnlyAtHand() { --count(); }
  OnlyAtHand& operator=(OnlyAtHand&&) = delete;

  // For what is about to wait. Errors: WouldWait.
  static void check() {
    if (count() > 0) throw WouldWait();
  }
  static bool applies() { return count() > 0; }

 private:
  static int& count() {
    thread_local int living = 0;
    return living;
  }
};

}  // namespace fuelrail
