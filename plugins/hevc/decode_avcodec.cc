/* Decodes H.265 and H.264 with FFmpeg's libavcodec. */
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>
}

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "plugin.h"

namespace plugin {
namespace {

struct FreeContext {
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
};
struct FreeFrame {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};
struct FreePacket {
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};

struct State {
  fuelrail_codec codec = FUELRAIL_H265;
  std::vector<uint8_t> sets;                            /* the parameter sets of the last picture */
  std::unique_ptr<AVCodecContext, FreeContext> context; /* null, or open */
  std::unique_ptr<AVFrame, FreeFrame> frame;
  std::unique_ptr<AVFrame, FreeFrame> another;
  std::unique_ptr<AVPacket, FreePacket> packet;
  std::vector<uint8_t> stream;
};

fuelrail_status damaged(fuelrail_failure* failure, int error) {
  if (error == AVERROR(ENOMEM)) return fail(failure, FUELRAIL_NO_MEMORY, "no memory");
  const bool is_unsupported = error == AVERROR_PATCHWELCOME;
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, text, sizeof text);
  return fail(failure, is_unsupported ? FUELRAIL_UNSUPPORTED : FUELRAIL_DAMAGED,
              std::string("the image is ") + (is_unsupported ? "not supported" : "damaged") +
                  " (libavcodec: " + text + ")");
}

void put_stream(const fuelrail_nal* units, size_t count, std::vector<uint8_t>& stream) {
  stream.clear();
  for (size_t i = 0; i < count; ++i) {
    stream.insert(stream.end(), {0, 0, 0, 1});
    stream.insert(stream.end(), units[i].bytes, units[i].bytes + units[i].length);
  }
  stream.insert(stream.end(), AV_INPUT_BUFFER_PADDING_SIZE, 0);
}

int32_t chroma_of(const AVPixFmtDescriptor& format) {
  if (format.nb_components < 3) return 0;
  if (format.log2_chroma_w == 0) return 3;
  return format.log2_chroma_h == 0 ? 2 : 1;
}

fuelrail_status copy_layout(const AVFrame& frame, fuelrail_planes* picture,
                            fuelrail_failure* failure) {
  const AVPixFmtDescriptor* const format =
      av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  constexpr uint64_t kOther = AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL |
                              AV_PIX_FMT_FLAG_ALPHA | AV_PIX_FMT_FLAG_FLOAT;
  const bool is_planar = format != nullptr && (format->flags & kOther) == 0 &&
                         (format->nb_components == 1 || (format->flags & AV_PIX_FMT_FLAG_PLANAR));
  if (!is_planar) {
    return fail(failure, FUELRAIL_UNSUPPORTED, "the image's pixels have an unsupported format");
  }
  picture->bits = format->comp[0].depth;
  picture->chroma = chroma_of(*format);
  for (int i = 0; i < (picture->chroma == 0 ? 1 : 3); ++i) {
    picture->planes[i] = frame.data[i];
    picture->strides[i] = frame.linesize[i];
    picture->widths[i] = i == 0 ? frame.width : AV_CEIL_RSHIFT(frame.width, format->log2_chroma_w);
    picture->heights[i] =
        i == 0 ? frame.height : AV_CEIL_RSHIFT(frame.height, format->log2_chroma_h);
  }
  /* What is not stated is as in a JPEG: full range, BT.601 (2 is "unspecified"), centred. For a
   * chroma location that is not stated, libavcodec reports "left", which is hardly ever stated. */
  picture->full_range = frame.color_range != AVCOL_RANGE_MPEG ? 1 : 0;
  picture->matrix = frame.colorspace;
  const bool is_stated = frame.chroma_location != AVCHROMA_LOC_UNSPECIFIED &&
                         frame.chroma_location != AVCHROMA_LOC_LEFT;
  picture->chroma_location = is_stated ? frame.chroma_location - 1 : 1;
  return FUELRAIL_OK;
}

/* libavcodec leaves the memory of a picture's missing parts as it is, and reuses it: there they
 * would show the picture before. */
int get_cleared_buffer(AVCodecContext* context, AVFrame* frame, int flags) {
  const int error = avcodec_default_get_buffer2(context, frame, flags);
  for (int i = 0; error >= 0 && i < AV_NUM_DATA_POINTERS && frame->buf[i] != nullptr; ++i) {
    std::memset(frame->buf[i]->data, 0, frame->buf[i]->size);
  }
  return error;
}

/* Returns: whether the context is open. */
bool open_context(State& state) {
  state.context.reset();
  const AVCodec* const decoder =
      avcodec_find_decoder(state.codec == FUELRAIL_H264 ? AV_CODEC_ID_H264 : AV_CODEC_ID_HEVC);
  if (decoder == nullptr) return false;
  std::unique_ptr<AVCodecContext, FreeContext> context(avcodec_alloc_context3(decoder));
  if (!context) throw std::bad_alloc();
  context->thread_count = 1;
  context->get_buffer2 = get_cleared_buffer;
  context->log_level_offset = 64; /* nothing is logged */
  context->flags |= AV_CODEC_FLAG_UNALIGNED;
  context->err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER | AV_EF_EXPLODE;
  if (avcodec_open2(context.get(), decoder, nullptr) < 0) return false;
  state.context = std::move(context);
  return true;
}

bool is_set(fuelrail_codec codec, const fuelrail_nal& unit) {
  return codec == FUELRAIL_H264 ? (unit.bytes[0] & 31) >= 7 : (unit.bytes[0] >> 1 & 63) >= 32;
}

/* Removes what the last picture left. libavcodec keeps parameter sets and colours in its context,
 * so other parameter sets need a new one. */
bool renew(State& state, const fuelrail_nal* units, size_t count) {
  std::vector<uint8_t> sets;
  for (size_t i = 0; i < count; ++i) {
    if (!is_set(state.codec, units[i])) continue;
    sets.insert(sets.end(), {0, 0, 0, 1});
    sets.insert(sets.end(), units[i].bytes, units[i].bytes + units[i].length);
  }
  if (state.context && sets == state.sets) {
    avcodec_flush_buffers(state.context.get());
  } else if (!open_context(state)) {
    return false;
  }
  state.sets = std::move(sets);
  state.context->color_range = AVCOL_RANGE_UNSPECIFIED;
  state.context->colorspace = AVCOL_SPC_UNSPECIFIED;
  state.context->chroma_sample_location = AVCHROMA_LOC_UNSPECIFIED;
  return true;
}

}  // namespace

