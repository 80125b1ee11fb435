// Entry points: at which bits of a scan MCUs begin, and with which predictors, so that a box can be
// decoded without what is above and beside it. They are the hints of JPEGs (EncodedImage::hints).
// Their format is known here alone.
//
// Little-endian: u8 version (1); u8 bits of an offset; 3 x u8 bits of a predictor; u8 0; u16 MCUs
// from an entry point to the next one in its row; 3 x i16 least predictor; u16 0; u32 bytes of the
// encoded image; u32 byte at which the scan's data begin; u32 bit behind the last MCU; then the
// entry points in raster order, packed from the lowest bit of each byte: the offset in bits from
// the beginning of the data as they are stored, and the predictors less the least ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/scratch.h"
#include "fuelrail/decode/jpeg/baseline_header.h"
#include "fuelrail/decode/jpeg/huffman_tables.h"
#include "fuelrail/decode/jpeg/segment_decoder.h"

namespace fuelrail::jpeg {

// The entry points of one image. A view: the hints must outlive it.
class EntryPoints {
 public:
  // Empty if the hints are damaged, or not of this image. `header`: of `encoded`.
  static std::optional<EntryPoints> read(Bytes hints, const BaselineHeader& header, Bytes encoded);

  int64_t spacing() const {
    return spacing_;
  }  // MCUs of a piece; the last one of a row may be shorter

  // The MCUs from one entry point to the next.
  struct Piece {
    int64_t first = 0;  // its first MCU
    int64_t mcus = 0;
    EntryPoint begin;
    EntryPoint end;
    bool is_last = false;  // of the image: the predictors of its end are not known
  };
  // Piece number `i` of a row of MCUs. Empty if its bits are not in the scan, or not ascending; all
  // else may still be wrong.
  std::optional<Piece> piece(int64_t row, int64_t i) const;

 private:
  EntryPoint at(int64_t i) const;
  uint32_t bits_at(int64_t bit, int count) const;

  Bytes packed_;
  int offset_bits_ = 0;
  std::array<int, kMaxComponents> predictor_bits_{};
  std::array<int, kMaxComponents> least_{};
  Size mcus_;
  int64_t spacing_ = 0;
  int64_t pieces_of_row_ = 0;
  int64_t end_bit_ = 0;  // behind the last MCU
};

// Makes entry points by decoding the coefficients of a whole image. Threads: one. Keep it from
// image to image, for its memory.
class EntryPointMaker {
 public:
  // Empty if BaselineDecoder leaves the image to libjpeg-turbo, if it has restart markers, or if it
  // is too small for entry points to save anything.
  std::vector<std::byte> make(Bytes encoded);

  SegmentDecoder& segments() { return segments_; }

 private:
  bool find(Bytes scan);
  std::vector<std::byte> packed(Bytes encoded) const;

  BaselineHeader header_;
  HuffmanTables tables_;
  SegmentDecoder segments_;
  Scratch unstuffed_;
  std::vector<EntryPoint> points_;  // the last one is behind the last MCU
};

}  // namespace fuelrail::jpeg
