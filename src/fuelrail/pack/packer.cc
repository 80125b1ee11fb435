#include "fuelrail/pack/packer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "fuelrail/base/cpu.h"
#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/ordered_work.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/recordio/image_header.h"
#include "fuelrail/container/subset.h"
#include "fuelrail/pack/image_preparer.h"
#include "fuelrail/pack/pack_source.h"
#include "fuelrail/pack/part.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kProgressInterval{100};

// --- What is to be done -------------------------------------------------------------------------

struct PlannedPart {
  std::string uri;
  std::vector<uint64_t> images;  // of the source, ascending
};

[[noreturn]] void refuse(std::string failure, std::string expected, std::string found) {
  throw InvalidArgumentError(std::move(failure),
                             {.expected = std::move(expected), .found = std::move(found)});
}

void check_part_names(const std::vector<std::pair<std::string, double>>& split) {
  constexpr const char* kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  for (size_t i = 0; i < split.size(); ++i) {
    const std::string& name = split[i].first;
    if (name.empty() || name.find_first_not_of(kLetters) != std::string::npos) {
      refuse("the part's name cannot be in a file's name", "letters, digits, '_', '-' and '.'",
             fmt::format("'{}'", name));
    }
    const auto same = [&](const auto& other) { return other.first == name; };
    if (std::count_if(split.begin(), split.end(), same) > 1) {
      refuse("two parts of the split have the same name", "", fmt::format("'{}'", name));
    }
  }
}

void check(const std::string& output, const PackOptions& options) {
  if (!output.ends_with(".rec") || base_name(output) == ".rec") {
    throw InvalidArgumentError("the output is not named as a RecordIO file",
                               {.path = output, .expected = "a name that ends in .rec"});
  }
  if (options.resize < 0 || options.resize > (1 << 15)) {
    refuse("resize is out of range", "0 to 32768", fmt::to_string(options.resize));
  }
  if (options.quality && (*options.quality < 1 || *options.quality > 100)) {
    refuse("quality is out of range", "1 to 100", fmt::to_string(*options.quality));
  }
  if (options.threads < 0) {
    refuse("threads is out of range", "0 or more", fmt::to_string(options.threads));
  }
  if (!(options.max_errors.fraction >= 0 && options.max_errors.fraction <= 1)) {
    refuse("the fraction of images that may fail is out of range", "0 to 1",
           fmt::to_string(options.max_errors.fraction));
  }
  check_part_names(options.split);
}

std::vector<PlannedPart> plan(uint64_t images, const std::string& output,
                              const PackOptions& options) {
  if (options.split.empty()) {
    PlannedPart everything{.uri = output, .images = std::vector<uint64_t>(images)};
    std::iota(everything.images.begin(), everything.images.end(), uint64_t{0});
    return {everything};
  }
  std::vector<PlannedPart> parts;
  for (auto& [name, indices] : split_indices(images, options.split, options.seed)) {
    if (indices.empty()) {
      refuse(fmt::format("part '{}' of the split would be empty", name), "at least one image",
             fmt::format("{} images in all", images));
    }
    parts.push_back({fmt::format("{}_{}.rec", stem_of(output), name), std::move(indices)});
  }
  return parts;
}

// --- Readers: image files to payloads -----------------------------------------------------------

struct PackedImage {
  std::vector<std::byte> payload;
  uint32_t crc = 0;
  std::string failure;  // why there is no payload; empty on success
};

// The error's message without the place, which the report says by itself.
std::string reason_of(const Error& error) {
  ErrorDetail detail = error.detail();
  detail.path.clear();
  detail.record.reset();
  return Error(error.failure(), detail).what();
}

void fill_payload(const SourceImage& image, Bytes bytes, PackedImage& out) {
  const uint64_t longest = recordio::kMaxPayloadBytes - recordio::kImageHeaderBytes -
                           sizeof(float) * image.labels.size();
  if (bytes.size() > longest) {
    throw UnsupportedError("the image is too long for a record",
                           {.expected = fmt::format("at most {} bytes", longest),
                            .found = fmt::to_string(bytes.size())});
  }
  recordio::append_image_record(image.id, image.labels, bytes, out.payload);
  out.crc = crc32(out.payload);
}

// Makes payloads of images. Threads: one reader a thread.
class ImageReader {
 public:
  ImageReader(const PackSource& source, const PackOptions& options)
      : source_(source), preparer_({options.resize, options.quality, options.verify_images}) {}

  PackedImage read(uint64_t i) {
    PackedImage packed;
    try {
      source_.read(i, image_);
      fill_payload(image_, preparer_.prepare(image_.encoded), packed);
      return packed;
    } catch (const Error& error) {
      packed.failure = reason_of(error);
    } catch (const std::bad_alloc&) {
      image_.storage = {};
      packed.failure = "there is not enough memory for the image";
    } catch (const std::exception& error) {
      packed.failure = error.what();
    }
    packed.payload = {};
    return packed;
  }

 private:
  const PackSource& source_;
  ImagePreparer preparer_;
  SourceImage image_;
};

// --- The writer: payloads to files --------------------------------------------------------------

class ProgressReporter {
 public:
  ProgressReporter(const std::function<bool(const PackProgress&)>& callback, uint64_t total)
      : callback_(callback) {
    now_.total = total;
  }

  void advance(uint64_t done, uint64_t bytes) {
    now_.done = done;
    now_.bytes = bytes;
  }

