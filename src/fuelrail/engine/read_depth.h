// How many reads to have in flight: as many as it takes so that workers never wait for one.
//
// No clock is read, and no latency guessed: storage is too slow for the present depth exactly when
// a record comes and finds that no other is waiting for a worker. Then the depth doubles, once a
// round (as many records as the depth); after many rounds without such a moment it shrinks by an
// eighth, so that a hiccup does not keep batches planned far ahead for ever (storage's threads
// beyond the number sleep; none ends). Each shrinking that proves wrong doubles the rounds until
// the next.
//
// Where the order begins, the first records find no other waiting however fast storage is: what
// comes before a worker has done its first says nothing. The depth itself outlives that, for an
// order may be a single batch, and the next one another.
#pragma once

#include <algorithm>
#include <cstddef>

namespace fuelrail {

// Threads: one at a time; the engine calls it under its lock.
class ReadDepth {
 public:
  // Never fewer than `least` reads, which it begins with, nor more than `most`, where `least` is
  // not more. least = 0: reads one after the other, and stays so.
  ReadDepth(size_t least, size_t most)
      : least_(least), most_(std::max(least, most)), reads_(least) {}

  size_t reads() const { return reads_; }

  // Records to plan ahead, in flight or waiting for a worker; 0 = the prefetched batches will do.
  size_t ahead() const { return reads_ > least_ ? 2 * reads_ : 0; }

  // Nothing is read or worked on: an order begins, from empty.
  void begin() { worked_ = false; }
  // A worker has done a record.
  void processed() { worked_ = true; }

  // `records` have come; `starving` = no other was waiting for a worker. Returns: whether `reads`
  // has changed.
  bool arrived(size_t records, bool starving);

 private:
  static constexpr size_t kPatience = 16;
  static constexpr size_t kMaxPatience = 1024;

  bool grow();
  bool shrink();

  size_t least_;
  size_t most_;
  size_t reads_;
  bool worked_ = false;  // a record was done since `begin`
  size_t in_round_ = 0;
  bool starved_ = false;  // in this round
  bool shrank_ = false;   // when it last changed
  size_t calm_rounds_ = 0;
  size_t patience_ = kPatience;
};

}  // namespace fuelrail
