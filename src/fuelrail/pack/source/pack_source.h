// The images to pack, in one order, each with an id and labels: a folder or a list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/container/files/image_list.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/sample.h"
#include "fuelrail/container/sidecar/field_classes.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/pack/source/sample_source.h"

namespace fuelrail::pack {

// One image as the source stores it. The object is reused for the next image, to keep its memory.
struct SourceImage {
  uint64_t id = 0;
  std::string name;  // of its file, without folders; empty: it has none
  std::vector<float> labels;
  EncodedImage encoded;     // a view into `storage`, `sample` or the source's memory
  ConstImageView pixels{};  // if its data is set, used instead of `encoded`
  std::vector<std::byte> storage;
  Sample sample;

  // Of a source of samples (sample_records.h): `storage` is the payload of the record.
  bool is_record = false;
  SourceSample values;
  bool ended = false;  // there is no image i, because the source is a stream that has ended
};

// Immutable. Threads: any number may call any method at once.
class PackSource {
 public:
  virtual ~PackSource() = default;
  PackSource& operator=(PackSource&&) = delete;

  virtual uint64_t size() const = 0;

  // Whether the number of images becomes known only by reading them: `size` is 0, and `read` is
  // called once for each of 0, 1, 2, ..., by any threads, until it sets SourceImage::ended.
  virtual bool is_stream() const { return false; }

  // "image" or "sample": for messages.
  virtual const char* thing() const { return "image"; }

  // What the records are, apart from the images themselves. A resumed job compares these texts.
  virtual std::string contents() const { return ""; }

  // The class names, by label; empty if the labels are numbers without class names.
  virtual const std::vector<std::string>& classes() const = 0;

  // The class names of fields other than `label`.
  virtual const FieldClasses& field_classes() const {
    static const FieldClasses kNone;
    return kNone;
  }

  // The id of image i. Requires: i < size(). Errors: as for `read`.
  virtual uint64_t id(uint64_t i) const = 0;

  // The path of image i, for messages. Requires: i < size().
  virtual std::string path(uint64_t i) const = 0;

  // Everything that is known about image i without reading it. A resumed job compares these texts
  // to check that the source is the same.
  virtual std::string description(uint64_t i) const { return path(i); }

  // A named part of the images: those from the end of the part before it to `end` (exclusive).
  struct Split {
    std::string name;
    uint64_t end = 0;
  };
  // The splits that the output stores, in order; none, or all images are in one of them.
  virtual const std::vector<Split>& splits() const {
    static const std::vector<Split> kNone;
    return kNone;
  }

  // The sidecar of the file with the images. The output keeps its sections that cannot be rebuilt.
  // Null if there is no sidecar.
  virtual const Sidecar* sidecar() const { return nullptr; }

  // Number of images with more than one label.
  virtual uint64_t with_several_labels() const { return 0; }

  // Reads image i. Requires: i < size(), or is_stream(). Errors, which affect only this image:
  // NotFoundError, IoError, TruncatedError; UnsupportedError, before any memory is allocated, if
  // the image is too long for a record.
  virtual void read(uint64_t i, SourceImage& out) const = 0;

  // As in SampleSource.
  virtual std::shared_ptr<const void> begin_thread() const { return nullptr; }
};

// `thing`: "image" or "sample". Errors: UnsupportedError if it has more bytes than a record can
// have.
void check_record_length(uint64_t bytes, const char* thing = "image");

// Opens the source of a packing job. A directory is opened with open_input; an image's id is its
// index. A list is read with read_image_list under `rules`; its paths are relative to `root`.
// `options.warn` receives the warnings of open_container, and a warning about ids that repeat in a
// list. Errors: NotFoundError; IoError; CorruptError as in image_list.h and open_source.h, and for
// a source without images; InvalidArgumentError for any other kind of source, and for a `root` that
// is given for a directory.
std::unique_ptr<PackSource> open_pack_source(const std::string& uri, const std::string& root,
                                             const OpenOptions& options,
                                             const ListRules& rules = {});

}  // namespace fuelrail::pack
