#include "fuelrail/decode/hevc/hevc_decoder.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/base/hevc_library.h"
#include "fuelrail/decode/hevc/nal_units.h"
#include "fuelrail/decode/hevc/planar_picture.h"
#include "fuelrail/decode/hevc/sps.h"
#include "fuelrail/decode/job.h"

namespace fuelrail {
namespace {

using hevc::PlanarPicture;
using hevc::Sps;

[[noreturn]] void fail(fuelrail_status status, const fuelrail_failure& failure) {
  if (status == FUELRAIL_NO_MEMORY) throw std::bad_alloc();
  if (status == FUELRAIL_UNSUPPORTED) throw UnsupportedError(failure.text);
  throw DecodeError(failure.text);
}

// The parameter sets of a codec, read once for all images that have the same.
class Parameters {
 public:
  Parameters(bool is_h264, Bytes box)
      : box_(box.begin(), box.end()),
        configuration_(is_h264 ? hevc::read_avcc(box_) : hevc::read_hvcc(box_)) {}
  Parameters& operator=(Parameters&&) = delete;

  bool are(Bytes box) const { return as_text(box) == as_text(box_); }
  const hevc::DecoderConfiguration& configuration() const { return configuration_; }

 private:
  const std::vector<std::byte> box_;
  const hevc::DecoderConfiguration configuration_;
};

class PluginDecoder final : public Decoder {
 public:
  explicit PluginDecoder(bool is_h264) : is_h264_(is_h264), table_(hevc_library()) {
    if (is_h264 && table_.decodes_h264 == 0) {
      throw MissingCodecError("the plugin for H.265 images cannot decode H.264 images",
                              {.expected = "a plugin built with libavcodec",
                               .found = table_.description,
                               .remedy = "Build the plugin from its sources, with libavcodec"});
    }
    fuelrail_failure failure{};
    const fuelrail_status status =
        table_.make_decoder(is_h264 ? FUELRAIL_H264 : FUELRAIL_H265, &decoder_, &failure);
    if (status == FUELRAIL_NO_MEMORY) throw std::bad_alloc();
    if (status != FUELRAIL_OK) throw MissingCodecError(failure.text);
  }
  ~PluginDecoder() override { table_.free_decoder(decoder_); }

  void decode(std::span<DecodeJob> jobs) override {
    decode_each(jobs, [this](const DecodeJob& job) { decode_one(job); });
  }

 private:
  void decode_one(const DecodeJob& job) {
    if (job.values.data != nullptr) require_stored_values(job, {});
    go_on(job);
    if (!job.take_planes && job.output.channels == 4) {
      throw UnsupportedError("the image has no alpha channel",
                             {.expected = "1 or 3 output channels", .found = "4"});
    }
    if (!job.encoded.has_coded_size()) {
      throw DecodeError("the dataset does not declare the size of its images");
    }
    const PlanarPicture picture = decode_planes(job.encoded);
    require_size(job, picture.planes[0].size);
    if (job.take_planes) {
      if (picture.matrix == hevc::Matrix::kRgb) {
        throw UnsupportedError("the image stores red, green and blue, not luma and chroma");
      }
      return job.take_planes(picture);
    }
    to_pixels(picture, job.box, job.output);
  }

  // The planes remain valid until the next call.
  PlanarPicture decode_planes(const EncodedImage& encoded) {
    const hevc::DecoderConfiguration& configuration = parameters_of(*encoded.codec);
    units_ = configuration.units;
    PlanarPicture picture;
    if (is_h264_) {
      hevc::append_h264_units(encoded.bytes, configuration.length_bytes, units_);
    } else {
      hevc::append_hevc_units(encoded.bytes, configuration.length_bytes, units_);
      hevc::sort_sets(units_);
      const Sps sps = hevc::read_sps(hevc::find_sps(units_));
      require_declared(encoded.codec->coded, sps);
      picture.full_range = sps.full_range;
      picture.matrix = sps.matrix;
      picture.siting = sps.siting;
    }
    hevc::check_units(units_);
    const fuelrail_planes planes = decode_units(most_pixels(encoded.codec->coded));
    if (is_h264_) {
      picture.full_range = planes.full_range != 0;
      picture.matrix = hevc::matrix_of(planes.matrix);
      picture.siting = hevc::siting_of(planes.chroma_location);
    }
    picture.chroma = planes.chroma;
    picture.bits = planes.bits;
    for (size_t i = 0; i < (planes.chroma == 0 ? 1 : 3); ++i) {
      picture.planes[i] = {.first = static_cast<const std::byte*>(planes.planes[i]),
                           .stride_bytes = planes.strides[i],
                           .size = {.height = planes.heights[i], .width = planes.widths[i]}};
    }
    if (picture.matrix == hevc::Matrix::kRgb && picture.chroma != 3) {
      throw UnsupportedError("the image stores RGB with subsampled planes");
    }
    return picture;
  }

  const hevc::DecoderConfiguration& parameters_of(const ImageCodec& codec) {
    if (!parameters_ || !parameters_->are(codec.parameters)) {
      parameters_.emplace(is_h264_, codec.parameters);
    }
    return parameters_->configuration();
  }

  // The picture that a decoder allocates is larger than its visible part by less than a block.
  static constexpr int64_t kMostPadding = 64;

  static int64_t most_pixels(Size declared) {
    return (declared.height + kMostPadding) * (declared.width + kMostPadding);
  }

  // Checked before the library allocates memory for another size.
  static void require_declared(Size declared, const Sps& sps) {
    const Size visible = sps.window.size();
    if (visible == declared && sps.coded.height - visible.height < kMostPadding &&
        sps.coded.width - visible.width < kMostPadding) {
      // libde265 1.0.11 counts the offset of such a window in bytes.
      if (sps.bits == 8 || (sps.window.top == 0 && sps.window.left == 0)) return;
      throw UnsupportedError(
          "the H.265 image begins inside its picture and has more than 8 bits",
          {.expected = "a conformance window at the upper left",
           .found = fmt::format("at row {}, column {}", sps.window.top, sps.window.left)});
    }
    throw DecodeError("the image does not have the size that the dataset declares",
                      {.expected = height_x_width(declared),
                       .found = height_x_width(visible) + " of " + height_x_width(sps.coded) +
                                " in its parameter sets"});
  }

  fuelrail_planes decode_units(int64_t most_pixels) {
    nals_.clear();
    for (const Bytes unit : units_) {
      nals_.push_back({reinterpret_cast<const uint8_t*>(unit.data()), unit.size()});
    }
    fuelrail_planes planes{};
    fuelrail_failure failure{};
    const fuelrail_status status =
        table_.decode(decoder_, nals_.data(), nals_.size(), most_pixels, &planes, &failure);
    if (status != FUELRAIL_OK) fail(status, failure);
    return planes;
  }

  const bool is_h264_;
  const fuelrail_hevc_table& table_;
  void* decoder_ = nullptr;
  std::optional<Parameters> parameters_;
  std::vector<Bytes> units_;
  std::vector<fuelrail_nal> nals_;
};

}  // namespace

std::unique_ptr<Decoder> make_hevc_decoder() { return std::make_unique<PluginDecoder>(false); }
std::unique_ptr<Decoder> make_h264_decoder() { return std::make_unique<PluginDecoder>(true); }

}  // namespace fuelrail
