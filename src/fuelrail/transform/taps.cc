#include "fuelrail/transform/taps.h"

#include <algorithm>
#include <cmath>

namespace fuelrail {
namespace {

double triangle(double x) {
  x = std::fabs(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

double keys(double x, double a) {
  x = std::fabs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
  return 0.0;
}

// Where the part of the input begins, counted from the end from which the filter counts. Has no
// meaning without a part.
double upright_begin(const Axis& axis) {
  return axis.mirrored ? static_cast<double>(axis.input) - (axis.begin + axis.length) : axis.begin;
}

// Input pixels per output pixel.
double scale(const Axis& axis) {
  return (axis.length > 0 ? axis.length : static_cast<double>(axis.input)) /
         static_cast<double>(axis.output);
}

// The values of Pillow's precompute_coeffs for an axis that is not mirrored.
class Filter {
 public:
  explicit Filter(const Axis& axis)
      : axis_(axis),
        begin_(upright_begin(axis)),
        scale_(scale(axis)),
        filter_scale_(axis.antialias ? std::max(scale_, 1.0) : 1.0),
        support_((axis.interpolation == Interpolation::kBicubic ? 2.0 : 1.0) * filter_scale_) {}

  // An upper bound of the number of taps of an output.
  int64_t most_taps() const {
    return std::min<int64_t>(axis_.input, static_cast<int64_t>(std::ceil(support_)) * 2 + 1);
  }

  Span span(int64_t output) const {
    const double centre = this->centre(output);
    return {std::max<int64_t>(static_cast<int64_t>(centre - support_ + 0.5), 0),
            std::min<int64_t>(static_cast<int64_t>(centre + support_ + 0.5), axis_.input)};
  }

  // Writes the span's weights to `into`.
  void weigh(int64_t output, Span span, double* into) const {
    const double centre = this->centre(output);
    if (axis_.interpolation == Interpolation::kBicubic) {
      if (axis_.antialias) {
        fill(span, centre, into, [](double x) { return keys(x, -0.5); });
      } else {
        fill_repeating_edges(span, centre, into);
      }
    } else {
      fill(span, centre, into, triangle);
    }
  }

 private:
  double centre(int64_t output) const {
    const double centre = (static_cast<double>(output) + 0.5) * scale_;
    return axis_.length > 0 ? begin_ + centre : centre;
  }

  template <typename Function>
  void fill(Span span, double centre, double* into, Function filter) const {
    const double shrink = 1.0 / filter_scale_;
    const int64_t count = span.size();
    double sum = 0.0;
    for (int64_t i = 0; i < count; ++i) {
      into[i] = filter((static_cast<double>(i + span.begin) - centre + 0.5) * shrink);
      sum += into[i];
    }
    if (sum == 0.0) return;
    for (int64_t i = 0; i < count; ++i) into[i] /= sum;
  }

  void fill_repeating_edges(Span span, double centre, double* into) const {
    std::fill_n(into, span.size(), 0.0);
    const int64_t first = static_cast<int64_t>(std::floor(centre - 0.5)) - 1;
    for (int64_t i = first; i < first + 4; ++i) {
      const int64_t tap = std::clamp(i, span.begin, span.end - 1);
      into[tap - span.begin] += keys(static_cast<double>(i) + 0.5 - centre, -0.75);
    }
  }

  const Axis& axis_;
  double begin_;
  double scale_;
  double filter_scale_;
  double support_;
};

// The input pixel that torch's nearest-exact takes: its positions are float32, rounded once, as
// with a fused multiplication (here, the products are exact).
int64_t nearest_exact_input(const Axis& axis, int64_t output) {
  const double step = static_cast<float>(scale(axis));
  const double begin = axis.length > 0 ? upright_begin(axis) : 0.0;
  const auto position =
      static_cast<float>(begin + step * (static_cast<double>(output) + 0.5) - 0.5);
  return std::clamp<int64_t>(static_cast<int64_t>(std::max(position, 0.0f) + 0.5f), 0,
                             axis.input - 1);
}

// Calls visit(span) for each output; returns the span of all outputs. Like Pillow, kNearest adds up
// positions instead of multiplying, which changes the pixels at ties.
template <typename Visit>
Span nearest_inputs(const Axis& axis, Span outputs, Visit visit) {
  if (axis.interpolation == Interpolation::kNearestExact) {
    for (int64_t output = outputs.begin; output < outputs.end; ++output) {
      const int64_t input = nearest_exact_input(axis, output);
      visit(Span{input, input + 1});
    }
    return {nearest_exact_input(axis, outputs.begin),
            nearest_exact_input(axis, outputs.end - 1) + 1};
  }
  const double step = scale(axis);
  double position = step * 0.5;
  if (axis.length > 0) position += upright_begin(axis);
  Span all;
  for (int64_t output = 0; output < outputs.end; ++output, position += step) {
    if (output < outputs.begin) continue;
    const int64_t input = std::min(static_cast<int64_t>(position), axis.input - 1);
    visit(Span{input, input + 1});
    all = {output == outputs.begin ? input : all.begin, input + 1};
  }
  return all;
}

int32_t fixed_point(double weight) {
  const double scaled = weight * (1 << kWeightBits);
  return static_cast<int32_t>(weight < 0 ? scaled - 0.5 : scaled + 0.5);
}

Span mirror(Span span, int64_t length) { return {length - span.end, length - span.begin}; }

void compute_upright(const Axis& axis, Span outputs, Taps& taps) {
  taps.spans.clear();
  if (takes_nearest(axis.interpolation)) {
    nearest_inputs(axis, outputs, [&taps](Span span) { taps.spans.push_back(span); });
    taps.stride = 1;
    taps.weights.assign(taps.spans.size(), 1 << kWeightBits);
    return;
  }
  const Filter filter(axis);
  taps.stride = filter.most_taps();
  taps.spans.reserve(static_cast<size_t>(outputs.size()));
  taps.weights.resize(static_cast<size_t>(outputs.size() * taps.stride));
  std::vector<double>& exact = taps.exact;
  exact.resize(static_cast<size_t>(taps.stride));
  int32_t* weights = taps.weights.data();
  for (int64_t output = outputs.begin; output < outputs.end; ++output, weights += taps.stride) {
    const Span span = filter.span(output);
    taps.spans.push_back(span);
    filter.weigh(output, span, exact.data());
    for (int64_t i = 0; i < span.size(); ++i) {
      weights[i] = fixed_point(exact[static_cast<size_t>(i)]);
    }
  }
}

template <typename AnyTaps>
void mirror(AnyTaps& taps, int64_t length) {
  const auto count = static_cast<int64_t>(taps.spans.size());
  for (int64_t i = 0; i < count; ++i) {
    Span& span = taps.spans[static_cast<size_t>(i)];
    auto* weights = taps.weights.data() + i * taps.stride;
    std::reverse(weights, weights + span.size());
    span = mirror(span, length);
  }
  for (int64_t low = 0, high = count - 1; low < high; ++low, --high) {
    std::swap(taps.spans[static_cast<size_t>(low)], taps.spans[static_cast<size_t>(high)]);
    auto* weights = taps.weights.data();
    std::swap_ranges(weights + low * taps.stride, weights + (low + 1) * taps.stride,
                     weights + high * taps.stride);
  }
}

}  // namespace

Axis vertical_axis(const ResampleStep& step) {
  const Region region = step.region.value_or(Region{});
  return {step.box.height,      step.scaled.height, step.interpolation, step.antialias,
          step.mirror_vertical, region.top,         region.height};
}

Axis horizontal_axis(const ResampleStep& step) {
  const Region region = step.region.value_or(Region{});
  return {step.box.width,         step.scaled.width, step.interpolation, step.antialias,
          step.mirror_horizontal, region.left,       region.width};
}

Span footprint(const Axis& axis, Span outputs) {
  if (axis.copies()) return outputs;
  const Span upright = axis.mirrored ? mirror(outputs, axis.output) : outputs;
  Span inputs;
  if (takes_nearest(axis.interpolation)) {
    inputs = nearest_inputs(axis, upright, [](Span) {});
  } else {
    const Filter filter(axis);
    inputs = {filter.span(upright.begin).begin, filter.span(upright.end - 1).end};
  }
  return axis.mirrored ? mirror(inputs, axis.input) : inputs;
}

void compute_taps(const Axis& axis, Span outputs, Taps& taps) {
  compute_upright(axis, axis.mirrored ? mirror(outputs, axis.output) : outputs, taps);
  if (axis.mirrored) mirror(taps, axis.input);
}

void compute_taps(const Axis& axis, Span outputs, ExactTaps& taps) {
  const Span upright = axis.mirrored ? mirror(outputs, axis.output) : outputs;
  const Filter filter(axis);
  taps.spans.clear();
  taps.stride = filter.most_taps();
  taps.weights.resize(static_cast<size_t>(upright.size() * taps.stride));
  double* weights = taps.weights.data();
  for (int64_t output = upright.begin; output < upright.end; ++output, weights += taps.stride) {
    taps.spans.push_back(filter.span(output));
    filter.weigh(output, taps.spans.back(), weights);
  }
  if (axis.mirrored) mirror(taps, axis.input);
}

Span compute_places(Span window, int64_t length, PaddingMode mode, std::vector<int64_t>& places) {
  places.clear();
  Span shown{length, 0};
  for (int64_t at = window.begin; at < window.end; ++at) {
    const bool inside = at >= 0 && at < length;
    const bool constant = !inside && mode == PaddingMode::kConstant;
    const int64_t place = inside || constant ? at : continued(at, length, mode);
    places.push_back(constant ? -1 : place);
    if (!constant) shown = {std::min(shown.begin, place), std::max(shown.end, place + 1)};
  }
  return shown;
}

}  // namespace fuelrail
