#include "fuelrail/testing/made_jpeg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

// Each header needs the one before it.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

namespace fuelrail {
namespace {

int channels_of(MadeJpeg::Colour colour) {
  switch (colour) {
    case MadeJpeg::Colour::kGrey:
      return 1;
    case MadeJpeg::Colour::kYcc:
    case MadeJpeg::Colour::kRgb:
      return 3;
    default:
      return 4;
  }
}

J_COLOR_SPACE space_of(MadeJpeg::Colour colour) {
  switch (colour) {
    case MadeJpeg::Colour::kGrey:
      return JCS_GRAYSCALE;
    case MadeJpeg::Colour::kYcc:
      return JCS_YCbCr;
    case MadeJpeg::Colour::kRgb:
      return JCS_RGB;
    case MadeJpeg::Colour::kCmyk:
      return JCS_CMYK;
    default:
      return JCS_YCCK;
  }
}

// Waves, a bright diagonal and noise: neighbouring rows, columns and channels all differ.
std::vector<uint8_t> make_pixels(Size size, int channels, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> pixels;
  pixels.reserve(static_cast<size_t>(size.height * size.width * channels));
  for (int64_t y = 0; y < size.height; ++y) {
    for (int64_t x = 0; x < size.width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const auto wave =
            static_cast<int>(100 + 70 * std::sin(0.31 * static_cast<double>(x) * (c + 1)) *
                                       std::cos(0.23 * static_cast<double>(y)));
        const int edge = (x + y * 2 + c * 5) % 37 < 9 ? 60 : 0;
        pixels.push_back(static_cast<uint8_t>(wave + edge + static_cast<int>(random() % 20)));
      }
    }
  }
  return pixels;
}

[[noreturn]] void fail(j_common_ptr codec) {
  char reason[JMSG_LENGTH_MAX];
  codec->err->format_message(codec, reason);
  std::fprintf(stderr, "libjpeg failed in a test's own code: %s\n", reason);
  std::abort();
}

jpeg_error_mgr* stop_at_errors(jpeg_error_mgr& errors) {
  jpeg_std_error(&errors);
  errors.error_exit = fail;
  errors.output_message = [](j_common_ptr) {};
  return &errors;
}

// libjpeg's encoder, into memory.
struct Encoder {
  Encoder() {
    codec.err = stop_at_errors(errors);
    jpeg_create_compress(&codec);
    jpeg_mem_dest(&codec, &memory, &size);
  }
  std::vector<std::byte> finish() {
    jpeg_finish_compress(&codec);
    jpeg_destroy_compress(&codec);
    const auto* begin = reinterpret_cast<const std::byte*>(memory);
    std::vector<std::byte> encoded(begin, begin + size);
    std::free(memory);
    return encoded;
  }

  jpeg_error_mgr errors;
  jpeg_compress_struct codec;
  unsigned char* memory = nullptr;
  unsigned long size = 0;
};

}  // namespace

std::vector<std::byte> make_jpeg(const MadeJpeg& wanted) {
  const int channels = channels_of(wanted.colour);
  std::vector<uint8_t> pixels =
      wanted.flat ? std::vector<uint8_t>(
                        static_cast<size_t>(wanted.size.height * wanted.size.width * channels), 128)
                  : make_pixels(wanted.size, channels, wanted.seed);

  Encoder encoder;
  jpeg_compress_struct& codec = encoder.codec;
  codec.image_height = static_cast<JDIMENSION>(wanted.size.height);
  codec.image_width = static_cast<JDIMENSION>(wanted.size.width);
  codec.input_components = channels;
  codec.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&codec);
  jpeg_set_colorspace(&codec, space_of(wanted.colour));
  jpeg_set_quality(&codec, wanted.quality, TRUE);
  for (size_t i = 0; i < static_cast<size_t>(channels); ++i) {
    const std::array<int, 2> factors =
        i < wanted.sampling.size() ? wanted.sampling[i] : std::array<int, 2>{1, 1};
    codec.comp_info[i].h_samp_factor = factors[0];
    codec.comp_info[i].v_samp_factor = factors[1];
  }
  codec.optimize_coding = wanted.own_codes && wanted.code_counts.empty() ? TRUE : FALSE;
  if (!wanted.code_counts.empty()) {
    for (int i = 0; i < 2; ++i) {
      auto& counts = codec.ac_huff_tbl_ptrs[i]->bits;
      std::fill(std::begin(counts), std::end(counts), UINT8{0});
      std::copy(wanted.code_counts.begin(), wanted.code_counts.end(), &counts[1]);
    }
  }
  codec.restart_interval = static_cast<unsigned>(wanted.restart_interval);
  if (!wanted.adobe_marker) codec.write_Adobe_marker = FALSE;
  // An interleaved scan has at most 10 blocks per MCU; larger ones get one scan per component.
  int blocks = 0;
  for (int i = 0; i < channels; ++i) {
    blocks += codec.comp_info[i].h_samp_factor * codec.comp_info[i].v_samp_factor;
  }
  const bool fits = blocks <= C_MAX_BLOCKS_IN_MCU;
  jpeg_scan_info scans[4] = {};
  if (wanted.progressive && fits) {
    jpeg_simple_progression(&codec);
  } else if (!wanted.interleaved || !fits) {
    for (int i = 0; i < channels; ++i) scans[i] = {1, {i}, 0, DCTSIZE2 - 1, 0, 0};
    codec.scan_info = scans;
    codec.num_scans = channels;
  }
  jpeg_start_compress(&codec, TRUE);
  while (codec.next_scanline < codec.image_height) {
    JSAMPROW row = pixels.data() +
                   size_t{codec.next_scanline} * codec.image_width * static_cast<size_t>(channels);
    jpeg_write_scanlines(&codec, &row, 1);
  }
  return encoder.finish();
}

