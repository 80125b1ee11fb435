#include "fuelrail/pack/output/quality_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/hevc_library.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

constexpr std::string_view kTitle = "# Quality of H.265 stills\n\n";
constexpr std::string_view kTableHead = "path,width,height,source_bytes,bytes,psnr,ssim\n";
constexpr std::string_view kPlotHead = "<svg xmlns='http://www.w3.org/2000/svg' width='";

// Only an earlier report is replaced: another file with such a name may be a list of images.
void refuse_other(const std::string& uri, std::string_view begin) {
  if (!is_file(uri)) return;
  const auto source = file_system_for(uri).open(uri);
  std::string head(std::min<uint64_t>(source->size_bytes(), begin.size()), '\0');
  source->read(0, std::as_writable_bytes(std::span(head)));
  if (head == begin) return;
  throw IoError("a file of the quality report would replace another file",
                {.path = uri, .remedy = "Choose another name for the report"});
}

// --- Table ---

// As in RFC 4180.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

// --- Text ---

// A path as code in a cell of a table. The CSV file has the path unchanged.
std::string markdown_path(const std::string& path) {
  std::string text = "`";
  for (const char c : path) {
    if (c == '|') text += '\\';
    text += c == '`' || static_cast<unsigned char>(c) < ' ' ? '?' : c;
  }
  return text + '`';
}

std::string described(const ImageSteps& steps) {
  const HevcSettings& hevc = steps.stills.hevc;
  std::string text =
      fmt::format("crf {}, preset {}, chroma {}", hevc.crf, hevc.preset, hevc.chroma);
  if (steps.shorter_side > 0) text += fmt::format(", resize {}", steps.shorter_side);
  return text;
}

std::string counts(uint64_t measured, const UnmeasuredImages& others) {
  std::string text = fmt::format("- images measured: {} of {}\n", measured, others.all);
  for (const auto& [count, why] : {std::pair(others.unchanged, "packed without encoding"),
                                   {others.earlier, "packed in an earlier run"},
                                   {others.unreadable, "unreadable"}}) {
    if (count > 0) text += fmt::format("- images not measured, {}: {}\n", why, count);
  }
  return text;
}

// A row of the table of quantiles, with this number of decimals. Requires: values.
std::string quantile_row(std::string_view name, std::vector<double> values, int decimals) {
  double sum = 0;
  for (const double value : values) sum += value;
  std::ranges::sort(values);
  std::string row = fmt::format("| {} |", name);
  for (const size_t percent : {0, 5, 25, 50, 75, 95, 100}) {
    const size_t rank = std::max<size_t>((percent * values.size() + 99) / 100, 1);
    row += fmt::format(" {:.{}f} |", values[rank - 1], decimals);
  }
  return row + fmt::format(" {:.{}f} |\n", sum / static_cast<double>(values.size()), decimals);
}

// --- Plot ---

constexpr double kWidth = 760, kHeight = 480;
constexpr double kLeft = 70, kRight = 715, kTop = 40, kBottom = 420;

// An axis from its first to its last tick.
struct Axis {
  std::vector<double> ticks;
  double from, to;  // in the plot's units
  bool is_logarithmic;

  double at(double value) const {
    const auto scaled = [this](double of) { return is_logarithmic ? std::log10(of) : of; };
    const double first = scaled(ticks.front());
    return from + (scaled(value) - first) / (scaled(ticks.back()) - first) * (to - from);
  }
};

// Ticks 1, 2, 5, 10, 20, ... around the values.
Axis bytes_axis(double least, double most) {
  Axis axis{.ticks = {}, .from = kLeft, .to = kRight, .is_logarithmic = true};
  for (double decade = 1; axis.ticks.size() < 2 || axis.ticks.back() < most; decade *= 10) {
    for (const double tick : {decade, 2 * decade, 5 * decade}) {
      if (axis.ticks.size() >= 2 && axis.ticks.back() >= most) break;
      if (tick <= least) axis.ticks.clear();
      axis.ticks.push_back(tick);
    }
  }
  return axis;
}

