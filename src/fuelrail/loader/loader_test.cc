#include "fuelrail/loader/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/image_set.h"
#include "fuelrail/testing/loader_job.h"
#include "fuelrail/testing/memory_container.h"

namespace fuelrail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr size_t kRecords = 23;

LoaderJob some_options() {
  LoaderJob options;
  options.order.batch_size = 4;
  options.order.shuffle = Shuffle::kFull;
  options.order.seed = 5;
  options.images.transforms = {RandomResizedCrop{.size = {8, 8}}, HorizontalFlip{},
                               Normalize{{0.5F, 0.5F, 0.5F}, {0.2F, 0.2F, 0.2F}}};
  options.engine.threads = 2;
  options.images.fields = {"image", "id"};
  return options;
}

std::vector<std::byte> bytes_of(const Batch& batch) {
  std::vector<std::byte> bytes;
  for (size_t c = 0; c < batch.layout().columns().size(); ++c) {
    const std::byte* begin = batch.column(c);
    bytes.insert(bytes.end(), begin,
                 begin + batch.rows() * batch.layout().columns()[c].row_bytes());
  }
  return bytes;
}

std::vector<std::vector<std::byte>> rest_of_epoch(Loader& loader) {
  std::vector<std::vector<std::byte>> batches;
  while (auto batch = loader.next()) batches.push_back(bytes_of(*batch));
  return batches;
}

class LoaderTest : public ::testing::Test {
 protected:
  ImageSet set_ = make_image_set("memory://loader/set.rec", kRecords);
  Loader make(const LoaderJob& options = some_options()) { return options.loader(set_.container); }
};

TEST_F(LoaderTest, an_epoch_has_as_many_batches_as_size_says) {
  Loader loader = make();
  EXPECT_EQ(loader.size(), 6U);
  EXPECT_THAT(rest_of_epoch(loader), SizeIs(6));
}

TEST_F(LoaderTest, epochs_follow_one_another_and_differ) {
  Loader loader = make();
  const auto first = rest_of_epoch(loader);
  EXPECT_EQ(loader.state().progress, (Progress{1, 0}));
  EXPECT_NE(rest_of_epoch(loader), first);
}

TEST_F(LoaderTest, batches_are_the_same_for_any_threads_and_prefetch) {
  LoaderJob options = some_options();
  options.engine.threads = 1;
  Loader one = make(options);
  const auto expected = rest_of_epoch(one);
  for (const int threads : {2, 3, 8}) {
    for (const size_t prefetch : {1U, 5U}) {
      options.engine.threads = threads;
      options.engine.prefetch = prefetch;
      Loader loader = make(options);
      EXPECT_EQ(rest_of_epoch(loader), expected) << threads << " threads, prefetch " << prefetch;
    }
  }
}

TEST_F(LoaderTest, restoring_goes_on_where_the_state_was_taken) {
  Loader whole = make();
  const auto expected = rest_of_epoch(whole);
  for (size_t taken = 0; taken < expected.size(); ++taken) {
    Loader before = make();
    for (size_t i = 0; i < taken; ++i) before.next();
    Loader after = make();
    after.restore(before.state());
    const auto rest = rest_of_epoch(after);
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(),
                           expected.begin() + static_cast<ptrdiff_t>(taken), expected.end()))
        << taken;
  }
}

TEST_F(LoaderTest, a_state_of_another_seed_is_refused) {
  LoaderJob options = some_options();
  Loader loader = make(options);
  options.order.seed = 6;
  Loader other = make(options);
  try {
    other.restore(loader.state());
    FAIL();
  } catch (const InvalidArgumentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("seed"));
  }
}

TEST_F(LoaderTest, a_state_beyond_the_dataset_is_refused) {
  Loader loader = make();
  State state = loader.state();
  state.progress.position = kRecords;
  EXPECT_THROW(loader.restore(state), InvalidArgumentError);
}

