// What a user says of a loader. What changes results stands apart from what changes only speed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fuelrail/base/option.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/engine/engine.h"
#include "fuelrail/engine/error_policy.h"
#include "fuelrail/sampler/epoch_sampler.h"
#include "fuelrail/sampler/shard.h"
#include "fuelrail/transform/normalize.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail {

// An order that a function makes, of `shard` from `start` on. It is called at each restart; a
// sampler that waits (feed.h) must be woken then, and before the loader is stopped or destroyed.
struct FedOrder {
  std::function<std::unique_ptr<Sampler>(Progress start, const Shard& shard)> make;
  uint64_t rows = 1;  // of a batch, at most, until Loader::reserve says more
  uint64_t seed = 0;  // of random transforms
  Shard shard{};
};

// What every loader has.
struct LoaderOptions {
  // Results.
  std::variant<OrderOptions, FedOrder> order{};
  ErrorPolicy errors{};  // a fraction is of this rank's share; of a fed order: of all records
  // Speed. `warn` is also called once each, by a worker's thread, for the first image that loses
  // bits and for the first that loses alpha.
  EngineOptions engine{};
  std::optional<double> stall_timeout{};  // seconds that `next` waits; default: for ever

  static const OptionTable<LoaderOptions>& table();  // of those that change speed only
  uint64_t seed() const;
  const Shard& shard() const;
};

enum class Orientation : uint8_t { kApply, kIgnore };

// What a loader of images makes of a record. All of it changes results.
struct ImageOptions {
  Transforms transforms{};        // none for a dataset without images: InvalidArgumentError
  DType dtype = DType::kFloat32;  // of the image column
  ImageLayout layout = ImageLayout::kNchw;
  Orientation orientation = Orientation::kApply;
  // Decode JPEGs at 1/8, 1/4 or 1/2 of their size where the first resampling makes them at least as
  // much smaller: faster, and not the pixels of the full decode.
  bool scaled_decode = false;
  int64_t max_pixels = kDefaultMaxPixels;
  // Of the loader's own (encoded: the encoded bytes of the field image; id, index, position, valid,
  // substituted) and of the dataset's: images, tensors, bytes.
  std::vector<std::string> fields{"image", "label"};

  static const OptionTable<ImageOptions>& table();  // of all but transforms and fields
};

}  // namespace fuelrail