Axis psnr_axis(double least, double most) {
  constexpr double kMostSteps = 8;
  double step = 20;
  for (const double smaller : {10.0, 5.0, 2.0, 1.0}) {
    if (most - least <= kMostSteps * smaller) step = smaller;
  }
  Axis axis{.ticks = {}, .from = kBottom, .to = kTop, .is_logarithmic = false};
  double tick = std::floor(least / step) * step;
  for (; axis.ticks.size() < 2 || axis.ticks.back() < most; tick += step) {
    axis.ticks.push_back(tick);
  }
  return axis;
}

std::string shown_bytes(double bytes) {
  if (bytes >= 1e6) return fmt::format("{:g} MB", bytes / 1e6);
  if (bytes >= 1e3) return fmt::format("{:g} kB", bytes / 1e3);
  return fmt::format("{:g} B", bytes);
}

std::string svg_line(double x1, double y1, double x2, double y2) {
  return fmt::format("<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}'/>\n", x1, y1, x2, y2);
}

std::string svg_text(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}'>{}</text>\n", x, y, anchor,
                     text);
}

std::string svg_axes(const Axis& x, const Axis& y) {
  std::string lines = "<g stroke='#ddd'>\n", texts;
  for (const double tick : x.ticks) {
    lines += svg_line(x.at(tick), kTop, x.at(tick), kBottom);
    texts += svg_text(x.at(tick), kBottom + 18, "middle", shown_bytes(tick));
  }
  for (const double tick : y.ticks) {
    lines += svg_line(kLeft, y.at(tick), kRight, y.at(tick));
    texts += svg_text(kLeft - 8, y.at(tick) + 4, "end", fmt::format("{:g}", tick));
  }
  texts +=
      svg_text((kLeft + kRight) / 2, kBottom + 42, "middle", "bytes of the still, logarithmic");
  texts += fmt::format(
      "<text transform='translate(22 {:.1f}) rotate(-90)' text-anchor='middle'>PSNR, dB</text>\n",
      (kTop + kBottom) / 2);
  return lines + "</g>\n" + texts;
}

std::unique_ptr<Sink> created(const std::string& uri) { return file_system_for(uri).create(uri); }

}  // namespace

QualityReport::QualityReport(const std::string& uri) {
  const std::string stem = uri.substr(0, uri.size() - std::string_view(kReportExtension).size());
  const std::string table = stem + ".csv", plot = stem + ".svg";
  for (const auto& [name, begin] :
       {std::pair(uri, kTitle), {table, kTableHead}, {plot, kPlotHead}}) {
    refuse_other(name, begin);
  }
  text_ = created(uri);
  table_ = created(table);
  plot_ = created(plot);
  table_->write(as_bytes(kTableHead));
}

void QualityReport::add(const std::string& path, const MeasuredStill& still) {
  const ImageQuality& quality = still.quality;
  table_->write(as_bytes(fmt::format("{},{},{},{},{},{:.4f},{:.6f}\n", csv_field(path),
                                     still.size.width, still.size.height, still.source_bytes,
                                     still.bytes, quality.psnr, quality.ssim)));
  rows_.push_back({still.bytes, quality});
  bytes_ += still.bytes;
  source_bytes_ += still.source_bytes;
  const auto is_better = [](double psnr, const WorstImage& image) {
    return psnr < image.still.quality.psnr;
  };
  const auto place = std::upper_bound(worst_.begin(), worst_.end(), quality.psnr, is_better);
  worst_.insert(place, {path, still});
  if (worst_.size() > kWorstListed) worst_.pop_back();
}

void QualityReport::finish(const ImageSteps& steps, const UnmeasuredImages& others) {
  plot_->write(as_bytes(plot()));
  text_->write(as_bytes(text(steps, others)));
  table_->commit();
  plot_->commit();
  text_->commit();  // the last one, because it refers to the others
}

