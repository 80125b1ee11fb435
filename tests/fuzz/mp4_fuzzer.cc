// An image that is an MP4 file: its boxes, and the properties that a decoder gets of it.
#include "fuelrail/base/error.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/mp4/nested_image.h"
#include "fuzzing.h"

namespace {

using namespace fuelrail;

bool is_inside(Bytes part, Bytes all) {
  return part.data() >= all.data() && part.data() + part.size() <= all.data() + all.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes file = fuzzing::as_bytes(data, size);
  try {
    ImageCodec codec;
    const EncodedImage image = mp4::read_nested_image(file, codec);
    fuzzing::require(is_inside(image.bytes, file), "the bitstream is in the file");
    fuzzing::require(is_inside(codec.parameters, file), "the parameters are in the file");
    const ImageInfo info = probe(image);
    fuzzing::require(info.stored == image.visible || image.visible == Size{},
                     "the size is the visible one");
    fuzzing::require(info.stored.height <= codec.coded.height, "the image is in its picture");
  } catch (const CorruptError&) {
  } catch (const DecodeError&) {
  } catch (const TruncatedError&) {
  } catch (const UnsupportedError&) {
  }
  return 0;
}
