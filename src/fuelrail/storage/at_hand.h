// Reads that must not block, for callers that do blocking reads on a different thread.
#pragma once

namespace fuelrail {

// Thrown by calls that would have to wait for storage while an OnlyAtHand exists on this thread.
// Not an Error, so that it is never treated as a failure of the data.
struct WouldWait {};

// While an object of this class exists, this thread reads bytes of local files only if they are in
// the page cache, and passes no reads to other threads (ReadQueue). A read that would wait, and any
// call that opens or stats a file, throws WouldWait.
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
