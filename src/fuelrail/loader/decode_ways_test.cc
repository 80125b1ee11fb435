// A worker gives the same rows and errors on every way of decoding: JPEGs from entry points, by
// guesses, by one stream, and by libjpeg-turbo; PNGs by our decoder and by libspng.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/recordio/record_writer.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/loader/image_counts.h"
#include "fuelrail/loader/sample_worker.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/made_jpeg.h"
#include "fuelrail/testing/made_png.h"
#include "fuelrail/testing/worker_conformance.h"

namespace fuelrail {
namespace {

// Images that are decoded in every way: most JPEGs get entry points, one has restart markers, one
// is progressive. The last three records are bad: images that were cut, and none.
std::vector<std::vector<std::byte>> encoded_images() {
  std::vector<std::vector<std::byte>> images;
  for (const MadeJpeg& made : std::vector<MadeJpeg>{
           {.size = {150, 170}, .sampling = {{2, 2}}},
           {.size = {90, 700}, .sampling = {{2, 1}}, .own_codes = true},
           {.size = {120, 100}},
           {.size = {130, 90}, .colour = MadeJpeg::Colour::kGrey},
           {.size = {100, 110}, .restart_interval = 5},
           {.size = {100, 110}, .progressive = true},
           {.size = {160, 160}, .sampling = {{2, 2}}},
       }) {
    images.push_back(make_jpeg(made));
  }
  images.insert(images.end() - 1, testing::make_png({.size = {90, 80}}));
  images.push_back(testing::make_png({.size = {70, 60}, .filter = 3}));
  for (size_t cut = images.size() - 2; cut < images.size(); ++cut) {
    images[cut].resize(images[cut].size() / 2);
  }
  const Bytes none = as_bytes("no image");
  images.emplace_back(none.begin(), none.end());
  return images;
}

void write_images(const std::string& uri) {
  file_system_for(uri).make_directory(uri.substr(0, uri.rfind('/')));
  const std::unique_ptr<Sink> sink = file_system_for(uri).create(uri);
  recordio::RecordWriter writer(*sink);
  uint64_t id = 0;
  for (const std::vector<std::byte>& image : encoded_images()) {
    std::vector<std::byte> payload;
    append_image_record(id, {{static_cast<float>(id)}}, image, payload);
    writer.append(payload);
    ++id;
  }
  sink->commit();
}

// Makes the hints of every image, of every second one, or of none that is right.
enum class Index { kWhole, kHalf, kForged };
MakeHints maker_of(Index index) {
  return [make = hint_maker(), index, images = 0](Bytes encoded) mutable {
    std::vector<std::byte> hints = make(encoded);
    if (index == Index::kHalf && ++images % 2 == 0) hints.clear();
    if (index == Index::kForged) {
      for (size_t i = 24; i < hints.size(); ++i) hints[i] ^= std::byte{0x55};
    }
    return hints;
  };
}

struct Way {
  std::string name;
  std::optional<Index> index;
  const char* jpeg = "";  // FUELRAIL_JPEG
  // Images that are decoded from entry points, and by guesses (by one stream, too); those whose
  // entry points are not used.
  uint64_t indexed = 0;
  uint64_t guessed = 0;
  uint64_t refused = 0;
  const char* png = "";  // FUELRAIL_PNG
};
const std::vector<Way>& ways() {
  static const std::vector<Way> kWays{{"libraries", {}, "libjpeg", 0, 0, 0, "libspng"},
                                      {"guesses", {}, "", 0, 4},
                                      {"stream", {}, "stream", 0, 4},
                                      {"entry points", Index::kWhole, "", 4},
                                      {"half of the entry points", Index::kHalf, "", 2, 2},
                                      {"forged entry points", Index::kForged, "", 0, 4, 4}};
  return kWays;
}

// The first image of a format makes a worker's decoder, which then reads the variable.
class LimitedWorker final : public Worker {
 public:
  LimitedWorker(std::unique_ptr<Worker> worker, const Way& way)
      : worker_(std::move(worker)), jpeg_(way.jpeg), png_(way.png) {}
  void process(std::span<Task> tasks) override {
    ::setenv("FUELRAIL_JPEG", jpeg_, 1);
    ::setenv("FUELRAIL_PNG", png_, 1);
    worker_->process(tasks);
    ::unsetenv("FUELRAIL_JPEG");
    ::unsetenv("FUELRAIL_PNG");
  }

