#include "fuelrail/decode/jpeg/libjpeg_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <new>

// Each of these headers needs the one before it.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include "fuelrail/base/scratch.h"
#include "fuelrail/decode/grey.h"
#include "fuelrail/decode/ink.h"
#include "fuelrail/decode/job.h"
#include "fuelrail/decode/jpeg/jpeg_decoder.h"

namespace fuelrail {
namespace {

// No encoder writes this many scans. Each scan costs a pass over all blocks, even if it has few
// bytes.
constexpr int kMaxScans = 500;
// How often the scans of a progressive JPEG may visit each of its blocks, on average: an empty scan
// has few bytes but costs as much work as any other. Encoders visit a block at most 10 times. Small
// images may be visited more often, up to kBlocksOfAnyImage blocks in total.
constexpr uint64_t kMaxPasses = 32;
constexpr uint64_t kBlocksOfAnyImage = uint64_t{1} << 24;
constexpr int kMaxRowsAtOnce = MAX_SAMP_FACTOR;

// The columns and rows that libjpeg decodes, and the part of them that the job needs.
struct Plan {
  JDIMENSION left = 0, width = 0;  // columns of the decoded region
  JDIMENSION top = 0, bottom = 0;  // rows of the box
  bool cropped = false;            // the region is narrower than the image
  bool cmyk = false;
  int64_t bytes_per_pixel = 3;  // in libjpeg's output
  bool direct = false;          // the region's rows fit into the output's rows with their margin
  bool shortcuts = true;        // skip columns and rows that the box does not need
};

// The decoding of one image by libjpeg. libjpeg reports errors by longjmp, so code that runs inside
// `guarded` keeps its state here and has no local objects with destructors.
struct Session {
  jpeg_decompress_struct codec{};
  jpeg_error_mgr errors{};
  jpeg_source_mgr source{};
  jpeg_progress_mgr progress{};
  std::jmp_buf escape;