TEST_F(LoaderTest, set_epoch_gives_that_epoch) {
  Loader plain = make();
  rest_of_epoch(plain);
  const auto second = rest_of_epoch(plain);
  Loader loader = make();
  loader.next();
  loader.set_epoch(1);
  EXPECT_EQ(rest_of_epoch(loader), second);
  loader.set_epoch(1);
  EXPECT_EQ(rest_of_epoch(loader), second);
}

TEST_F(LoaderTest, next_epoch_skips_what_is_left_and_nothing_else) {
  Loader plain = make();
  const auto first = rest_of_epoch(plain);
  const auto second = rest_of_epoch(plain);
  Loader loader = make();
  loader.next_epoch();  // no epoch has begun
  EXPECT_EQ(rest_of_epoch(loader), first);
  loader.next_epoch();  // the first epoch has ended
  loader.next();
  loader.next_epoch();
  EXPECT_EQ(loader.state().progress, (Progress{2, 0}));

  Loader all_but_the_end = make();
  for (size_t i = 0; i < first.size(); ++i) all_but_the_end.next();
  all_but_the_end.next_epoch();
  EXPECT_EQ(rest_of_epoch(all_but_the_end), second);
}

TEST_F(LoaderTest, next_epoch_after_a_restore_keeps_the_restored_place) {
  Loader loader = make();
  loader.next();
  const State state = loader.state();
  Loader restored = make();
  restored.restore(state);
  restored.next_epoch();
  EXPECT_EQ(restored.state().progress, state.progress);
}

TEST_F(LoaderTest, naming_the_restored_epoch_keeps_the_restored_place) {
  Loader loader = make();
  loader.next();
  const State state = loader.state();
  Loader restored = make();
  restored.restore(state);
  restored.set_epoch(state.progress.epoch);
  EXPECT_EQ(restored.state().progress, state.progress);
  restored.next();
  restored.set_epoch(
      state.progress.epoch);  // the epoch has begun, so it restarts from its beginning
  EXPECT_EQ(restored.state().progress, (Progress{state.progress.epoch, 0}));
}

TEST_F(LoaderTest, memory_is_for_the_rows_that_there_are) {
  LoaderJob options = some_options();
  options.order.batch_size = 1'000'000'000;
  Loader loader = make(options);
  EXPECT_EQ(loader.layout().rows(), kRecords);
  EXPECT_EQ(loader.next()->rows(), kRecords);
}

TEST_F(LoaderTest, batches_beyond_all_memory_are_an_error_with_their_bytes_and_shapes) {
  LoaderJob options = some_options();
  options.order.batch_size =
      1 << 15;  // 2^15 rows of 2^15 x 2^15 pixels: more than can be addressed
  options.order.last_batch = LastBatch::kPad;
  options.images.transforms = {CenterCrop{.size = {1 << 15, 1 << 15}}};
  Loader loader = make(options);
  try {
    loader.next();
    FAIL();
  } catch (const OutOfMemoryError& error) {
    EXPECT_EQ(error.detail().expected,
              "422212465328128 bytes for each of 4 batches (`prefetch` + 2) of image float32 "
              "(32768, 3, 32768, 32768), id int64 (32768,)");
    EXPECT_THAT(error.detail().remedy, HasSubstr("smaller `batch_size` or `prefetch`"));
  }
}

TEST_F(LoaderTest, batches_of_more_rows_than_memory_can_list_are_the_same_error) {
  LoaderJob options = some_options();
  options.order.batch_size = size_t{1} << 60;
  options.order.last_batch = LastBatch::kPad;
  options.images.fields = {"valid"};
  Loader loader = make(options);
  EXPECT_THROW(loader.next(), OutOfMemoryError);
}

TEST_F(LoaderTest, more_batches_ahead_than_can_be_counted_are_refused) {
  LoaderJob options = some_options();
  options.engine.prefetch = size_t{1} << 62;
  EXPECT_THROW(make(options), InvalidArgumentError);
}

