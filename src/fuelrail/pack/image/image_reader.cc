#include "fuelrail/pack/image/image_reader.h"

#include <exception>
#include <new>
#include <utility>

#include "fuelrail/base/crc32.h"

namespace fuelrail::pack {

std::string reason_of(const Error& error) {
  ErrorDetail detail = error.detail();
  detail.path.clear();
  detail.record.reset();
  return Error(error.failure(), detail).what();
}

ImageReader::ImageReader(const PackSource& source, const ImageSteps& steps, RecordContent content,
                         MakeHints make_hints, bool first_label_only, SpareBuffers& spares)
    : source_(source),
      thread_(source.begin_thread()),
      first_label_only_(first_label_only),
      spares_(spares),
      maker_(make_record_maker(content, steps)),
      make_hints_(std::move(make_hints)) {}

PackedImage ImageReader::read(uint64_t i) {
  PackedImage packed;
  try {
    if (image_.storage.capacity() == 0) image_.storage = spares_.take();
    source_.read(i, image_);
    packed.ended = image_.ended;
    if (packed.ended) return packed;
    if (first_label_only_ && image_.labels.size() > 1) {
      image_.labels.erase(image_.labels.begin() + 1, image_.labels.end());
    }
    if (image_.is_record) {
      packed.payload = std::move(image_.storage);
      packed.made.recoded = image_.values.recoded;
    } else {
      packed.payload = spares_.take();
      packed.made = maker_->make(image_, i, packed.payload);
    }
    packed.id = image_.id;
    packed.crc = crc32(packed.payload);
    if (make_hints_) packed.hints = make_hints_(only_image_.in(packed.payload));
    return packed;
  } catch (StepsError& error) {
    error.add({.path = source_.path(i)});
    throw;
  } catch (MissingCodecError& error) {  // concerns other images too
    error.add({.path = source_.path(i)});
    throw;
  } catch (const Error& error) {
    packed.failure = reason_of(error);
    const std::string& file = error.detail().path;
    if (!file.empty() && file != source_.path(i)) packed.failure = file + ": " + packed.failure;
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
