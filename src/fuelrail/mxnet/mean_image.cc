#include "fuelrail/mxnet/mean_image.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string_view>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::mxnet {
namespace {

constexpr uint64_t kListMagic = 0x112;
constexpr uint32_t kArrayMagic1 = 0xf993fac8;  // without a storage type
constexpr uint32_t kArrayMagic2 = 0xf993fac9;
constexpr uint32_t kArrayMagic3 = 0xf993faca;  // as kArrayMagic2, with NumPy's empty shapes
constexpr uint32_t kDimensions = 3;
constexpr std::string_view kName = "mean_img";

// Reads the file from beginning to end, and never past its end.
class ArrayFile {
 public:
  ArrayFile(Bytes bytes, const std::string& uri) : bytes_(bytes), uri_(uri) {}

  template <typename T>
  T take(const char* what) {
    return load_le<T>(take_bytes(sizeof(T), what).data());
  }

  Bytes take_bytes(uint64_t count, const char* what) {
    if (count > bytes_.size() - at_) {
      throw TruncatedError(fmt::format("the mean image ends inside its {}", what),
                           at(0, fmt::format("{} more bytes", count), bytes_.size() - at_));
    }
    const Bytes taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }

  // Errors: CorruptError unless `fits`. The error concerns the number of `size` bytes that was read
  // last.
  void require(bool fits, size_t size, const char* what, const char* expected,
               uint64_t found) const {
    if (fits) return;
    throw CorruptError(fmt::format("the mean image has an invalid {}", what),
                       at(size, expected, fmt::format("{:#x}", found)));
  }

  template <typename T>
  [[noreturn]] void refuse(const char* failure, size_t size, const char* expected, T found) const {
    throw UnsupportedError(failure, at(size, expected, found));
  }

  // Throws CorruptError for value i of the `count` values that were read last.
  [[noreturn]] void refuse_value(size_t i, size_t count, float found) const {
    throw CorruptError("the mean image has a value that is not finite",
                       at((count - i) * sizeof(float), "a finite number", found));
  }

  // Errors: CorruptError unless the whole file has been read.
  void require_end() const {
    if (at_ == bytes_.size()) return;
    throw CorruptError("the mean image has bytes after its end",
                       at(0, "nothing after the array's name",
                          fmt::format("extra bytes: {}", bytes_.size() - at_)));
  }

 private:
  // The detail of an error at the offset `before` bytes before the present position.
  template <typename Found>
  ErrorDetail at(size_t before, std::string expected, const Found& found) const {
    return {.path = uri_,
            .offset = at_ - before,
            .expected = std::move(expected),
            .found = fmt::format("{}", found),
            .remedy = "Delete the file, and the iterator will compute the mean image again"};
  }

  Bytes bytes_;
  const std::string& uri_;
  size_t at_ = 0;
};

// The properties of the file format that the array's first number implies.
struct ArrayHead {
  bool has_storage_type = true;
  bool wide_sides = true;
};

ArrayHead take_array_head(ArrayFile& file) {
  const auto magic = file.take<uint32_t>("array header");
  if (magic == kDimensions) return {.has_storage_type = false, .wide_sides = false};
  file.require(magic == kArrayMagic1 || magic == kArrayMagic2 || magic == kArrayMagic3, 4,
               "array magic number", "0xf993fac8 to 0xf993faca", magic);
  return {.has_storage_type = magic != kArrayMagic1};
}

MxShape take_shape(ArrayFile& file) {
  const ArrayHead head = take_array_head(file);
  if (head.has_storage_type) {
    const auto storage = file.take<int32_t>("storage type");
    if (storage != 0) file.refuse("the mean image is a sparse array", 4, "0 (dense)", storage);
  }
  if (head.wide_sides) {
    const auto dimensions = file.take<uint32_t>("shape");
    file.require(dimensions == kDimensions, 4, "number of dimensions",
                 "3 (channels, height, width)", dimensions);
  }
  const auto take_side = [&] {
    const uint64_t side =
        head.wide_sides ? file.take<uint64_t>("shape") : file.take<uint32_t>("shape");
    file.require(side >= 1 && side <= kLongestSide, head.wide_sides ? 8 : 4, "side length",
                 "1 to 32766", side);
    return static_cast<int64_t>(side);
  };
  MxShape shape;
  shape.channels = take_side();
  shape.height = take_side();
  shape.width = take_side();
  return shape;
}

void require_shape(const std::string& uri, const MxShape& found, const MxShape& wanted) {
  if (found == wanted) return;
  const auto text = [](const MxShape& shape) {
    return fmt::format("({}, {}, {})", shape.channels, shape.height, shape.width);
  };
  throw InvalidArgumentError(
      "the mean image does not have the shape of the images",
      {.path = uri,
       .expected = text(wanted),
       .found = text(found),
       .remedy =
           "Give the path of a new file, and the iterator will write a new mean image to it"});
}

// The name may be anything or be missing, as in MXNet.
void take_names(ArrayFile& file) {
  const auto count = file.take<uint64_t>("names");
  file.require(count <= 1, 8, "number of names", "at most 1 (the number of arrays)", count);
  if (count == 1) file.take_bytes(file.take<uint64_t>("names"), "names");
  file.require_end();
}

template <typename T>
void append(std::string& bytes, T value) {
  std::byte at[sizeof value];
  store_le(at, value);
  bytes.append(as_text(at));
}

}  // namespace

