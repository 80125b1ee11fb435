// Reads a batch of requests and waits for it. Bytes in the page cache are read on the calling
// thread, without a queue; all other requests are in flight at the same time.
#pragma once

#include <span>
#include <vector>

#include "fuelrail/storage/read_queue.h"

namespace fuelrail {

// Neighbouring requests become one read; the thread that read the bytes verifies the checksum. The
// queue comes from the process's pool (read_queue_pool.h). Returns: the completions of the failed
// requests, in any order; the buffers of all other requests are filled. Threads: any. Errors: those
// of make_read_queue; WouldWait (at_hand.h), which leaves no read in flight.
std::vector<Completion> read_batch(std::span<const ReadRequest> requests,
                                   const ReadOptions& options);

// As `read_batch`, for the few simultaneous reads that opening a file needs. Bytes outside the page
// cache are read by threads that end with the call, so that opening a file leaves no thread behind.
// Ignores `crc` and `room`. Returns, Threads: as for `read_batch`. Errors: bad_alloc.
std::vector<Completion> read_at_once(std::span<const ReadRequest> requests);

// As `read_at_once`, for reads that must all succeed. Errors: the error of the first request that
// failed.
void read_all(std::span<const ReadRequest> requests);

}  // namespace fuelrail
