// From coefficients to pixels: MCUs in their order become rows of samples, and these rows of a box.
#pragma once

#include <array>
#include <cstdint>

#include "fuelrail/base/image_view.h"
#include "fuelrail/base/scratch.h"
#include "fuelrail/decode/jpeg/baseline_header.h"
#include "fuelrail/decode/jpeg/inverse_dct.h"

namespace fuelrail::jpeg {

// The sums of the DC differences of each component.
using Predictors = std::array<int, kMaxComponents>;

// Changes the DC coefficients of `count` MCUs from differences to values, and the predictors.
// Returns: false if a value is larger than the 16 bits in which libjpeg-turbo stores it.
[[nodiscard]] bool sum_differences(const BaselineHeader& header, int64_t count,
                                   int16_t* coefficients, Predictors& predictors);

// Columns and rows of MCUs.
struct McuWindow {
  int64_t left = 0, right = 0;  // the right one and the bottom one are excluded
  int64_t top = 0, bottom = 0;
};

// Holds two rows of MCUs. Threads: one. Keep it from image to image, for its memory.
class McuRows {
 public:
  // Begins an image, of which it will write `box` to `output`, with 1 channel (luma) or 3 (RGB).
  // Lifetime: the header and the output's memory outlive the calls of `take`.
  void begin(const BaselineHeader& header, const Box& box, ImageView output);

  // The MCUs whose samples the box needs. `take` uses only the DC coefficients of others.
  const McuWindow& window() const { return window_; }

  // Takes `count` MCUs, from number `first` on. Requires: MCUs of the window in raster order; of
  // each row that has some, all up to the window's right side. Changes: DC coefficients from
  // differences to values, and the predictors. Returns: false if values are too large for the sums
  // of 16 bits in libjpeg-turbo's vector code.
  [[nodiscard]] bool take(int64_t first, int64_t count, int16_t* coefficients,
                          Predictors& predictors);

 private:
  struct Plane {
    uint8_t* samples = nullptr;  // of the window's left column, in the first of two rows of MCUs
    int64_t row_bytes = 0;
    int rows = 0;  // of samples in a row of MCUs
    QuantizerRows quantizers{};
  };

  bool make_samples(int64_t row, int64_t left, int64_t right, const int16_t* first_mcu);
  void extend_edges(int64_t row);
  void write_rows(int64_t end);
  void write_row(int64_t y);
  const uint8_t* samples_of(size_t component, int64_t row) const;
  const uint8_t* enlarged_chroma(size_t component, int64_t y);

  const BaselineHeader* header_ = nullptr;
  Box box_;
  ImageView output_;
  McuWindow window_;
  int planes_ = 0;  // that the output needs
  std::array<Plane, kMaxComponents> plane_{};
  std::array<uint8_t*, kMaxComponents> enlarged_{};  // a row of chroma in luma's size
  int16_t* sums_ = nullptr;
  int64_t next_row_ = 0;  // of the box
  Scratch memory_;
};

}  // namespace fuelrail::jpeg
