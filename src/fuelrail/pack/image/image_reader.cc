#include "fuelrail/pack/image/image_reader.h"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "fuelrail/base/crc32.h"
#include "fuelrail/container/image_record.h"

namespace fuelrail::pack {
void fill_payload(const SourceImage& image, Bytes encoded, PackedImage& out) {
  const uint64_t longest =
      kMaxImageRecordBytes - kImageHeaderBytes - sizeof(float) * image.labels.size();
  if (encoded.size() > longest) {
    throw UnsupportedError("the image is too long for a record",
                           {.expected = fmt::format("at most {} bytes", longest),
                            .found = fmt::to_string(encoded.size())});
  }
  append_image_record(image.id, image.labels, encoded, out.payload);
  out.crc = crc32(out.payload);
}

std::string reason_of(const Error& error) {
  ErrorDetail detail = error.detail();
  detail.path.clear();
  detail.record.reset();
  return Error(error.failure(), detail).what();
}

ImageReader::ImageReader(const PackSource& source, const ImageSteps& steps, bool first_label_only)
    : source_(source), first_label_only_(first_label_only), pipeline_(steps) {}

PackedImage ImageReader::read(uint64_t i) {
  PackedImage packed;
  try {
    source_.read(i, image_);
    if (first_label_only_ && image_.labels.size() > 1) {
      image_.labels.erase(image_.labels.begin() + 1, image_.labels.end());
    }
    const Bytes prepared = image_.pixels.data == nullptr ? pipeline_.prepare(image_.encoded, i)
                                                         : pipeline_.prepare(image_.pixels, i);
    fill_payload(image_, prepared, packed);
    return packed;
  } catch (StepsError& error) {
    error.add({.path = source_.path(i)});
    throw;
  } catch (MissingCodecError& error) {  // concerns other images too
    error.add({.path = source_.path(i)});
    throw;
  } catch (const Error& error) {
    packed.failure = reason_of(error);
  } catch (const std::bad_alloc&) {
    image_.storage = {};
    packed.failure = "not enough memory for the image";
  } catch (const std::exception& error) {
    packed.failure = error.what();
  }
  packed.payload = {};
  return packed;
}

}  // namespace fuelrail::pack