std::string QualityReport::text(const ImageSteps& steps, const UnmeasuredImages& others) const {
  std::string text = std::string(kTitle) + counts(rows_.size(), others);
  text += fmt::format("- settings: {}\n- made and decoded with: {}\n", described(steps),
                      describe_hevc_library());
  if (rows_.empty()) return text;
  text += fmt::format("- bytes of the stills: {}\n", bytes_);
  text += fmt::format("- bytes of these images in the source: {} (stills: {:.1f} % of them)\n",
                      source_bytes_,
                      100 * static_cast<double>(bytes_) / static_cast<double>(source_bytes_));
  text += fmt::format("- by image: [table](<{}>)\n\n", base_name(table_->uri()));
  return text + quantiles() +
         fmt::format("\n![The PSNR and the bytes of each still](<{}>)\n\n",
                     base_name(plot_->uri())) +
         worst();
}

std::string QualityReport::quantiles() const {
  std::vector<double> psnr, ssim, bytes;
  for (const Row& row : rows_) {
    psnr.push_back(row.quality.psnr);
    ssim.push_back(row.quality.ssim);
    bytes.push_back(static_cast<double>(row.bytes));
  }
  return "| | min | 5 % | 25 % | median | 75 % | 95 % | max | mean |\n"
         "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n" +
         quantile_row("PSNR, dB", std::move(psnr), 2) + quantile_row("SSIM", std::move(ssim), 4) +
         quantile_row("bytes", std::move(bytes), 0) +
         fmt::format(
             "\nA quantile of p % is the smallest value that at least p % of the images do not "
             "exceed. PSNR is\n10 log10(255^2 / MSE), with the mean squared error of all RGB "
             "values, and at most {:g}. SSIM is that of\nWang et al. (2004): of the luma, with a "
             "Gaussian window of 11 x 11.\n",
             kHighestPsnr);
}

std::string QualityReport::worst() const {
  std::string text =
      "## The images with the lowest PSNR\n\n"
      "| PSNR, dB | SSIM | bytes | width x height | image |\n|---:|---:|---:|---:|---|\n";
  for (const WorstImage& image : worst_) {
    const MeasuredStill& still = image.still;
    text += fmt::format("| {:.2f} | {:.4f} | {} | {} x {} | {} |\n", still.quality.psnr,
                        still.quality.ssim, still.bytes, still.size.width, still.size.height,
                        markdown_path(image.path));
  }
  return text;
}

std::string QualityReport::plot() const {
  double least_bytes = 1, most_bytes = 1, least_psnr = 0, most_psnr = 0;
  if (!rows_.empty()) {
    const auto [smallest, largest] = std::ranges::minmax(rows_, {}, &Row::bytes);
    const auto psnr = [](const Row& row) { return row.quality.psnr; };
    const auto [worst, best] = std::ranges::minmax(rows_, {}, psnr);
    least_bytes = static_cast<double>(std::max<uint64_t>(smallest.bytes, 1));
    most_bytes = static_cast<double>(largest.bytes);
    least_psnr = worst.quality.psnr;
    most_psnr = best.quality.psnr;
  }
  const Axis x = bytes_axis(least_bytes, most_bytes), y = psnr_axis(least_psnr, most_psnr);
  const size_t every = std::max<size_t>((rows_.size() + kMostPlotted - 1) / kMostPlotted, 1);
  std::string text = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 {0} {1}' "
      "font-family='sans-serif' font-size='13'>\n<rect width='100%' height='100%' "
      "fill='white'/>\n",
      kWidth, kHeight);
  text += svg_text(kLeft, kTop - 16, "start",
                   every == 1 ? fmt::format("{} H.265 stills", rows_.size())
                              : fmt::format("{} H.265 stills, of which one in {} is shown",
                                            rows_.size(), every));
  text += svg_axes(x, y) + "<g fill='#1f5fa8' fill-opacity='0.45'>\n";
  for (size_t i = 0; i < rows_.size(); i += every) {
    text += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='2.5'/>\n",
                        x.at(std::max(static_cast<double>(rows_[i].bytes), 1.0)),
                        y.at(rows_[i].quality.psnr));
  }
  return text + "</g>\n</svg>\n";
}

}  // namespace fuelrail::pack