  DecodeJob* job = nullptr;
  Plan plan;
  uint8_t* scratch = nullptr;  // kMaxRowsAtOnce rows of the region, unless plan.direct
  size_t scratch_row_bytes = 0;
  bool in_header = false;
  bool ended = false;  // libjpeg has asked for bytes after the last one
  uint32_t tolerated = 0;
};

Session& session_of(j_common_ptr codec) { return *static_cast<Session*>(codec->client_data); }
Session& session_of(j_decompress_ptr codec) { return *static_cast<Session*>(codec->client_data); }

// --- Callbacks of libjpeg ---

void fail(j_common_ptr codec) { std::longjmp(session_of(codec).escape, 1); }

bool is_harmless(int warning) {
  switch (warning) {
    case JWRN_ADOBE_XFORM:      // unknown colour transform: libjpeg guesses YCbCr or YCCK
    case JWRN_EXTRANEOUS_DATA:  // bytes between two markers
    case JWRN_JFIF_MAJOR:       // an unknown, newer JFIF revision
    case JWRN_NOT_SEQUENTIAL:   // spectral selection in a baseline scan, which has no effect
    case JWRN_BOGUS_ICC:
      return true;
    default:
      return false;
  }
}

void on_message(j_common_ptr codec, int level) {
  if (level >= 0) return;  // a trace
  if (!is_harmless(codec->err->msg_code)) fail(codec);
  ++session_of(codec).tolerated;
}

void print_nothing(j_common_ptr) {}

void start_source(j_decompress_ptr) {}
void end_source(j_decompress_ptr) {}

// libjpeg got all bytes at the start, so this call means that the data have ended. After the header
// this may be harmless, because libjpeg reads ahead and a missing end marker costs no pixel. So
// this supplies an end marker; if bits are missing, the entropy decoder reports it.
boolean refill(j_decompress_ptr codec) {
  static constexpr JOCTET kEndMarker[] = {0xff, JPEG_EOI};
  Session& session = session_of(codec);
  session.ended = true;
  if (session.in_header) ERREXIT(codec, JERR_INPUT_EOF);
  codec->src->next_input_byte = kEndMarker;
  codec->src->bytes_in_buffer = sizeof kEndMarker;
  return TRUE;
}

void skip_input(j_decompress_ptr codec, long count) {
  if (count <= 0) return;
  jpeg_source_mgr& source = *codec->src;
  if (static_cast<size_t>(count) > source.bytes_in_buffer) {
    refill(codec);
    return;
  }
  source.next_input_byte += count;
  source.bytes_in_buffer -= static_cast<size_t>(count);
}

// Called for each row of iMCUs of each scan, and for each call that reads rows.
void watch(j_common_ptr codec) {
  const auto* decompress = reinterpret_cast<j_decompress_ptr>(codec);
  if (decompress->input_scan_number > kMaxScans) ERREXIT(codec, JERR_BAD_PROGRESSION);
  if (session_of(codec).job->stop.stop_requested()) fail(codec);
}

// --- Steps that call libjpeg ---

// Runs `step`. Returns: false if libjpeg failed. The only function that calls setjmp.
bool guarded(Session& session, void (*step)(Session&)) {
  if (setjmp(session.escape) != 0) return false;
  step(session);
  return true;
}

// Creates a libjpeg object for each image, which takes less than a microsecond. A reused object
// would apply the tables of its last image to an image that lacks them.
void read_header(Session& session) {
  jpeg_create_decompress(&session.codec);  // clears all but err and client_data
  session.codec.src = &session.source;
  const Bytes encoded = session.job->encoded.bytes;
  session.source.next_input_byte = reinterpret_cast<const JOCTET*>(encoded.data());
  session.source.bytes_in_buffer = encoded.size();
  session.in_header = true;
  jpeg_read_header(&session.codec, TRUE);
  session.in_header = false;
}

// Whether the scans have given every coefficient with all its bits. For each coefficient of a
// progressive image libjpeg stores the number of missing bits (-1: all); for each component of a
// sequential image it stores the quantisation table at the component's first scan.
bool is_complete(const jpeg_decompress_struct& codec) {
  for (int i = 0; i < codec.num_components; ++i) {
    if (codec.comp_info[i].quant_table == nullptr) return false;
    if (!codec.progressive_mode) continue;
    const int* missing_bits = codec.coef_bits[i];
    if (std::any_of(missing_bits, missing_bits + DCTSIZE2, [](int bits) { return bits != 0; })) {
      return false;
    }
  }
  return true;
}

bool has_every_component(const jpeg_decompress_struct& codec) {
  for (int i = 0; i < codec.num_components; ++i) {
    if (codec.comp_info[i].quant_table == nullptr) return false;
    if (codec.progressive_mode && codec.coef_bits[i][0] < 0) return false;
  }
  return true;
}

void start(Session& session) {
  jpeg_decompress_struct& codec = session.codec;
  codec.out_color_space = session.plan.cmyk                   ? JCS_CMYK
                          : session.job->output.channels == 1 ? JCS_GRAYSCALE
                                                              : JCS_RGB;
  const bool many_scans = jpeg_has_multiple_scans(&codec) != FALSE;
  codec.progress = &session.progress;
  jpeg_start_decompress(&codec);  // reads all of a JPEG with many scans
  if (!many_scans) return;

  const bool complete = is_complete(codec);
  if (session.ended ? !complete : !has_every_component(codec)) WARNMS(&codec, JWRN_HIT_MARKER);
  if (complete) return;
  ++session.tolerated;  // an end marker that is too early, or an encoder that omitted bits
  // If bits are missing, libjpeg smooths across blocks, with other results for a crop than for the
  // whole image.
  session.plan.shortcuts = false;
}

void crop(Session& session) {
  Plan& plan = session.plan;
  if (plan.shortcuts && plan.cropped) jpeg_crop_scanline(&session.codec, &plan.left, &plan.width);
  if (plan.shortcuts && plan.top > 0) jpeg_skip_scanlines(&session.codec, plan.top);
}

// --- Rows ---

// The same as Pillow's convert("RGB") for Adobe's inverted CMYK.
void cmyk_to_rgb(const uint8_t* from, int64_t width, uint8_t* to) {
  for (int64_t x = 0; x < width; ++x, from += 4, to += 3) {
    const int light = from[3];
    for (int c = 0; c < 3; ++c) to[c] = light_under_ink(light, 255 - from[c]);
  }
}

// The same as OpenCV's grey: colours are scaled by the light, rounded down, and then weighted.
void cmyk_to_grey(const uint8_t* from, int64_t width, uint8_t* to) {
  for (int64_t x = 0; x < width; ++x, from += 4) {
    const int light = from[3];
    const auto lit = [&](int c) { return light - ((255 - from[c]) * light >> 8); };
    *to++ = grey_of(lit(0), lit(1), lit(2));
  }
}

uint8_t* row_in_place(const Session& session, JDIMENSION y) {
  const DecodeJob& job = *session.job;
  return job.output.row(y - session.plan.top) -
         (job.box.left - session.plan.left) * session.plan.bytes_per_pixel;
}

void take_row(const Session& session, const uint8_t* decoded, JDIMENSION y) {
  const DecodeJob& job = *session.job;
  const Plan& plan = session.plan;
  if (y < plan.top) return;
  const int64_t first = job.box.left - plan.left;
  uint8_t* to = job.output.row(y - plan.top);
  const uint8_t* from = decoded + first * plan.bytes_per_pixel;
  if (plan.cmyk) {
    (job.output.channels == 1 ? cmyk_to_grey : cmyk_to_rgb)(from, job.box.width, to);
  } else {
    std::memcpy(to, from, static_cast<size_t>(job.box.width * plan.bytes_per_pixel));
  }
}

void read_rows(Session& session) {
  jpeg_decompress_struct& codec = session.codec;
  const Plan& plan = session.plan;
  while (codec.output_scanline < plan.bottom) {
    const JDIMENSION y = codec.output_scanline;
    const JDIMENSION wanted = std::min<JDIMENSION>(kMaxRowsAtOnce, plan.bottom - y);
    JSAMPROW rows[kMaxRowsAtOnce];
    for (JDIMENSION i = 0; i < wanted; ++i) {
      rows[i] = plan.direct ? row_in_place(session, y + i)
                            : session.scratch + i * session.scratch_row_bytes;
    }
    const JDIMENSION got = jpeg_read_scanlines(&codec, rows, wanted);
    if (plan.direct) continue;
    for (JDIMENSION i = 0; i < got; ++i) take_row(session, rows[i], y + i);
  }
}

// Reads up to the end marker.
void finish(Session& session) { jpeg_finish_decompress(&session.codec); }

// --- The decoder ---

// Throws the error that libjpeg reported last.
[[noreturn]] void throw_failure(Session& session) {
  go_on(*session.job);
  const int code = session.errors.msg_code;
  const size_t size = session.job->encoded.bytes.size();
  const size_t at = session.ended ? size : size - session.source.bytes_in_buffer;
  char reason[JMSG_LENGTH_MAX];
  session.errors.format_message(reinterpret_cast<j_common_ptr>(&session.codec), reason);
  switch (code) {
    case JERR_OUT_OF_MEMORY:
      throw std::bad_alloc();
    case JERR_NO_BACKING_STORE:  // the limit of limit_memory
      throw DecodeError(
          "the JPEG needs more memory for decoding than any valid JPEG of the same size");
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED:
      throw UnsupportedError(
          fmt::format("libjpeg does not support this kind of JPEG (it reports: {})", reason));
    default:
      break;
  }
  if (session.codec.input_scan_number > kMaxScans) {
    throw DecodeError(fmt::format("the JPEG has more than {} scans", kMaxScans));
  }
  if (session.ended) {
    throw TruncatedError(
        fmt::format("the JPEG ends after {} bytes, before the end of the requested rows "
                    "(libjpeg reports: {})",
                    at, reason));
  }
  throw DecodeError(fmt::format(
      "the JPEG is damaged near byte {} of the image (libjpeg reports: {})", at, reason));
}

struct Destroy {
  void operator()(jpeg_decompress_struct* codec) const { jpeg_destroy_decompress(codec); }
};

class LibjpegDecoder final : public Decoder {
 public:
  LibjpegDecoder() : session_(std::make_unique<Session>()) {
    Session& session = *session_;
    session.codec.err = jpeg_std_error(&session.errors);
    session.errors.error_exit = fail;
    session.errors.emit_message = on_message;
    session.errors.output_message = print_nothing;
    session.source.init_source = start_source;
    session.source.fill_input_buffer = refill;
    session.source.skip_input_data = skip_input;
    session.source.resync_to_restart = jpeg_resync_to_restart;
    session.source.term_source = end_source;
    session.progress.progress_monitor = watch;
    session.codec.client_data = session_.get();
  }

