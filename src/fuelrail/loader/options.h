// A loader's options. Those that change results are separate from those that change only speed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/option.h"
#include "fuelrail/batch/layout.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/engine/engine.h"
#include "fuelrail/engine/error_policy.h"
#include "fuelrail/sampler/epoch_sampler.h"
#include "fuelrail/sampler/shard.h"
#include "fuelrail/transform/coordinates.h"
#include "fuelrail/transform/normalize.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail {

// An order whose sampler is made by the function `make`, for `shard` and from `start` on. The
// function is called at each restart. A sampler that waits (feed.h) must be woken before a restart,
// and before the loader is stopped or destroyed.
struct FedOrder {
  std::function<std::unique_ptr<Sampler>(Progress start, const Shard& shard)> make;
  uint64_t rows = 1;  // the most rows in a batch, until Loader::reserve raises it
  uint64_t seed = 0;  // for random transforms
  Shard shard{};
};

// The options of every loader.
struct LoaderOptions {
  // Results.
  std::variant<OrderOptions, FedOrder> order{};
  // A fraction in `max_bad` is one of this rank's share of the epoch or, for a fed order, of all
  // records.
  ErrorPolicy errors{};
  // Speed. In addition, `engine.warn` is called on a worker's thread for the first image that loses
  // bits, the first one that loses alpha, and the first one whose entry points are wrong.
  EngineOptions engine{};
  std::optional<double> stall_timeout{};  // seconds that `next` waits; default: no limit

  static const OptionTable<LoaderOptions>& table();  // the options that change only speed
  uint64_t seed() const;
  const Shard& shard() const;
};

enum class Orientation : uint8_t { kApply, kIgnore };

// Values for the fields whose names match a pattern, in which `*` stands for any characters, dots
// too: {{"cameras.*.image", value}}. At most one pattern may match a field.
template <typename Value>
using ByPattern = std::vector<std::pair<std::string, Value>>;

// How columns of boxes are written: in pixels, or relative to the size of the image after the
// transforms.
struct BoxColumns {
  BoxFormat format = BoxFormat::kXyxy;
  bool relative = false;
  friend bool operator==(const BoxColumns&, const BoxColumns&) = default;
};

// How a loader turns a record into images and other columns. All of these options change results.
struct ImageOptions {
  // Of the images that no pattern in `transforms_of` matches. Must be empty for a dataset without
  // images. A list of images in one field has one draw of random numbers for all items.
  Transforms transforms{};
  DType dtype = DType::kFloat32;            // of the images that no pattern in `dtype_of` matches
  ImageLayout layout = ImageLayout::kNchw;  // likewise; also of maps
  Orientation orientation = Orientation::kApply;
  // Decode a JPEG at 1/8, 1/4 or 1/2 of its size if the first resampling shrinks it at least that
  // much. This is faster, but the pixels differ from those of the full decode.
  bool scaled_decode = false;
  int64_t max_pixels = kDefaultMaxPixels;
  // How columns of numbers are delivered if rows differ in size, except those of fields that a
  // pattern in `ragged_of` matches. A column whose rows differ in other dimensions than the first
  // cannot be packed and stays a list.
  Ragged ragged = Ragged::kList;
  // Default: the format of the field, in pixels.
  std::optional<BoxColumns> boxes{};
  // Which objects stay. Those that do not go from all fields with a row for each object.
  KeepRule keep{};
  // Whether objects without boxes go if none of their points is shown.
  bool drop_points = false;
  // Groups of images that draw the same random numbers: names, or patterns of names.
  std::vector<std::vector<std::string>> shared{};
  // The columns: names of the loader's own fields (encoded: the encoded bytes of the field `image`;
  // id, index, position, valid, substituted) and of the dataset's fields, groups of these
  // ("cameras"), patterns ("cameras.*.image"), "image.size" for the height and width of an image
  // field before the transforms, and "image.affine" for the map from its coordinates to those after
  // the transforms.
  std::vector<std::string> fields{"image", "label"};

  ByPattern<Transforms> transforms_of{};
  ByPattern<DType> dtype_of{};
  ByPattern<ImageLayout> layout_of{};
  ByPattern<Ragged> ragged_of{};

  // All but `transforms`, `shared`, `fields` and the values by pattern.
  static const OptionTable<ImageOptions>& table();
};

}  // namespace fuelrail