  // Errors: StateError when the callback wants to stop.
  void report_when_due() {
    if (Clock::now() - last_ >= kProgressInterval) report();
  }
  void report() {
    last_ = Clock::now();
    now_.seconds = std::chrono::duration<double>(last_ - start_).count();
    if (callback_ && !callback_(now_)) throw StateError("interrupted");
  }

 private:
  const std::function<bool(const PackProgress&)>& callback_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
  PackProgress now_;
};

void write_report(const std::string& uri, const std::vector<PackFailure>& failures) {
  const std::unique_ptr<Sink> sink = file_system_for(uri).create(uri);
  for (const PackFailure& failure : failures) {
    const nlohmann::ordered_json line{{"path", failure.path}, {"reason", failure.reason}};
    // A path need not be UTF-8; JSON must.
    sink->write(as_bytes(
        line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"));
  }
  sink->commit();
}

class Job {
 public:
  Job(const PackSource& source, const std::string& output, const PackOptions& options)
      : source_(source),
        options_(options),
        plan_(plan(source.size(), output, options)),
        report_uri_(output + ".errors.jsonl") {
    for (const PlannedPart& part : plan_) total_ += part.images.size();
    allowed_ = options.max_errors.of(total_);
    for (const PlannedPart& part : plan_) parts_.push_back(std::make_unique<Part>(part.uri));
  }

  PackResult run() {
    write_all();
    for (const auto& part : parts_) part->finish(source_.classes());
    if (failures_.empty()) {
      file_system_for(report_uri_).remove(report_uri_);
    } else {
      write_report(report_uri_, failures_);
    }
    commit();
    return result();
  }

 private:
  void write_all() {
    std::vector<uint64_t> order;
    for (const PlannedPart& part : plan_) {
      order.insert(order.end(), part.images.begin(), part.images.end());
    }
    OrderedWork<PackedImage> images(
        {.items = order.size(),
         .threads = options_.threads > 0 ? options_.threads : default_threads()},
        [&]() -> OrderedWork<PackedImage>::Worker {
          return [&order, reader = std::make_shared<ImageReader>(source_, options_)](uint64_t i) {
            return reader->read(order[i]);
          };
        },
        [](const PackedImage& image) { return image.payload.size(); });
    write_parts(images);
  }

  void write_parts(OrderedWork<PackedImage>& images) {
    ProgressReporter progress(options_.progress, total_);
    uint64_t done = 0;
    uint64_t bytes = 0;
    for (size_t p = 0; p < parts_.size(); ++p) {
      Part& part = *parts_[p];
      for (const uint64_t image : plan_[p].images) {
        write(part, image, next(images, progress));
        progress.advance(++done, bytes + part.bytes());
        progress.report_when_due();
      }
      bytes += part.bytes();
      if (part.records() == 0) give_up("no image of the file can be read", part.uri());
    }
    progress.report();
  }

  static PackedImage next(OrderedWork<PackedImage>& images, ProgressReporter& progress) {
    for (;;) {
      if (std::optional<PackedImage> image = images.take(kProgressInterval)) {
        return *std::move(image);
      }
      progress.report_when_due();
    }
  }

  void write(Part& part, uint64_t image, PackedImage packed) {
    if (packed.failure.empty()) {
      part.append(packed.payload, packed.crc);
      return;
    }
    failures_.push_back({source_.path(image), std::move(packed.failure)});
    if (failures_.size() > allowed_) {
      give_up("the image cannot be read, and more of them fail than are allowed",
              failures_.back().path);
    }
  }

  // Leaves the report behind.
  [[noreturn]] void give_up(const std::string& failure, const std::string& path) {
    write_report(report_uri_, failures_);
    throw CorruptError(
        failure, {.path = path,
                  .expected = fmt::format("at most {} of {} images", allowed_, total_),
                  .found = failures_.back().reason,
                  .remedy = fmt::format("{} lists what was found; mend or remove it, or allow more "
                                        "with max-errors",
                                        report_uri_)});
  }

  void commit() {
    for (const auto& part : parts_) part->begin_commit();
    for (const auto& part : parts_) part->commit_companions();
    for (const auto& part : parts_) part->commit_data();
  }

  PackResult result() {
    PackResult result;
    for (const auto& part : parts_) {
      result.files.push_back({part->uri(), part->records(), part->bytes()});
    }
    if (!failures_.empty()) result.report = report_uri_;
    result.failures = std::move(failures_);
    return result;
  }

  const PackSource& source_;
  const PackOptions& options_;
  const std::vector<PlannedPart> plan_;
  const std::string report_uri_;
  uint64_t total_ = 0;
  uint64_t allowed_ = 0;
  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<PackFailure> failures_;
};

}  // namespace

uint64_t MaxErrors::of(uint64_t images) const {
  // Both sides of the comparison are the doubles nearest to their decimal numbers, so equal numbers
  // are equal; the product is not, and only says where to look.
  const auto fits = [&](uint64_t share) {
    return static_cast<double>(share) / static_cast<double>(images) <= fraction;
  };
  auto share = static_cast<uint64_t>(fraction * static_cast<double>(images));
  while (share > 0 && !fits(share)) --share;
  while (share < images && fits(share + 1)) ++share;
  return std::max(count, share);
}

PackResult pack(const std::string& source, const std::string& output, const PackOptions& options) {
  check(output, options);
  const std::unique_ptr<PackSource> images = open_pack_source(source, options.root, options.warn);
  return Job(*images, output, options).run();
}

}  // namespace fuelrail
