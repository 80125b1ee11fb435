// The work of Benzina's loader: decodes each record's still and warps its planes into a row.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/guarded.h"
#include "fuelrail/container/container.h"
#include "fuelrail/loader/loader.h"
#include "fuelrail/transform/still_parameters.h"
#include "fuelrail/transform/still_warp.h"

namespace fuelrail::benzina {

// The parameters of the rows of an epoch, by the position of their sample. The thread that feeds
// batches adds those of each batch before it feeds the batch; workers read them. Threads: any.
class FedRows {
 public:
  // Adds the parameters of a batch whose first sample has this position. Batches are added in
  // order; those that an abandoned epoch has added from this position on are removed.
  void add(uint64_t position, std::vector<StillParameters> rows);

  // Removes the batches before this position.
  void remove_before(uint64_t position);

  // Errors: StateError for a position that was not added.
  StillParameters at(uint64_t position) const;

 private:
  mutable Mutex mutex_;
  std::map<uint64_t, std::vector<StillParameters>> batches_ FUELRAIL_GUARDED_BY(mutex_);
};

struct StillWorkOptions {
  Size output{};
  StillOptions still{};
};

// Work with one column, float32 of shape [3, height, width]. Requires: the container has a field
// `image`; a FedSampler whose world has one rank, so that the n-th sample has the position n.
// Errors: InvalidArgumentError for an output without pixels. Errors of a row: those of parsing and
// decoding; UnsupportedError for an image that is not stored as planes (Decoding::has_planes).
LoaderWork still_work(std::shared_ptr<const Container> container,
                      std::shared_ptr<const FedRows> rows, const StillWorkOptions& options);

// The sizes of the images of these records. Those that the container does not know are read.
// Errors: those of read_sample and of `probe`, with the record.
std::vector<Size> image_sizes(const Container& container, std::span<const uint64_t> records);

}  // namespace fuelrail::benzina