 private:
  std::unique_ptr<Worker> worker_;
  const char* jpeg_;
  const char* png_;
};

WorkerCase case_of(const Way& way, const Warn& warn = {}) {
  const std::string uri = "memory://decode_ways/" + way.name + ".rec";
  write_images(uri);
  BuildSidecarOptions options;
  if (way.index) {
    options.hints = {.maker = [index = *way.index] { return maker_of(index); }, .threads = 1};
  }
  build_sidecar(uri, options);
  const auto container = open_container(uri);
  ImageOptions images;
  images.transforms = {RandomResizedCrop{.size = {40, 40}}, HorizontalFlip{}};
  images.fields = {"image", "label"};
  const LoaderWork work = sample_work(container, images, {.engine = {.warn = warn}});
  const WorkerFactory make = [make = work.make_worker, way] {
    return std::make_unique<LimitedWorker>(make(), way);
  };
  return {.name = way.name,
          .container = container,
          .columns = work.columns,
          .make = make,
          .good = {0, 1, 2, 3, 4, 5, 6},
          .bad = {7, 8, 9}};
}

struct DecodeWays {
  static const std::vector<WorkerCase>& cases() {
    static const std::vector<WorkerCase> kCases = [] {
      std::vector<WorkerCase> cases;
      for (const Way& way : ways()) cases.push_back(case_of(way));
      return cases;
    }();
    return kCases;
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(DecodeWay, WorkerConformance, DecodeWays);

// What a worker makes of all records: rows, texts of errors, and oddities.
struct Made {
  std::vector<std::vector<std::byte>> rows;
  std::vector<std::string> errors;
  std::vector<uint64_t> tolerated;
  WorkerCounts counts;
};
Made made_by(const WorkerCase& worker_case) {
  Made made;
  const auto worker = worker_case.make();
  const auto layout = std::make_shared<BatchLayout>(worker_case.columns, 1);
  SlotPool pool(layout->total_bytes(), 1);
  for (uint64_t i = 0; i < worker_case.container->size(); ++i) {
    const Batch batch(layout, pool.take(), 1);
    const Extent extent = worker_case.container->extent(i);
    std::vector<std::byte> framed(extent.length);
    extent.source->read(extent.offset, framed);
    Task task{.entry = {.record = i, .position = i}, .framed = framed, .batch = &batch};
    worker->process({&task, 1});
    std::string error;
    try {
      if (task.error) std::rethrow_exception(task.error);
    } catch (const Error& failed) {
      error = failed.what();
      error.erase(0, error.find(": "));  // the file's name
    }
    made.errors.push_back(error);
    made.tolerated.push_back(task.counts.tolerated);
    made.counts += task.counts;
    std::vector<std::byte> row;
    if (error.empty()) {
      row.assign(batch.row(0, 0), batch.row(0, 0) + layout->columns()[0].row_bytes());
    }
    made.rows.push_back(row);
  }
  return made;
}

TEST(DecodeWays, have_equal_rows_and_errors) {
  const Made expected = made_by(DecodeWays::cases().front());
  for (const size_t bad : {7, 8, 9}) EXPECT_NE(expected.errors[bad], "");
  for (size_t i = 0; i < ways().size(); ++i) {
    const Way& way = ways()[i];
    SCOPED_TRACE(way.name);
    const Made made = made_by(DecodeWays::cases()[i]);
    EXPECT_EQ(made.rows, expected.rows);
    EXPECT_EQ(made.errors, expected.errors);
    EXPECT_EQ(made.tolerated, expected.tolerated);
    const auto count = [&](DecodeWay by) { return made.counts.others[static_cast<size_t>(by)]; };
    EXPECT_EQ(count(DecodeWay::kIndexed), way.indexed);
    EXPECT_EQ(count(DecodeWay::kGuessed), way.guessed);
    const bool by_libraries = way.name == "libraries";
    EXPECT_EQ(count(DecodeWay::kRestarts), by_libraries ? 0 : 1);
    EXPECT_EQ(count(DecodeWay::kPng), by_libraries ? 0 : 1);
    EXPECT_EQ(count(DecodeWay::kLibspng), by_libraries ? 1 : 0);
    EXPECT_EQ(made.counts.others[kHintsRefused], way.refused);
  }
}

TEST(DecodeWays, forged_entry_points_are_warned_of_once) {
  std::vector<std::string> warnings;
  const auto warn = [&](const std::string& text) { warnings.push_back(text); };
  made_by(case_of(ways().back(), warn));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0],
              ::testing::HasSubstr("forged entry points.rec: record 0, offset 0: the image's entry "
                                   "points in the sidecar are damaged or not its own"));
  made_by(case_of(ways()[3], warn));
  EXPECT_EQ(warnings.size(), 1u);
}

}  // namespace
}  // namespace fuelrail
