/* The interface between fuelrail and its plugin for H.265 (plugins/hevc/): a table of C functions.
 * fuelrail opens the plugin at run time, because x265 is licensed under the GPL. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of everything below. Raise it with each change. */
#define FUELRAIL_HEVC_INTERFACE 1

/* A NAL unit: its header and payload, with emulation prevention bytes, without a start code and
 * without a length before it. */
struct fuelrail_nal {
  const uint8_t* bytes;
  size_t length;
};

/* The planes of a picture: luma, then Cb and Cr. A plane has `heights[i]` rows of `widths[i]`
 * values of 1 byte, or of 2 bytes (native order) if `bits` is above 8. Rows begin `strides[i]`
 * bytes apart. */
struct fuelrail_planes {
  const void* planes[3];
  ptrdiff_t strides[3];
  int32_t widths[3];
  int32_t heights[3];
  int32_t bits;   /* of a value: 8 to 16 */
  int32_t chroma; /* 0: luma alone; 1: 4:2:0; 2: 4:2:2; 3: 4:4:4 (as chroma_format_idc) */
  /* Of a decoded H.264 picture only; fuelrail reads those of H.265 itself. Codes as in ITU-T H.264,
   * table E-5; the chroma location as in figure E-1. */
  int32_t full_range; /* 1 or 0 */
  int32_t matrix;
  int32_t chroma_location;
};

enum fuelrail_codec { FUELRAIL_H265 = 0, FUELRAIL_H264 = 1 };

enum fuelrail_status {
  FUELRAIL_OK = 0,
  FUELRAIL_DAMAGED = 1,     /* the image is damaged or incomplete */
  FUELRAIL_UNSUPPORTED = 2, /* the library cannot decode or encode such an image */
  FUELRAIL_NO_MEMORY = 3,
};

/* The text of an error: a clause, ended by a NUL. */
struct fuelrail_failure {
  char text[256];
};

struct fuelrail_encoding {
  int32_t width, height; /* of luma, at least 32 x 32 */
  int32_t chroma;        /* as in fuelrail_planes; 1 or 3 */
  double crf;            /* x265's: 0 (lossless nearly) to 51 */
  const char* preset;    /* x265's: "ultrafast" to "placebo" */
};

/* Every function may be called from any thread, but each decoder and encoder by one thread at a
 * time. A function that returns a status other than FUELRAIL_OK fills in `failure`. No function
 * throws. */
struct fuelrail_hevc_table {
  int32_t interface;       /* FUELRAIL_HEVC_INTERFACE */
  const char* description; /* the libraries and their versions: "libde265 1.0.11, x265 3.5" */
  int32_t decodes_h264;    /* 1 or 0 */

  enum fuelrail_status (*make_decoder)(enum fuelrail_codec codec, void** decoder,
                                       struct fuelrail_failure* failure);
  /* Decodes one picture from the NAL units of its parameter sets and its slices. A picture with
   * more than `most_pixels` may be refused. The planes remain valid until the next call for this
   * decoder. Nothing of a picture remains for the next one; parts that are missing have any
   * constant value. */
  enum fuelrail_status (*decode)(void* decoder, const struct fuelrail_nal* units, size_t count,
                                 int64_t most_pixels, struct fuelrail_planes* picture,
                                 struct fuelrail_failure* failure);
  void (*free_decoder)(void* decoder);

  enum fuelrail_status (*make_encoder)(const struct fuelrail_encoding* encoding, void** encoder,
                                       struct fuelrail_failure* failure);
  /* Encodes one picture of the encoder's size, with 8 bits. The units (VPS, SPS, PPS, slices)
   * remain valid until the next call for this encoder. The same picture gives the same bytes. */
  enum fuelrail_status (*encode)(void* encoder, const struct fuelrail_planes* picture,
                                 const struct fuelrail_nal** units, size_t* count,
                                 struct fuelrail_failure* failure);
  void (*free_encoder)(void* encoder);
};

/* The plugin exports: const struct fuelrail_hevc_table* fuelrail_hevc(void); */
typedef const struct fuelrail_hevc_table* (*fuelrail_hevc_function)(void);

#ifdef __cplusplus
}
#endif
