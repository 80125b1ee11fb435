// Reads that must not block, for a caller that prefers to do the blocking read elsewhere.
#pragma once

namespace fuelrail {

// Thrown by calls that would have to wait for storage while an OnlyAtHand exists on this thread.
// Not an Error, so that it is never treated as a failure of the data.
struct WouldWait {};

// While such an object exists, this thread reads only those bytes of local files that are in the
// page cache. A read that would wait, and any call that opens or stats a file, throws WouldWait. No
// reads are handed to other threads (ReadQueue) either.
class OnlyAtHand {
 public:
  OnlyAtHand() { ++count(); }
  ~OnlyAtHand() { --count(); }
  OnlyAtHand& operator=(OnlyAtHand&&) = delete;

  // Called before an operation that may wait. Errors: WouldWait.
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