TEST_F(LoaderTest, the_ranks_together_give_the_global_batches) {
  LoaderJob options = some_options();
  options.order.batch_size = 4;
  options.images.fields = {"position"};
  for (uint32_t rank = 0; rank < 2; ++rank) {
    options.order.shard = {rank, 2};
    Loader loader = make(options);
    const auto batch = loader.next();
    int64_t first = 0;
    std::memcpy(&first, batch->row(0, 0), sizeof first);
    EXPECT_EQ(first, rank * 4);
  }
}

TEST_F(LoaderTest, an_error_says_file_and_record_and_the_loader_goes_on) {
  const auto broken = make_image_set("memory://loader/broken.rec", 8, /*broken=*/5);
  LoaderJob options = some_options();
  options.order.shuffle = Shuffle::kNone;
  options.order.batch_size = 2;
  Loader loader = options.loader(broken.container);
  EXPECT_TRUE(loader.next());
  EXPECT_TRUE(loader.next());
  try {
    loader.next();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.detail().path, "memory://loader/broken.rec");
    EXPECT_EQ(error.detail().record, 5U);
    EXPECT_TRUE(error.detail().offset);
  }
  EXPECT_TRUE(loader.next());
  EXPECT_FALSE(loader.next());
}

LoaderJob skipping_options() {
  LoaderJob options = some_options();
  options.order.shuffle = Shuffle::kNone;
  options.order.batch_size = 8;
  options.images.fields = {"image", "id", "position", "substituted"};
  options.errors.on_error = OnError::kSkip;
  return options;
}

TEST_F(LoaderTest, a_skipped_image_gives_its_row_to_a_substitute_which_the_row_says) {
  const auto broken = make_image_set("memory://loader/skipped.rec", 8, /*broken=*/5);
  Loader loader = skipping_options().loader(broken.container);
  const auto batch = loader.next();
  for (size_t row = 0; row < 8; ++row) {
    int64_t id = 0;
    int64_t position = 0;
    std::memcpy(&id, batch->row(1, row), sizeof id);
    std::memcpy(&position, batch->row(2, row), sizeof position);
    EXPECT_EQ(*batch->row(3, row) != std::byte{0}, row == 5);
    EXPECT_EQ(id == 1000 + static_cast<int64_t>(row), row != 5);
    EXPECT_EQ(position, row);
  }
  const std::vector<BadRecord> bad = loader.bad_records();
  ASSERT_THAT(bad, SizeIs(1));
  EXPECT_EQ(bad[0].record, 5U);
  EXPECT_THAT(bad[0].error, HasSubstr("memory://loader/skipped.rec: record 5"));
}

TEST_F(LoaderTest, max_bad_is_a_count_or_a_fraction_of_the_ranks_share) {
  const auto broken = make_image_set("memory://loader/counted.rec", 8, /*broken=*/5);
  const auto gives_a_batch = [&](decltype(ErrorPolicy::max_bad) max_bad) {
    LoaderJob options = skipping_options();
    options.errors.max_bad = max_bad;
    Loader loader = options.loader(broken.container);
    try {
      return loader.next().has_value();
    } catch (const TooManyBadRecordsError&) {
      return false;
    }
  };
  EXPECT_TRUE(gives_a_batch(std::nullopt));
  EXPECT_TRUE(gives_a_batch(Allowance{.count = 1}));
  EXPECT_FALSE(gives_a_batch(Allowance{}));
  EXPECT_TRUE(gives_a_batch(Allowance{.fraction = 0.125}));
  EXPECT_FALSE(gives_a_batch(Allowance{.fraction = 0.124}));
}

