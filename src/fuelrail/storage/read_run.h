// Joins requests into one read: neighbours in one file, each with its own buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "fuelrail/base/listener.h"
#include "fuelrail/storage/read_queue.h"

namespace fuelrail {

// The largest gap between two requests that are read as one; the bytes in the gap are read and
// dropped. From the page cache, a second read costs as much CPU time as copying 16 KiB
// (storage_benchmark, NeighboursOverAGap), so joining across 8 KiB still saves a sixth of the CPU
// time. A device reads whole pages anyway.
inline constexpr size_t kMaxGapBytes = 8192;
// A longer read would leave less work for other threads, and delay the records that it has already
// read.
inline constexpr size_t kMaxRunBytes = size_t{1} << 20;
inline constexpr size_t kMaxRunRequests = 64;

// Whether the request's range was within the source when it was opened; if not, Source::read
// reports the error.
bool lies_within(const ReadRequest& request);

// The requests sorted by source and offset, so that neighbours are adjacent. Requests for sources
// without a descriptor are never joined: they come first, in their original order.
std::vector<ReadRequest> in_order_of_place(std::span<const ReadRequest> requests);

// Whether `next` can join a run of `bytes` bytes that ends with `last`. Requires: the source of
// `last` has a descriptor.
bool joins(const ReadRequest& last, const ReadRequest& next, size_t bytes);

// The number of requests from `begin` on that become one read, at least 1. Only requests for
// sources with a descriptor are joined, because only those read many pieces in one call.
template <std::forward_iterator Requests>
size_t run_length(Requests begin, Requests end) {
  size_t bytes = begin->into.size();
  if (bytes == 0) return 1;
  size_t count = 1;
  for (Requests last = begin, next = std::next(begin);
       next != end && count < kMaxRunRequests && joins(*last, *next, bytes); ++last, ++next) {
    if (count == 1 && begin->source->descriptor() < 0) break;
    bytes +=
        static_cast<size_t>(next->offset - last->offset) - last->into.size() + next->into.size();
    ++count;
  }
  return count;
}

struct ReadRun {
  std::vector<ReadRequest> requests;  // never empty after assign or take_from
  std::vector<MutableBytes> pieces;   // their buffers, and `gap` between them
  std::unique_ptr<std::byte[]> gap;   // receives dropped bytes: null, or kMaxGapBytes

  uint64_t offset() const { return requests.front().offset; }

  // Sets the requests. Requires: run_length(begin, end) allows all of them, or there is only one.
  // Errors: bad_alloc.
  template <std::forward_iterator Requests>
  void assign(Requests begin, Requests end) {
    requests.assign(begin, end);
    lay_out_pieces();
  }
  // Takes the first pending request and, unless `alone`, the following ones that can join it.
  // Errors: bad_alloc, which takes no request.
  void take_from(std::deque<ReadRequest>& pending, bool alone);

 private:
  void lay_out_pieces();
};

// Decides which requests are read directly, bypassing the page cache. Threads: any.
class DirectReads {
 public:
  DirectReads(bool wanted, Warn warn) : wanted_(wanted), warn_(std::move(warn)) {}

  // Whether to try a direct read of the request. If so, the request is not joined with others.
  bool wanted_for(const ReadRequest& request) const {
    return wanted_ && !request.source->refuses_direct_reads();
  }
  // The aligned memory and offset of a request's direct read; empty if it cannot be read directly.
  struct Span {
    int descriptor;
    uint64_t offset;
    MutableBytes into;
    size_t needed;  // bytes from `offset` to the end of the request
  };
  std::optional<Span> span_of(const ReadRequest& request) noexcept;
  // Reports that a direct read has failed with errno `error`. If direct reads are not supported,
  // the source gets no more of them.
  void read_failed(const Source& source, int error) noexcept;

 private:
  std::optional<Span> aligned_span_of(const ReadRequest& request);
  template <typename Text>
  void warn_once(std::once_flag& warned, const Text& text) noexcept;
  void not_held_open(const Source& source);
  void open_failed(const Source& source, int error);
  void refused(const Source& source, int error);

  const bool wanted_;
  const Warn warn_;
  std::once_flag warned_of_closed_;
  std::once_flag warned_of_refusal_;
  std::once_flag warned_of_lack_;
};

// The completion of a request whose bytes have been read, with an error if their CRC-32 is wrong.
// If there is no memory for the error, the completion of this function, `perform` and `cancelled`
// has a bad_alloc instead.
Completion checked(const ReadRequest& request) noexcept;

// Reads and checks a request. Returns: its completion. Only the completion refers to an error; the
// thread that caught it keeps no reference.
Completion perform(const ReadRequest& request, DirectReads& direct) noexcept;

// Reads and checks a whole run. If that fails, reads each request separately, so that each gets its
// own error. Errors: bad_alloc, unless `done` has room for all completions.
void perform(const ReadRun& run, DirectReads& direct, std::vector<Completion>& done);

Completion cancelled(const ReadRequest& request) noexcept;

}  // namespace fuelrail