  void decode(std::span<DecodeJob> jobs) override {
    decode_each(jobs, [this](DecodeJob& job) { decode_one(job); });
  }

 private:
  void decode_one(DecodeJob& job) {
    Session& session = *session_;
    session.codec.mem = nullptr;  // not created yet: nothing to destroy
    const std::unique_ptr<jpeg_decompress_struct, Destroy> cleanup(&session.codec);
    session.job = &job;
    session.ended = false;
    session.tolerated = 0;
    run(read_header);
    make_plan();
    require_rows();
    limit_work();
    limit_memory();
    run(start);
    run(crop);
    prepare_rows();
    run(read_rows);
    if (session.plan.bottom == session.codec.output_height) look_at_end();
    job.tolerated = session.tolerated + (session.ended ? 1 : 0);
  }

  void run(void (*step)(Session&)) {
    if (!guarded(*session_, step)) throw_failure(*session_);
  }

  // Called after the last row. Unread bytes of the scan, or anything else that is wrong after the
  // last row, count as one oddity: they may be the only visible sign of changed bytes.
  void look_at_end() {
    Session& session = *session_;
    const uint32_t before = session.tolerated;
    const bool finished = guarded(session, finish);
    if (!finished && !session.ended && session.tolerated == before) ++session.tolerated;
  }

