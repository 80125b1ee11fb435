// Requests that become one read: neighbours in one file, each with a buffer of its own.
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

// Bytes between two requests that are read and thrown away, at most. Out of the page cache the
// second read costs as much CPU as copying 16 KiB (storage_benchmark, NeighboursOverAGap): at half
// of that joining saves a sixth. A device reads whole pages anyway.
inline constexpr size_t kMaxGapBytes = 8192;
// A longer read would keep from other threads what they could read meanwhile, and from the caller
// what has come already.
inline constexpr size_t kMaxRunBytes = size_t{1} << 20;
inline constexpr size_t kMaxRunRequests = 64;

// Whether the source had the bytes when it was opened; Source::read says what is missing.
bool lies_within(const ReadRequest& request);

// The requests in the order of their offsets, source by source, so that neighbours stand together.
// Those of sources without a descriptor, which have no neighbours, come first and keep their order.
std::vector<ReadRequest> in_order_of_place(std::span<const ReadRequest> requests);

// Whether `next` can join a run of `bytes` bytes that ends with `last`, which has a descriptor.
bool joins(const ReadRequest& last, const ReadRequest& next, size_t bytes);

// How many requests from `begin` on become one read, at least 1. Only sources with a descriptor
// read many pieces in one call, so only theirs are joined.
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
  std::vector<ReadRequest> requests;  // never empty once taken
  std::vector<MutableBytes> pieces;   // their buffers, and what takes the bytes between them
  std::unique_ptr<std::byte[]> gap;   // that; kMaxGapBytes once it is needed

  uint64_t offset() const { return requests.front().offset; }

  // Makes these its requests, of which there are as many as run_length says, or one. Errors:
  // bad_alloc.
  template <std::forward_iterator Requests>
  void assign(Requests begin, Requests end) {
    requests.assign(begin, end);
    lay_out_pieces();
  }
  // Takes the first request, and those after it that join it; `alone` = no other. Errors:
  // bad_alloc; none was taken then.
  void take_from(std::deque<ReadRequest>& pending, bool alone);

 private:
  void lay_out_pieces();
};

// Which requests are read past the page cache. Threads: any.
class DirectReads {
 public:
  DirectReads(bool wanted, Warn warn) : wanted_(wanted), warn_(std::move(warn)) {}

  // Whether a direct read of the request is to be tried: then it is read alone.
  bool wanted_for(const ReadRequest& request) const {
    return wanted_ && !request.source->refuses_direct_reads();
  }
  // The aligned memory and offset of a request's direct read; empty where there can be none.
  struct Span {
    int descriptor;
    uint64_t offset;
    MutableBytes into;
    size_t needed;  // bytes from `offset` on, up to the end of the request
  };
  std::optional<Span> span_of(const ReadRequest& request) noexcept;
  // Why a direct read has failed. Where that means that none will do, it was the source's last.
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

// The completion of a request whose bytes have come: with an error where their CRC-32 is wrong.
// A request completes whatever happens: where there is no memory for the error that it has, with a
// bad_alloc. So do those of `perform` and `cancelled`.
Completion checked(const ReadRequest& request) noexcept;

// Reads and checks. Returns: the completion; the error has left its handler, so that no thread but
// the one that takes the completion holds it.
Completion perform(const ReadRequest& request, DirectReads& direct) noexcept;

// Reads and checks a whole run; where that fails, each request by itself, so that each gets its own
// error. Errors: bad_alloc, unless `done` has room for all of them.
void perform(const ReadRun& run, DirectReads& direct, std::vector<Completion>& done);

Completion cancelled(const ReadRequest& request) noexcept;

}  // namespace fuelrail