TEST_F(LoaderTest, an_option_out_of_bounds_is_refused_with_its_bounds) {
  const auto message = [this](auto change) -> std::string {
    LoaderJob options = some_options();
    change(options);
    try {
      make(options);
    } catch (const InvalidArgumentError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message([](LoaderJob& o) { o.engine.prefetch = 0; }),
            "`prefetch` is out of range: expected 1 to 65535, found 0");
  EXPECT_EQ(message([](LoaderJob& o) { o.engine.read.threads = 1025; }),
            "`read_threads` is out of range: expected 1 to 1024, found 1025");
  EXPECT_EQ(message([](LoaderJob& o) { o.engine.read.threads = 0; }),
            "`read_threads` is out of range: expected 1 to 1024, found 0");
  EXPECT_EQ(message([](LoaderJob& o) { o.images.max_pixels = 0; }),
            "`max_pixels` is out of range: expected at least 1, found 0");
  EXPECT_EQ(message([](LoaderJob& o) { o.errors.max_bad = Allowance{.count = 1}; }),
            "`max_bad` needs on_error=\"skip\". Set on_error=\"skip\", or omit `max_bad`.");
}

TEST_F(LoaderTest, bad_options_are_refused) {
  const auto refused = [this](auto change) {
    LoaderJob options = some_options();
    change(options);
    EXPECT_THROW(make(options), Error);
  };
  refused([](LoaderJob& o) { o.order.batch_size = 0; });
  refused([](LoaderJob& o) { o.engine.threads = -1; });
  refused([](LoaderJob& o) { o.engine.prefetch = 0; });
  refused([](LoaderJob& o) { o.order.shard = {2, 2}; });
  refused([](LoaderJob& o) { o.images.dtype = DType::kUint8; });  // with Normalize
  refused([](LoaderJob& o) { o.images.max_pixels = 0; });
  refused([](LoaderJob& o) { o.errors.max_bad = Allowance{.fraction = 1.5}; });
  refused([](LoaderJob& o) { o.errors.max_bad = Allowance{.fraction = std::nan("")}; });
  refused([](LoaderJob& o) { o.images.fields = {"image", "image"}; });
  refused([](LoaderJob& o) { o.images.fields = {"imagee"}; });
}

TEST_F(LoaderTest, images_of_no_common_size_are_rows_in_memory_that_is_used_again) {
  LoaderJob options = some_options();
  options.images.transforms = {};
  options.images.dtype = DType::kUint8;
  options.engine.prefetch = 1;
  Loader loader = make(options);
  uint64_t delivered = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::set<uint64_t> seen;
    while (auto batch = loader.next()) {
      delivered += batch->bytes();
      for (size_t i = 0; i < batch->rows(); ++i) {
        uint64_t id = 0;
        std::memcpy(&id, batch->row(1, i), sizeof id);
        const Size size = set_.sizes[id - 1000];
        EXPECT_THAT(batch->ragged_row(0, i).shape, ElementsAre(3, size.height, size.width));
        seen.insert(id);
      }
      EXPECT_LE(batch->owner()->arena().capacity_bytes(), size_t{16} << 20);
    }
    EXPECT_THAT(seen, SizeIs(kRecords));
  }
  EXPECT_EQ(loader.stats().consumer.bytes, delivered);
}

// Records with 0 to 4 points each; record i has the points (i, 0), (i, 1), ...
std::shared_ptr<const Container> points(size_t records) {
  std::vector<MemoryContainer::Record> made;
  for (size_t i = 0; i < records; ++i) {
    std::string row;
    for (size_t k = 0; k < i * 7 % 5; ++k) {
      row += numbers_bytes({static_cast<double>(i), static_cast<double>(k)});
    }
    made.push_back({.fields = {row}, .id = i});
  }
  return std::make_shared<MemoryContainer>("memory://loader/points",
                                           Schema{{{.name = "points",
                                                    .kind = FieldKind::kTensor,
                                                    .dtype = DType::kFloat64,
                                                    .shape = {-1, 2}}}},
                                           made);
}

std::vector<double> numbers_of(const Batch& batch) {
  size_t count = 1;
  for (const int64_t extent : batch.shape(0)) count *= static_cast<size_t>(extent);
  std::vector<double> numbers(count);
  if (count > 0) std::memcpy(numbers.data(), batch.joined(0).data, count * sizeof(double));
  return numbers;
}

