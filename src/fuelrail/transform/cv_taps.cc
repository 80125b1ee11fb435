#include "fuelrail/transform/cv_taps.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "fuelrail/transform/portable_math.h"

namespace fuelrail {
namespace {

// The position of an output between two adjacent input pixels: `behind` is the fraction after
// `pixel`.
struct Place {
  int64_t pixel;
  float behind;
};

// Like std::floor, which is a function call on processors without SSE 4.
template <typename Number>
int64_t floor_of(Number x) {
  const auto whole = static_cast<int64_t>(x);
  return whole - (x < static_cast<Number>(whole) ? 1 : 0);
}

Place place_of(double at) {
  const auto rounded = static_cast<float>(at);
  const int64_t floor = floor_of(rounded);
  return {floor, rounded - static_cast<float>(floor)};
}

Place pixel_place(int64_t output, double scale) {
  return place_of((static_cast<double>(output) + 0.5) * scale - 0.5);
}

// Linear between areas: blends only if an output's area extends into the next pixel.
Place area_place(int64_t output, double scale, double inverse) {
  const auto at = static_cast<double>(output);
  const int64_t pixel = floor_of(at * scale);
  const auto into = static_cast<float>((at + 1) - static_cast<double>(pixel + 1) * inverse);
  return {pixel, into <= 0 ? 0.0f : into - std::floor(into)};
}

int64_t taps_of(CvInterpolation interpolation) {
  return interpolation == CvInterpolation::kCubic      ? 4
         : interpolation == CvInterpolation::kLanczos4 ? 8
                                                       : 2;
}

// Fits in 16 bits, because every weight is below 16.
int16_t fixed(float weight) {
  return static_cast<int16_t>(round_half_even(weight * static_cast<float>(kCvWeightOne)));
}

void put_weights(std::span<const float> weights, int16_t* to) {
  for (const float weight : weights) *to++ = fixed(weight);
}

void put_weights(CvInterpolation interpolation, float behind, int16_t* to) {
  switch (interpolation) {
    case CvInterpolation::kCubic:
      return put_weights(cv_cubic_weights(behind), to);
    case CvInterpolation::kLanczos4:
      return put_weights(cv_lanczos4_weights(behind), to);
    default:
      return put_weights(std::array{1.0f - behind, behind}, to);
  }
}

}  // namespace

std::array<float, 4> cv_cubic_weights(float x) {
  constexpr float a = -0.75f;
  const float y = 1 - x;
  std::array<float, 4> weights;
  weights[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
  weights[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
  weights[2] = ((a + 2) * y - (a + 3)) * y * y + 1;
  weights[3] = 1.0f - weights[0] - weights[1] - weights[2];
  return weights;
}

// sin(pi d) sin(pi d / 4) / (pi d)^2 at the 8 distances d = x + 3 - i, up to a factor that the
// normalisation removes. All sin(pi d / 4) follow from one sine and cosine, in steps of 45 degrees
// per pixel.
std::array<float, 8> cv_lanczos4_weights(float x) {
  constexpr double kPi = 3.1415926535897932384626433832795;
  constexpr double kHalfRoot = 0.70710678118654752440084436210485;
  constexpr double kTurns[8][2] = {
      {1, 0},  {-kHalfRoot, -kHalfRoot}, {0, 1},  {kHalfRoot, -kHalfRoot},
      {-1, 0}, {kHalfRoot, kHalfRoot},   {0, -1}, {-kHalfRoot, kHalfRoot}};
  // The distance of the first tap is rounded to float before it becomes an angle.
  const SineCosine first = portable_sine_cosine(-static_cast<double>(x + 3) * 45);
  std::array<float, 8> weights;
  float sum = 0;
  for (int i = 0; i < 8; ++i) {
    const float distance = x + 3 - static_cast<float>(i);
    const auto [sine, cosine] = kTurns[i];
    const double angle = -static_cast<double>(distance) * kPi * 0.25;
    float& weight = weights[static_cast<size_t>(i)];
    // At distance 0, only this pixel has a weight.
    weight =
        std::fabs(distance) < 1e-6f
            ? 1e30f
            : static_cast<float>((sine * first.sine + cosine * first.cosine) / (angle * angle));
    sum += weight;
  }
  const float factor = 1.0f / sum;
  for (float& weight : weights) weight *= factor;
  return weights;
}

double cv_scale(int64_t input, int64_t output) {
  return 1.0 / (static_cast<double>(output) / static_cast<double>(input));
}

void cv_nearest(const CvDirection& direction, std::vector<int64_t>& pixels) {
  const double scale = cv_scale(direction.input, direction.output);
  pixels.resize(static_cast<size_t>(direction.count));
  for (int64_t i = 0; i < direction.count; ++i) {
    const double at = std::floor(static_cast<double>(direction.begin + i) * scale);
    pixels[static_cast<size_t>(i)] = std::min(static_cast<int64_t>(at), direction.input - 1);
  }
}

void cv_taps(const CvDirection& direction, CvInterpolation interpolation, CvTaps& result) {
  const double scale = cv_scale(direction.input, direction.output);
  const double inverse =
      static_cast<double>(direction.output) / static_cast<double>(direction.input);
  result.taps = taps_of(interpolation);
  result.first.resize(static_cast<size_t>(direction.count));
  result.weights.resize(static_cast<size_t>(direction.count * result.taps));
  for (int64_t i = 0; i < direction.count; ++i) {
    const int64_t output = direction.begin + i;
    const Place place = interpolation == CvInterpolation::kArea ? area_place(output, scale, inverse)
                                                                : pixel_place(output, scale);
    result.first[static_cast<size_t>(i)] =
        static_cast<int32_t>(place.pixel - (result.taps / 2 - 1));
    put_weights(interpolation, place.behind, result.weights.data() + i * result.taps);
  }
}

void fold_edges(int64_t input, CvTaps& taps) {
  for (size_t i = 0; i < taps.first.size(); ++i) {
    const int64_t old_first = taps.first[i];
    const int64_t first =
        std::clamp<int64_t>(old_first, 0, std::max<int64_t>(0, input - taps.taps));
    if (first == old_first && first + taps.taps <= input) continue;
    int16_t* const weights = taps.weights.data() + static_cast<int64_t>(i) * taps.taps;
    std::array<int16_t, 8> folded{};
    for (int64_t k = 0; k < taps.taps; ++k) {
      const int64_t pixel = std::clamp<int64_t>(old_first + k, 0, input - 1);
      int16_t& weight = folded[static_cast<size_t>(pixel - first)];
      weight = static_cast<int16_t>(weight + weights[k]);
    }
    std::copy_n(folded.data(), taps.taps, weights);
    taps.first[i] = static_cast<int32_t>(first);
  }
}

void cv_area_taps(const CvDirection& direction, CvAreaTaps& result) {
  const double scale = cv_scale(direction.input, direction.output);
  constexpr double kSliver = 1e-3;  // a pixel of which less is covered is skipped
  const int64_t room = static_cast<int64_t>(std::ceil(scale)) + 2;  // the most taps of an output
  result.first.resize(static_cast<size_t>(direction.count));
  result.count.resize(static_cast<size_t>(direction.count));
  result.weights.assign(static_cast<size_t>(direction.count * room), 0.0f);
  int32_t most = 1;
  for (int64_t i = 0; i < direction.count; ++i) {
    const double begin = static_cast<double>(direction.begin + i) * scale;
    const double end = begin + scale;
    const double covered = std::min(scale, static_cast<double>(direction.input) - begin);
    const int64_t last = std::min(static_cast<int64_t>(std::floor(end)), direction.input - 1);
    const int64_t first = std::min(static_cast<int64_t>(std::ceil(begin)), last);
    float* const weights = result.weights.data() + i * room;
    int32_t count = 0;
    const double before = static_cast<double>(first) - begin;
    const double behind = end - static_cast<double>(last);
    const bool has_before = before > kSliver;
    if (has_before) weights[count++] = static_cast<float>(before / covered);
    for (int64_t pixel = first; pixel < last; ++pixel) {
      weights[count++] = static_cast<float>(1.0 / covered);
    }
    if (behind > kSliver) {
      weights[count++] = static_cast<float>(std::min(std::min(behind, 1.0), covered) / covered);
    }
    result.first[static_cast<size_t>(i)] = static_cast<int32_t>(has_before ? first - 1 : first);
    result.count[static_cast<size_t>(i)] = count;
    most = std::max(most, count);
  }
  // Removes the gaps between the outputs' weights.
  for (int64_t i = 1; i < direction.count; ++i) {
    std::copy_n(result.weights.data() + i * room, most, result.weights.data() + i * most);
  }
  result.taps = most;
}

}  // namespace fuelrail
