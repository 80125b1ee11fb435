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

namespace fuelrail::pack {

// One image as the source has it. Reused from image to image.
struct SourceImage {
  uint64_t id = 0;
  std::vector<float> labels;
  EncodedImage encoded;     // a view into `storage` or `sample`, or of the source's memory
  ConstImageView pixels{};  // if its data is set: replaces `encoded`
  std::vector<std::byte> storage;
  Sample sample;
};

// Immutable. Threads: any number may call any method at once.
class PackSource {
 public:
  virtual ~PackSource() = default;
  PackSource& operator=(PackSource&&) = delete;

  virtual uint64_t size() const = 0;

  // Class names, by label; empty for a list of numbers without class names.
  virtual const std::vector<std::string>& classes() const = 0;

  // The path of image i, for messages. Requires: i < size().
  virtual std::string path(uint64_t i) const = 0;

  // All that is known about image i without reading it; used to tell sources apart.
  virtual std::string description(uint64_t i) const { return path(i); }

  // Number of images with more than one label.
  virtual uint64_t with_several_labels() const { return 0; }

  // Reads image i. Requires: i < size(). Errors of this one image: NotFoundError, IoError,
  // TruncatedError; UnsupportedError, before any memory is allocated, if it is too long for a
  // record.
  virtual void read(uint64_t i, SourceImage& out) const = 0;
};

// The samples of a container; a sample's id is its index. Requires: the container's schema is that
// of a folder of images (files/folder_scan.h).
std::unique_ptr<PackSource> source_of_images(std::shared_ptr<const Container> images);

// A directory is opened with open_container; an image's id is its index. A list is read with
// read_image_list by `rules`, with paths relative to `root`. `options.warn` receives the warnings
// of open_container, and one about ids that repeat in a list. Errors: NotFoundError, IoError,
// CorruptError (see image_list.h and open_source.h; also for a source without images);
// InvalidArgumentError for any other kind of source, and for a `root` with a directory.
std::unique_ptr<PackSource> open_pack_source(const std::string& uri, const std::string& root,
                                             const OpenOptions& options,
                                             const ListRules& rules = {});

}  // namespace fuelrail::pack