const bool kDecodesH264 = true;

std::string decoder_description() {
  const unsigned version = avcodec_version();
  return "libavcodec " + std::to_string(AV_VERSION_MAJOR(version)) + "." +
         std::to_string(AV_VERSION_MINOR(version)) + "." +
         std::to_string(AV_VERSION_MICRO(version));
}

fuelrail_status make_decoder(fuelrail_codec codec, void** decoder, fuelrail_failure* failure) try {
  auto state = std::make_unique<State>();
  state->codec = codec;
  state->frame.reset(av_frame_alloc());
  state->another.reset(av_frame_alloc());
  state->packet.reset(av_packet_alloc());
  if (!state->frame || !state->another || !state->packet) throw std::bad_alloc();
  if (!open_context(*state)) {
    return fail(failure, FUELRAIL_UNSUPPORTED, "libavcodec has no decoder for this format");
  }
  *decoder = state.release();
  return FUELRAIL_OK;
} catch (const std::bad_alloc&) {
  return fail(failure, FUELRAIL_NO_MEMORY, "no memory");
}

fuelrail_status decode(void* handle, const fuelrail_nal* units, size_t count, int64_t most_pixels,
                       fuelrail_planes* picture, fuelrail_failure* failure) try {
  State& state = *static_cast<State*>(handle);
  if (!renew(state, units, count)) return fail(failure, FUELRAIL_NO_MEMORY, "no memory");
  state.context->max_pixels = most_pixels;
  put_stream(units, count, state.stream);
  state.packet->data = state.stream.data();
  state.packet->size = static_cast<int>(state.stream.size() - AV_INPUT_BUFFER_PADDING_SIZE);
  int error = avcodec_send_packet(state.context.get(), state.packet.get());
  if (error == 0) error = avcodec_send_packet(state.context.get(), nullptr);
  if (error == 0) error = avcodec_receive_frame(state.context.get(), state.frame.get());
  if (error < 0) return damaged(failure, error);
  if (state.frame->decode_error_flags != 0 || (state.frame->flags & AV_FRAME_FLAG_CORRUPT) != 0) {
    return fail(failure, FUELRAIL_DAMAGED, "the image is damaged (libavcodec conceals errors)");
  }
  if (avcodec_receive_frame(state.context.get(), state.another.get()) == 0) {
    return fail(failure, FUELRAIL_UNSUPPORTED, "the image has more than one picture");
  }
  return copy_layout(*state.frame, picture, failure);
} catch (const std::bad_alloc&) {
  return fail(failure, FUELRAIL_NO_MEMORY, "no memory");
}

void free_decoder(void* decoder) { delete static_cast<State*>(decoder); }

}  // namespace plugin
