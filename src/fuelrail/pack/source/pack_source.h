// What is packed: images in one order, each with an id and labels. A folder or a list.
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

namespace fuelrail::pack {

// One image as it was found. Reused from image to image.
struct SourceImage {
  uint64_t id = 0;
  std::vector<float> labels;
  EncodedImage encoded;     // a view into what follows, or of the source's own
  ConstImageView pixels{};  // with data: what there is in place of encoded bytes
  std::vector<std::byte> storage;
  Sample sample;
};

// Immutable. Threads: every method may be called from any thread at once.
class PackSource {
 public:
  virtual ~PackSource() = default;
  PackSource& operator=(PackSource&&) = delete;

  virtual uint64_t size() const = 0;

  // Names of the classes, by label; empty for a list of numbers that nobody has named.
  virtual const std::vector<std::string>& classes() const = 0;

  // Of image i, for people. Requires: i < size().
  virtual std::string path(uint64_t i) const = 0;

  // All that is known of image i without reading it, for telling sources apart.
  virtual std::string description(uint64_t i) const { return path(i); }

  // How many images have more than one label.
  virtual uint64_t with_several_labels() const { return 0; }

  // Requires: i < size(). Errors: NotFoundError, IoError, TruncatedError for this one image;
  // UnsupportedError, before any memory is taken, for one that is too long for a record.
  virtual void read(uint64_t i, SourceImage& out) const = 0;
};

// The samples of a container, each with its index as its id. Requires: its schema is that of a
// folder of images (files/folder_scan.h).
std::unique_ptr<PackSource> source_of_images(std::shared_ptr<const Container> images);

// A directory: what open_container makes of it; an image's id is its index there. A list: what
// read_image_list makes of it by `rules`, relative to `root`. `options.warn` hears, beside what
// open_container says, of ids that a list has more than once. Errors: NotFoundError, IoError,
// CorruptError (see image_list.h and open_source.h; also when there is no image);
// InvalidArgumentError for anything else, and for a root that is given with a directory.
std::unique_ptr<PackSource> open_pack_source(const std::string& uri, const std::string& root,
                                             const OpenOptions& options,
                                             const ListRules& rules = {});

}  // namespace fuelrail::pack
