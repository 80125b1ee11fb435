// The record files of one MXNet iterator, joined into one container of image records. Each sample
// has an image and its labels as float32, whatever schema its file has.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/listener.h"
#include "fuelrail/base/ranges.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/open.h"

namespace fuelrail::mxnet {

// Immutable. Schema: image; label, tensor float32 [-1]. A sample's id is the id in its image
// header. `parse` throws CorruptError for a record that is not an image record.
class RecordFiles final : public Container {
 public:
  // Opens RecordIO files and uses their sidecars in the same way as fuelrail.open. Requires: `uris`
  // is not empty. Errors: those of recordio::open_recordio.
  explicit RecordFiles(const std::vector<std::string>& uris, const OpenOptions& options = {});

  uint64_t size() const override { return records_.size(); }
  const Schema& schema() const override { return schema_; }
  Extent extent(uint64_t i) const override;
  void parse(uint64_t i, Bytes framed, Sample& out) const override;
  Place place(uint64_t i) const override;
  const std::vector<std::string>& classes() const override { return files_[0]->classes(); }
  const char* format() const override { return "RecordIO"; }
  bool verifies_checksums() const override;

  // The total size of all files in bytes, and the offset of record i in the files joined end to
  // end; offset(size()) is total_bytes(). Requires: i <= size().
  uint64_t total_bytes() const { return bytes_.size(); }
  uint64_t offset(uint64_t i) const;
  // The first record that begins at or after `offset`; size() if there is none.
  uint64_t first_from(uint64_t offset) const;

  // The largest number of labels in a record, read from the image headers only. Calls
  // `open.keep_going` from time to time. Errors: CorruptError for a record that is not an image
  // record; the sources'; StateError if keep_going stops the search.
  uint64_t most_labels(const OpenOptions& open = {}) const;

 private:
  uint64_t label_count(uint64_t i) const;
  Fingerprint make_fingerprint(const KeepGoing& keep_going) const override;

  Schema schema_;
  std::vector<std::shared_ptr<const Container>> files_;
  Ranges records_;  // of each file
  Ranges bytes_;
};

}  // namespace fuelrail::mxnet