std::vector<std::byte> with_larger_coefficients(Bytes jpeg, int factor, int quantizer_factor) {
  jpeg_error_mgr errors;
  jpeg_decompress_struct from;
  from.err = stop_at_errors(errors);
  jpeg_create_decompress(&from);
  jpeg_mem_src(&from, reinterpret_cast<const unsigned char*>(jpeg.data()),
               static_cast<unsigned long>(jpeg.size()));
  jpeg_read_header(&from, TRUE);
  jvirt_barray_ptr* const components = jpeg_read_coefficients(&from);
  std::vector<JQUANT_TBL*> tables(std::begin(from.quant_tbl_ptrs), std::end(from.quant_tbl_ptrs));
  for (int i = 0; i < from.num_components; ++i) {  // libjpeg compares these with the copies in use
    tables.push_back(from.comp_info[i].quant_table);
  }
  for (JQUANT_TBL* const table : tables) {
    if (table == nullptr) continue;
    for (UINT16& value : table->quantval) {
      value = static_cast<UINT16>(std::min(255, value * quantizer_factor));
    }
  }
  for (int i = 0; i < from.num_components; ++i) {
    const jpeg_component_info& component = from.comp_info[i];
    for (JDIMENSION y = 0; y < component.height_in_blocks; ++y) {
      JBLOCKROW const row = from.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&from),
                                                         components[i], y, 1, TRUE)[0];
      for (JDIMENSION x = 0; x < component.width_in_blocks; ++x) {
        for (JCOEF& value : row[x]) {
          value = static_cast<JCOEF>(std::clamp(value * factor, -1023, 1023));
        }
      }
    }
  }
  Encoder encoder;
  jpeg_compress_struct& to = encoder.codec;
  jpeg_copy_critical_parameters(&from, &to);
  to.optimize_coding = TRUE;
  jpeg_write_coefficients(&to, components);
  std::vector<std::byte> encoded = encoder.finish();
  jpeg_destroy_decompress(&from);
  return encoded;
}

std::string describe(const MadeJpeg& jpeg) {
  constexpr const char* kNames[] = {"grey", "ycc", "rgb", "cmyk", "ycck"};
  std::string text = fmt::format("{}x{} {}", jpeg.size.height, jpeg.size.width,
                                 kNames[static_cast<int>(jpeg.colour)]);
  for (const auto& [h, v] : jpeg.sampling) text += fmt::format(" {}x{}", h, v);
  if (jpeg.restart_interval != 0) text += fmt::format(" restart {}", jpeg.restart_interval);
  if (jpeg.progressive) text += " progressive";
  if (jpeg.own_codes) text += " own codes";
  if (!jpeg.code_counts.empty()) text += fmt::format(" codes {}", fmt::join(jpeg.code_counts, " "));
  text += fmt::format(" quality {} seed {}", jpeg.quality, jpeg.seed);
  if (!jpeg.interleaved) text += " one component a scan";
  return text;
}

PlainImage decode_plainly(Bytes jpeg) {
  jpeg_error_mgr errors;
  jpeg_decompress_struct codec;
  codec.err = stop_at_errors(errors);
  jpeg_create_decompress(&codec);
  jpeg_mem_src(&codec, reinterpret_cast<const unsigned char*>(jpeg.data()),
               static_cast<unsigned long>(jpeg.size()));
  jpeg_read_header(&codec, TRUE);
  codec.out_color_space = codec.num_components == 4 ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&codec);
  PlainImage image{{codec.output_height, codec.output_width}, codec.output_components, {}};
  const size_t row_bytes = size_t{codec.output_width} * static_cast<size_t>(image.channels);
  image.pixels.resize(row_bytes * codec.output_height);
  while (codec.output_scanline < codec.output_height) {
    JSAMPROW row = image.pixels.data() + row_bytes * codec.output_scanline;
    jpeg_read_scanlines(&codec, &row, 1);
  }
  jpeg_finish_decompress(&codec);
  jpeg_destroy_decompress(&codec);
  return image;
}

std::string rgb_of(const PlainImage& image) {
  std::string rgb;
  rgb.reserve(image.pixels.size());
  if (image.channels == 3) rgb.assign(image.pixels.begin(), image.pixels.end());
  if (image.channels == 3) return rgb;
  for (size_t i = 0; i < image.pixels.size(); i += 4) {
    for (size_t c = 0; c < 3; ++c) {
      const int light = image.pixels[i + 3], ink = 255 - image.pixels[i + c];
      rgb.push_back(static_cast<char>(light - (ink * light + 127) / 255));
    }
  }
  return rgb;
}

std::vector<Box> boxes_in(Size size, std::mt19937_64& random, int count) {
  const auto between = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  std::vector<Box> boxes{whole(size),
                         {0, 0, 1, 1},
                         {size.height - 1, size.width - 1, 1, 1},
                         {0, size.width - 1, size.height, 1},
                         {size.height - 1, 0, 1, size.width}};
  for (int i = 0; i < count; ++i) {
    Box box{between(0, size.height - 1), between(0, size.width - 1), 0, 0};
    box.height = between(1, size.height - box.top);
    box.width = between(1, size.width - box.left);
    switch (i % 6) {
      case 1:
        box = {0, box.left, box.bottom(), box.width};
        break;
      case 2:
        box.height = size.height - box.top;
        break;
      case 3:
        box = {box.top, 0, box.height, box.right()};
        break;
      case 4:
        box.width = size.width - box.left;
        break;
      default:
        break;
    }
    boxes.push_back(box);
  }
  return boxes;
}

}  // namespace fuelrail
