// The record files of one MXNet iterator, one after the other, as image records: whatever each file
// says of its labels, a sample here has an image and its labels as float32.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/listener.h"
#include "fuelrail/base/ranges.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/open.h"

namespace fuelrail::mxnet {

// Immutable. Schema: image; label, tensor float32 [-1]. Ids are those of the image headers. What is
// no image record is a CorruptError when it is parsed.
class RecordFiles final : public Container {
 public:
  // Opens RecordIO files, by their sidecars as fr.open does. Requires: `uris` is not empty. Errors:
  // those of opening RecordIO.
  explicit RecordFiles(const std::vector<std::string>& uris, const OpenOptions& options = {});

  uint64_t size() const override { return records_.size(); }
  const Schema& schema() const override { return schema_; }
  Extent extent(uint64_t i) const override;
  void parse(uint64_t i, Bytes framed, Sample& out) const override;
  Place place(uint64_t i) const override;
  const std::vector<std::string>& classes() const override { return files_[0]->classes(); }
  const char* format() const override { return "RecordIO"; }
  bool verifies_checksums() const override;

  // Bytes of all files, and where record i begins in them as if they were one. Of `size()`: the
  // end. Requires: i <= size().
  uint64_t total_bytes() const { return bytes_.size(); }
  uint64_t offset(uint64_t i) const;
  // The first record that does not begin before `offset`; size() where there is none.
  uint64_t first_from(uint64_t offset) const;

  // The most labels that a record has, by their headers alone. `open.keep_going` is asked now and
  // then. Errors: CorruptError for what is no image record; the sources'; StateError.
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
