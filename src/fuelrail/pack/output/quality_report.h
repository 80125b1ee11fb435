// The report about the quality of encoded stills: X.md with quantiles and the worst images, X.csv
// with a row for each image, and X.svg, a plot of size and quality.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/pack/image/image_steps.h"
#include "fuelrail/pack/image/quality.h"
#include "fuelrail/storage/sink.h"

namespace fuelrail::pack {

// The name of a report ends in this.
inline constexpr const char* kReportExtension = ".md";

// The largest numbers of images that the report lists and plots. If there are more, the plot has
// every second, every third, and so on.
inline constexpr size_t kWorstListed = 20;
inline constexpr size_t kMostPlotted = 4000;

// Images that a report does not cover, and why.
struct UnmeasuredImages {
  uint64_t all = 0;         // images of the job, including those that are measured
  uint64_t unreadable = 0;  // skipped
  uint64_t unchanged = 0;   // packed without encoding
  uint64_t earlier = 0;     // packed in an earlier run
};

// The files get their names at `finish`, and replace existing ones. The same images give the same
// bytes. Memory: 24 bytes for each image, and in `finish` up to 24 more and the plot. Threads: one
// at a time.
class QualityReport {
 public:
  // `uri`: X.md. Requires: it ends in kReportExtension. Errors: IoError if one of the files exists
  // and is not such a report; those of FileSystem::create.
  explicit QualityReport(const std::string& uri);
  QualityReport& operator=(QualityReport&&) = delete;

  // Adds an image of the source. Errors: those of Sink::write.
  void add(const std::string& path, const MeasuredStill& still);

  uint64_t measured() const { return rows_.size(); }

  // Writes the files. `steps`: how the images were encoded. Errors: those of Sink::write and
  // Sink::commit.
  void finish(const ImageSteps& steps, const UnmeasuredImages& others);

 private:
  struct Row {
    uint64_t bytes;
    ImageQuality quality;
  };
  struct WorstImage {
    std::string path;
    MeasuredStill still;
  };

  std::string text(const ImageSteps& steps, const UnmeasuredImages& others) const;
  std::string quantiles() const;
  std::string worst() const;
  std::string plot() const;

  std::unique_ptr<Sink> text_;
  std::unique_ptr<Sink> table_;
  std::unique_ptr<Sink> plot_;
  std::vector<Row> rows_;          // in the order of the images
  std::vector<WorstImage> worst_;  // by PSNR, then in the order of the images
  uint64_t bytes_ = 0;
  uint64_t source_bytes_ = 0;
};

}  // namespace fuelrail::pack