MeanImage parse_mean_image(Bytes bytes, const std::string& uri, const MxShape& shape) {
  ArrayFile file(bytes, uri);
  const auto magic = file.take<uint64_t>("header");
  file.require(magic == kListMagic, 8, "magic number", "0x112 (an MXNet list of arrays)", magic);
  file.take<uint64_t>("header");
  const auto count = file.take<uint64_t>("header");
  if (count != 1) file.refuse("the mean image is not one array", 8, "1 array", count);
  MeanImage mean;
  mean.shape = take_shape(file);
  file.take<int32_t>("device field");
  file.take<int32_t>("device field");
  const auto type = file.take<int32_t>("type field");
  if (type != 0) file.refuse("the mean image is not float32", 4, "type 0", type);
  require_shape(uri, mean.shape, shape);
  const auto elements = static_cast<size_t>(shape.elements());
  const Bytes values = file.take_bytes(elements * sizeof(float), "values");
  mean.values.resize(elements);
  for (size_t i = 0; i < elements; ++i) {
    mean.values[i] = load_le<float>(values.data() + i * sizeof(float));
    if (!std::isfinite(mean.values[i])) file.refuse_value(i, elements, mean.values[i]);
  }
  take_names(file);
  return mean;
}

MeanImage read_mean_image(const std::string& uri, const MxShape& shape) {
  return parse_mean_image(read_whole(*file_system_for(uri).open(uri)), uri, shape);
}

void write_mean_image(Sink& sink, const MeanImage& mean) {
  std::string text;
  append(text, kListMagic);
  append(text, uint64_t{0});
  append(text, uint64_t{1});
  append(text, kArrayMagic2);
  append(text, int32_t{0});
  append(text, uint32_t{3});
  append(text, mean.shape.channels);
  append(text, mean.shape.height);
  append(text, mean.shape.width);
  append(text, int32_t{1});  // the CPU
  append(text, int32_t{0});  // its device id
  append(text, int32_t{0});  // float32
  for (const float value : mean.values) append(text, value);
  append(text, uint64_t{1});
  append(text, uint64_t{kName.size()});
  text += kName;
  sink.write(as_bytes(text));
  sink.commit();
}

MeanImageSum::MeanImageSum(const MxShape& shape) {
  sum_.shape = shape;
  sum_.values.resize(static_cast<size_t>(shape.elements()));
}

void MeanImageSum::add(const float* row) {
  for (size_t i = 0; i < sum_.values.size(); ++i) {
    sum_.values[i] = count_ == 0 ? row[i] : sum_.values[i] + row[i];
  }
  ++count_;
}

MeanImage MeanImageSum::mean() const {
  if (count_ == 0) throw InvalidArgumentError("a mean image cannot be computed from 0 images");
  MeanImage mean = sum_;
  const float factor = 1.0f / static_cast<float>(count_);
  for (float& value : mean.values) value *= factor;
  return mean;
}

}  // namespace fuelrail::mxnet