  void make_plan() {
    jpeg_decompress_struct& codec = session_->codec;
    const DecodeJob& job = *session_->job;
    const Size size{codec.image_height, codec.image_width};
    require_size(job, size);
    if (job.output.channels == 4) refuse_alpha();  // a JPEG has no alpha
    codec.scale_num = static_cast<unsigned>(job.eighths);
    codec.scale_denom = 8;
    Plan& plan = session_->plan = {};
    plan.top = static_cast<JDIMENSION>(job.box.top);
    plan.bottom = static_cast<JDIMENSION>(job.box.bottom());
    plan.cmyk = codec.jpeg_color_space == JCS_CMYK || codec.jpeg_color_space == JCS_YCCK;
    plan.bytes_per_pixel = plan.cmyk ? 4 : job.output.channels;
    // Smooth upsampling reads pixels beyond the box, and treats the region's edges as the image's.
    // Decoding one more iMCU on each side, which is discarded, makes the box exact. Without
    // subsampling it is not needed.
    const int64_t whole_width = at_eighths(size, job.eighths).width;
    const int64_t margin = is_subsampled(codec) ? codec.max_h_samp_factor * job.eighths : 0;
    const int64_t left = std::max<int64_t>(0, job.box.left - margin);
    const int64_t right = std::min(whole_width, job.box.right() + margin);
    plan.left = static_cast<JDIMENSION>(left);
    plan.width = static_cast<JDIMENSION>(right - left);
    // libjpeg-turbo's crop miscounts the columns of chroma planes that scaling enlarges to luma's
    // size.
    plan.cropped = job.eighths == 8 && right - left < whole_width;
  }

  static bool is_subsampled(const jpeg_decompress_struct& codec) {
    const auto components = components_of(codec);
    return std::any_of(components.begin(), components.end(),
                       [&](const jpeg_component_info& component) {
                         return component.h_samp_factor != codec.max_h_samp_factor;
                       });
  }

  static std::span<const jpeg_component_info> components_of(const jpeg_decompress_struct& codec) {
    return {codec.comp_info, static_cast<size_t>(codec.num_components)};
  }

  static bool has_many_scans(const jpeg_decompress_struct& codec) {
    return codec.progressive_mode || codec.comps_in_scan < codec.num_components;
  }

  static uint64_t blocks_of(const jpeg_component_info& component) {
    return uint64_t{component.width_in_blocks} * component.height_in_blocks;
  }

