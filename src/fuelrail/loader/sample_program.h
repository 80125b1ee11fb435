// How a loader fills a batch: for each column, the source of its values and how they are processed;
// and what moves with each image.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fuelrail/batch/layout.h"
#include "fuelrail/container/sample.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/decode/values.h"
#include "fuelrail/loader/options.h"
#include "fuelrail/transform/coordinates.h"
#include "fuelrail/transform/normalize.h"
#include "fuelrail/transform/plan.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail {

// --- What moves ---

// A "leader": an image field that refers to no other image, or a list of such images. Each has its
// own random numbers (base/philox.h), unless ImageOptions::shared says otherwise.
struct LeaderProgram {
  size_t field = 0;    // in the schema
  uint32_t draws = 0;  // the leader whose random numbers it takes: itself or an earlier one
  Transforms transforms;
  bool moves = false;           // whether columns of other fields move with it
  std::vector<size_t> boxes{};  // indices in SampleProgram::boxes, if the transforms need boxes
};

// A field of boxes.
struct BoxesProgram {
  size_t field = 0;
  std::string name{};
  DType dtype = DType::kFloat32;
  size_t leader = 0;  // index in SampleProgram::leaders
  BoxFormat format = BoxFormat::kXyxy;
  CoordinateForm form{};
};

// A field of points.
struct PointsProgram {
  size_t field = 0;
  DType dtype = DType::kFloat32;
  size_t leader = 0;
  CoordinateForm form{};
  int64_t numbers = 2;  // of each point
};

// The objects to which a group of fields has a row each. An object stays if one of its boxes stays
// or, in a group without boxes, one of its points is shown (KeepOptions::drop_points).
struct ObjectsProgram {
  std::vector<size_t> boxes{};  // indices in SampleProgram::boxes
  std::vector<PointsProgram> points{};
};

// --- Columns ---

// The extents of an image in its layout.
std::array<int64_t, 3> image_shape(ImageLayout layout, Size size, int64_t channels);

// How pixels are written.
struct PixelColumn {
  PixelWriter writer;
  DType dtype = DType::kFloat32;
  ImageLayout layout = ImageLayout::kNchw;
  std::optional<Size> fixed{};  // the size of all images after the transforms
};

// The pixels of a leader, or of each item of a list of images.
struct LeaderPixels {
  size_t leader = 0;
  PixelColumn pixels;
  bool list = false;
};

// The pixels of an image that moves with a leader.
struct PartnerPixels {
  size_t field = 0;
  size_t leader = 0;
  Follower follower = Follower::kPartner;
  PixelColumn pixels;
};

// The numbers of a mask.
struct MaskValues {
  size_t field = 0;
  size_t leader = 0;
  ValueEncoding encoding = ValueEncoding::kStored;
  uint32_t fill = 0;
  DType dtype = DType::kUint8;  // uint8, uint16, int32 or int64
  bool fixed = false;           // whether all masks have the same size after the transforms
};

// The values of a map: an encoded image or a tensor (H, W) or (H, W, C).
struct MapValues {
  size_t field = 0;
  size_t leader = 0;
  bool vectors = false;  // whether the values may be vectors
  float fill = 0;
  int64_t channels = 1;  // -1: they differ
  ImageLayout layout = ImageLayout::kNchw;
  bool fixed = false;
};

// The boxes of the objects that stay.
struct MovedBoxes {
  size_t boxes = 0;    // index in SampleProgram::boxes
  size_t objects = 0;  // index in SampleProgram::objects
  BoxFormat format = BoxFormat::kXyxy;
  CoordinateForm form{};
};

struct MovedPoints {
  PointsProgram points;
  std::optional<size_t> objects{};  // empty: all stay
};

struct MovedCamera {
  size_t field = 0;
  size_t leader = 0;
};

// Values with a row for each object.
struct KeptRows {
  size_t field = 0;
  size_t objects = 0;
};

// The map from the coordinates of a leader to those of the result, as two rows of a matrix.
struct AffineRows {
  size_t leader = 0;
};

// The height and width of an image before the transforms, upright if the loader turns it.
struct ImageSize {
  size_t field = 0;
};

struct TensorCopy {
  size_t field = 0;
};

// The bytes of a field of bytes or text, or of each item of its list.
struct BytesCopy {
  size_t field = 0;
  bool list = false;
};

// An encoded image as a file of its own: its bytes, or its whole record if the bytes do not stand
// alone. So records must be read whole (container/whole_records.h).
struct EncodedCopy {
  size_t field = 0;
};

// Values of a row that are not fields of its sample.
enum class RowValue : uint8_t { kId, kIndex, kPosition, kValid, kSubstituted };

struct ColumnProgram {
  ColumnSpec column;
  std::variant<LeaderPixels, PartnerPixels, MaskValues, MapValues, MovedBoxes, MovedPoints,
               MovedCamera, KeptRows, AffineRows, ImageSize, TensorCopy, BytesCopy, EncodedCopy,
               RowValue>
      source;
};

struct SampleProgram {
  std::vector<LeaderProgram> leaders;
  std::vector<BoxesProgram> boxes;
  std::vector<ObjectsProgram> objects;
  std::vector<ColumnProgram> columns;
  KeepRule keep{};
  Orientation orientation = Orientation::kApply;
  bool scaled_decode = false;
  int64_t max_pixels = kDefaultMaxPixels;
};

// The properties of an image field of the dataset's first record that can be read; empty if there
// are no records. They decide the element type of masks and the number of channels of maps.
using FirstImage = std::function<std::optional<ImageInfo>(size_t field)>;

// The columns that `options.fields` selects (field_patterns.h). Types and shapes are those of the
// schema. A column of images is ragged if the transforms do not fix the size; a list of images has
// rows (n, ...) if they do, else lists. Errors: InvalidArgumentError for `fields` that
// select_columns refuses, transforms or a pixel format that `check` refuses, transforms for a
// dataset without image fields, patterns that check_patterns refuses, an element type that a mask
// or map cannot have or that does not hold a mask's `fill`, a RandomIoUCrop of an image without
// boxes, too many image fields, and a pattern that packs rows which differ in other dimensions than
// the first; UnsupportedError for fields that refer to a list of images, lists of masks, and a
// custom stage that moves the pixels of an image with which others move.
SampleProgram sample_program(const Schema& schema, const ImageOptions& options,
                             const FirstImage& first_image = {});

// The names of the columns that are not fields of the dataset: "encoded" if it has an image field
// `image`, "id", "index", "position", "valid", "substituted".
std::vector<std::string> own_columns(const Schema& schema);

}  // namespace fuelrail
