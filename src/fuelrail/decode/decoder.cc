#include "fuelrail/decode/decoder.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/formats.h"
#include "fuelrail/decode/job.h"
#include "fuelrail/decode/jpeg/entry_points.h"
#include "fuelrail/decode/jpeg/jpeg_decoder.h"
#include "fuelrail/decode/png/png_decoder.h"

namespace fuelrail {
namespace {

// Stands in for a decoder that this machine does not have, and gives every job the same error.
class NoDecoder final : public Decoder {
 public:
  explicit NoDecoder(const MissingCodecError& why) : why_(why) {}
  void decode(std::span<DecodeJob> jobs) override {
    decode_each(jobs, [this](const DecodeJob&) { throw why_; });
  }

 private:
  const MissingCodecError why_;
};

// Passes each run of jobs of one format to that format's decoder, as one group.
class AnyDecoder final : public Decoder {
 public:
  void decode(std::span<DecodeJob> jobs) override {
    while (!jobs.empty()) {
      const ImageFormat* const format = jobs.front().info.format;
      const auto end = std::find_if(jobs.begin(), jobs.end(), [format](const DecodeJob& job) {
        return job.info.format != format;
      });
      const auto run = static_cast<size_t>(end - jobs.begin());
      decode_run(format, jobs.first(run));
      jobs = jobs.subspan(run);
    }
  }

 private:
  // As long as no decoder can be made, each job gets its own error.
  void decode_run(const ImageFormat* format, std::span<DecodeJob> jobs) {
    for (; !jobs.empty(); jobs = jobs.subspan(1)) {
      if (Decoder* const decoder = decoder_for(format, jobs.front())) return decoder->decode(jobs);
    }
  }

  // Returns null, and sets the job's error, if the decoder cannot be made.
  Decoder* decoder_for(const ImageFormat* format, DecodeJob& job) {
    for (const auto& [of, decoder] : made_) {
      if (of == format) return decoder.get();
    }
    try {
      return made_.emplace_back(format, make(format)).second.get();
    } catch (...) {
      job.error = std::current_exception();
      job.tolerated = 0;
      return nullptr;
    }
  }

  static std::unique_ptr<Decoder> make(const ImageFormat* format) {
    const Decoding* const decoding = decoding_of(format);
    if (decoding == nullptr) {
      throw InvalidArgumentError("the image format in the job's `info` has no decoder",
                                 {.expected = decoded_formats()});
    }
    try {
      if (std::unique_ptr<Decoder> decoder = decoding->make_decoder()) return decoder;
      throw MissingCodecError(
          "the decoder for " + std::string(format->title) + " images is missing",
          {.expected = "a decoder",
           .found = "null",
           .remedy = "Report this bug: `make_decoder` of this format returns null"});
    } catch (const MissingCodecError& error) {
      return std::make_unique<NoDecoder>(error);
    }
  }

  std::vector<std::pair<const ImageFormat*, std::unique_ptr<Decoder>>> made_;
};

uint32_t decode_job(Decoder& decoder, DecodeJob& job) {
  decoder.decode({&job, 1});
  if (job.error) std::rethrow_exception(job.error);
  return job.tolerated;
}

}  // namespace

std::function<std::vector<std::byte>(Bytes encoded)> hint_maker() {
  return [jpeg = std::make_shared<jpeg::EntryPointMaker>()](Bytes encoded) {
    return jpeg->make(encoded);
  };
}

std::unique_ptr<Decoder> make_decoder() {
  check_jpeg_environment();  // else they would be errors of each image
  check_png_environment();
  return std::make_unique<AnyDecoder>();
}

uint32_t decode_whole(Decoder& decoder, const EncodedImage& encoded, const ImageInfo& info,
                      ImageView output) {
  DecodeJob job{.encoded = encoded, .info = info, .box = whole(info.stored), .output = output};
  return decode_job(decoder, job);
}

uint32_t decode_all_values(Decoder& decoder, const EncodedImage& encoded, const ImageInfo& info,
                           ValueEncoding encoding, RawView values) {
  DecodeJob job{.encoded = encoded, .info = info, .box = whole(info.stored)};
  job.values = values;
  job.encoding = encoding;
  return decode_job(decoder, job);
}

ImageView decode_as_stored(Decoder& decoder, const EncodedImage& encoded, const ImageInfo& info,
                           const std::function<ImageView(int64_t channels)>& memory) {
  const auto decoded = [&](int64_t channels) {
    const ImageView output = memory(channels);
    decode_whole(decoder, encoded, info, output);
    return output;
  };
  if (info.channels == 1 || info.grey_palette) return decoded(1);
  if (info.format == &kJpegFormat) return decoded(3);
  try {
    return decoded(4);
  } catch (const UnsupportedError&) {  // the header alone does not show whether the image has alpha
    return decoded(3);
  }
}

}  // namespace fuelrail
