#include "fuelrail/pack/image/record_maker.h"

#include <fmt/format.h>

#include "fuelrail/base/error.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/pack/image/still_maker.h"

namespace fuelrail::pack {
namespace {

class ImageRecordMaker final : public RecordMaker {
 public:
  explicit ImageRecordMaker(const ImageSteps& steps) : pipeline_(steps) {}

  MadeRecord make(const SourceImage& image, uint64_t place,
                  std::vector<std::byte>& payload) override {
    const Bytes encoded = image.pixels.data == nullptr ? pipeline_.prepare(image.encoded, place)
                                                       : pipeline_.prepare(image.pixels, place);
    make_image_record(image, encoded, payload);
    return {.recoded = pipeline_.recoded() ? 1u : 0u};
  }

 private:
  ImagePipeline pipeline_;
};

}  // namespace

std::unique_ptr<RecordMaker> make_record_maker(RecordContent content, const ImageSteps& steps) {
  if (content == RecordContent::kNestedFile) return std::make_unique<StillMaker>(steps);
  return std::make_unique<ImageRecordMaker>(steps);
}

void make_image_record(const SourceImage& image, Bytes encoded, std::vector<std::byte>& payload) {
  const uint64_t longest =
      kMaxImageRecordBytes - kImageHeaderBytes - sizeof(float) * image.labels.size();
  if (encoded.size() > longest) {
    throw UnsupportedError("the image is too long for a record",
                           {.expected = fmt::format("at most {} bytes", longest),
                            .found = fmt::to_string(encoded.size())});
  }
  payload.clear();
  append_image_record(image.id, image.labels, encoded, payload);
}

}  // namespace fuelrail::pack
