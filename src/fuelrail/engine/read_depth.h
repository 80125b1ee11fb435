// Decides how many reads are in flight: enough that workers do not wait for reads.
//
// Uses no clock and no latency estimate: storage is too slow for the current depth exactly if a
// record arrives while no other record waits for a worker. Then the depth doubles, at most once per
// round (a round is as many records as the depth). After many rounds without such a moment, the
// depth shrinks by an eighth, so that a short slowdown does not keep batches planned far ahead
// forever (unneeded storage threads sleep, but do not end). If a shrink proves wrong, the number of
// rounds before the next one doubles.
//
// When an order begins, no records wait for a worker even with fast storage, so arrivals before a
// worker has finished its first record are not counted. The depth is kept from order to order,
// because an order may be a single batch.
#pragma once

#include <algorithm>
#include <cstddef>

namespace fuelrail {

// Threads: one at a time; the engine calls it under its lock.
class ReadDepth {
 public:
  // Starts with `least` reads and stays between `least` and max(least, most). least = 0: always one
  // read after the other.
  ReadDepth(size_t least, size_t most)
      : least_(least), most_(std::max(least, most)), reads_(least) {}

  size_t reads() const { return reads_; }

  // The number of planned records to keep in flight or waiting for a worker. 0 = plan only the
  // prefetched batches.
  size_t ahead() const { return reads_ > least_ ? 2 * reads_ : 0; }

  // A new order begins; nothing is being read or processed.
  void begin() { worked_ = false; }
  // A worker has finished a record.
  void processed() { worked_ = true; }

  // `records` have arrived; `starving`: no other record was waiting for a worker. Returns: whether
  // `reads` has changed.
  bool arrived(size_t records, bool starving);

 private:
  static constexpr size_t kPatience = 16;
  static constexpr size_t kMaxPatience = 1024;

  bool grow();
  bool shrink();

  size_t least_;
  size_t most_;
  size_t reads_;
  bool worked_ = false;  // a record was finished since `begin`
  size_t in_round_ = 0;
  bool starved_ = false;  // starving in this round
  bool shrank_ = false;   // the last change was a shrink
  size_t calm_rounds_ = 0;
  size_t patience_ = kPatience;
};

}  // namespace fuelrail
