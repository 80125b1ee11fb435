// A batch of reads, waited for: what is in the page cache is read at once on the calling thread,
// without a queue between; for the rest all requests are in flight at the same time.
#pragma once

#include <span>
#include <vector>

#include "fuelrail/storage/read_queue.h"

namespace fuelrail {

// Neighbours become one read; checksums are verified by whoever has read. The queue is lent by the
// process (read_queue_pool.h). Returns: the completions of those that failed, in no order; each
// request has failed or has its bytes. Threads: any. Errors: those of make_read_queue;
// WouldWait (at_hand.h), with nothing in flight.
std::vector<Completion> read_batch(std::span<const ReadRequest> requests,
                                   const ReadOptions& options);

// A few reads at once, as opening a file needs them: what is not in the page cache is read by
// threads that end with the call, so that who opens a file is left with no thread. `crc` and `room`
// are not looked at. Returns and threads: as read_batch. Errors: bad_alloc.
std::vector<Completion> read_at_once(std::span<const ReadRequest> requests);

// The same, of reads that all must succeed. Errors: that of the first which failed.
void read_all(std::span<const ReadRequest> requests);

}  // namespace fuelrail