  // Each block of each component takes at least one bit, for its first coefficient. Counts the
  // blocks of the whole image, or those above the box's end if only these are decoded.
  // Errors: TruncatedError if the image has fewer bits than blocks.
  void require_rows() const {
    const jpeg_decompress_struct& codec = session_->codec;
    const DecodeJob& job = *session_->job;
    const auto rows =
        static_cast<JDIMENSION>(job.box.bottom() / (codec.max_v_samp_factor * job.eighths));
    uint64_t blocks = 0;
    for (const jpeg_component_info& component : components_of(codec)) {
      const JDIMENSION above = rows * static_cast<JDIMENSION>(component.v_samp_factor);
      blocks += has_many_scans(codec) ? blocks_of(component)
                                      : uint64_t{component.width_in_blocks} *
                                            std::min(above, component.height_in_blocks);
    }
    if (job.encoded.bytes.size() >= blocks / 8) return;
    throw TruncatedError(
        fmt::format("the JPEG ends after {} bytes, before the end of the requested rows",
                    job.encoded.bytes.size()),
        {.expected = fmt::format("at least {} bytes ({} blocks of at least 1 bit each)", blocks / 8,
                                 blocks)});
  }

  // Limits the scans of a progressive JPEG; a sequential JPEG has bits for each block of each scan.
  // Errors: DecodeError.
  void limit_work() const {
    const jpeg_decompress_struct& codec = session_->codec;
    if (!codec.progressive_mode) return;
    uint64_t blocks = 0;
    for (const jpeg_component_info& component : components_of(codec)) {
      blocks += blocks_of(component);
    }
    uint64_t passed = 0;
    for (int i = 0; i < codec.comps_in_scan; ++i) passed += blocks_of(*codec.cur_comp_info[i]);
    const Bytes encoded = session_->job->encoded.bytes;
    each_scan(encoded, encoded.size() - session_->source.bytes_in_buffer,
              [&](Bytes header) { passed += blocks_of_scan(codec, header); });
    const uint64_t most = std::max(kMaxPasses * blocks, kBlocksOfAnyImage);
    if (passed <= most) return;
    throw DecodeError("the JPEG's scans contain too many blocks",
                      {.expected = fmt::format("at most {} blocks in total", most),
                       .found = fmt::format("{} for an image of {} blocks", passed, blocks),
                       .remedy = "Convert the image to baseline JPEG"});
  }

  static uint64_t blocks_of_scan(const jpeg_decompress_struct& codec, Bytes header) {
    uint64_t blocks = 0;
    const size_t count = header.empty() ? 0 : std::to_integer<size_t>(header[0]);
    for (size_t i = 1; i <= 2 * count && i < header.size(); i += 2) {
      for (const jpeg_component_info& component : components_of(codec)) {
        if (component.component_id != std::to_integer<int>(header[i])) continue;
        blocks += blocks_of(component);
        break;
      }
    }
    return blocks;
  }

  // Limits memory to the most that a valid image takes, whatever JPEGMEM is set to: coefficients of
  // 2 bytes for up to four components, in whole iMCUs of up to 32 x 32 pixels, and rows of samples.
  void limit_memory() {
    const auto padded = [](JDIMENSION side) { return (static_cast<long>(side) + 31) / 32 * 32; };
    const jpeg_decompress_struct& codec = session_->codec;
    codec.mem->max_memory_to_use =
        (64L << 20) + 8 * padded(codec.image_height) * padded(codec.image_width);
  }

  void prepare_rows() {
    Session& session = *session_;
    const DecodeJob& job = *session.job;
    Plan& plan = session.plan;
    if (!plan.shortcuts || !plan.cropped) {
      plan.left = 0;
      plan.width = session.codec.output_width;
    }
    const int64_t right = int64_t{plan.left} + plan.width;
    plan.direct = !plan.cmyk && session.codec.output_scanline == plan.top &&
                  job.box.left - plan.left <= job.margin && right - job.box.right() <= job.margin;
    if (plan.direct) return;
    session.scratch_row_bytes = size_t{plan.width} * static_cast<size_t>(plan.bytes_per_pixel);
    session.scratch = scratch_.take(session.scratch_row_bytes * kMaxRowsAtOnce);
  }

  std::unique_ptr<Session> session_;
  Scratch scratch_;
};

}  // namespace

std::unique_ptr<Decoder> make_libjpeg_decoder() { return std::make_unique<LibjpegDecoder>(); }

}  // namespace fuelrail