TEST(JoinedColumns, are_whole_and_the_same_for_any_number_of_threads) {
  for (const Ragged form : {Ragged::kPad, Ragged::kPacked}) {
    std::vector<std::vector<double>> first;
    for (const int threads : {1, 4}) {
      LoaderJob options = some_options();
      options.images = {.ragged = form, .fields = {"points", "id"}};
      options.engine.threads = threads;
      Loader loader = options.loader(points(23));
      std::vector<Batch> kept;  // so that no memory is used again
      std::vector<std::vector<double>> batches;
      for (int epoch = 0; epoch < 2; ++epoch) {
        while (auto batch = loader.next()) kept.push_back(*batch);
      }
      for (const Batch& batch : kept) batches.push_back(numbers_of(batch));
      if (threads == 1) first = batches;
      EXPECT_EQ(batches, first);
    }
    EXPECT_THAT(first, SizeIs(12));
  }
}

TEST(JoinedColumns, rows_are_those_of_the_samples) {
  LoaderJob options = some_options();
  options.images = {.ragged = Ragged::kPacked, .fields = {"points", "id"}};
  Loader loader = options.loader(points(23));
  while (auto batch = loader.next()) {
    const std::vector<double> numbers = numbers_of(*batch);
    const int64_t* const offsets = batch->joined(0).index;
    EXPECT_EQ(offsets[0], 0);
    for (size_t row = 0; row < batch->rows(); ++row) {
      int64_t id = 0;
      std::memcpy(&id, batch->row(1, row), sizeof id);
      ASSERT_EQ(offsets[row + 1] - offsets[row], id * 7 % 5);
      for (int64_t k = offsets[row]; k < offsets[row + 1]; ++k) {
        EXPECT_EQ(numbers[static_cast<size_t>(k) * 2], static_cast<double>(id));
        EXPECT_EQ(numbers[static_cast<size_t>(k) * 2 + 1], static_cast<double>(k - offsets[row]));
      }
    }
  }
}

TEST(JoinedColumns, a_batch_without_rows_has_an_empty_array) {
  for (const Ragged form : {Ragged::kPad, Ragged::kPacked}) {
    LoaderJob options = some_options();
    options.images = {.ragged = form, .fields = {"points"}};
    options.order = {.batch_size = 4, .shard = {.rank = 1, .world_size = 2}};
    Loader loader = options.loader(points(1));
    const auto batch = loader.next();
    ASSERT_TRUE(batch.has_value());
    EXPECT_EQ(batch->rows(), 0U);
    EXPECT_THAT(numbers_of(*batch), SizeIs(0));
    EXPECT_EQ(batch->shape(0).back(), 2);
  }
}

// Writes the number of bytes of each record's image.
class ImageLengthWorker final : public Worker {
 public:
  explicit ImageLengthWorker(std::shared_ptr<const Container> container)
      : container_(std::move(container)) {}

  void process(std::span<Task> tasks) override {
    write_each(tasks, [this](Task& task) {
      container_->parse(task.entry.record, task.framed, sample_);
      const uint64_t bytes = sample_.fields[0].bytes.size();
      std::memcpy(task.batch->row(0, task.row), &bytes, sizeof bytes);
    });
  }

 private:
  std::shared_ptr<const Container> container_;
  Sample sample_;
};

TEST_F(LoaderTest, workers_of_the_callers_own_write_columns_of_his_own) {
  Loader loader(
      set_.container, {.order = OrderOptions{.batch_size = 4}, .engine = {.threads = 2}},
      {.columns = {{"length", DType::kInt64, {}}}, .make_worker = [container = set_.container] {
         return std::make_unique<ImageLengthWorker>(container);
       }});
  std::vector<std::byte> framed;
  Sample sample;
  uint64_t record = 0;
  while (auto batch = loader.next()) {
    ASSERT_THAT(batch->layout().columns(), SizeIs(1));
    for (size_t i = 0; i < batch->rows(); ++i, ++record) {
      uint64_t length = 0;
      std::memcpy(&length, batch->row(0, i), sizeof length);
      read_sample(*set_.container, record, framed, sample);
      EXPECT_EQ(length, sample.fields[0].bytes.size());
    }
  }
  EXPECT_EQ(record, kRecords);
}

}  // namespace
}  // namespace fuelrail
