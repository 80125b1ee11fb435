// The loader's orders: windows, weights and fed orders, restored at any position, and prefetched
// across the gap between epochs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "fuelrail/base/error.h"
#include "fuelrail/loader/loader.h"
#include "fuelrail/sampler/feed.h"
#include "fuelrail/testing/engine_rig.h"
#include "fuelrail/testing/image_set.h"
#include "fuelrail/testing/loader_job.h"
#include "fuelrail/testing/repeated_container.h"

namespace fuelrail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr size_t kRecords = 23;

LoaderJob ids_of(uint64_t batch_size) {
  LoaderJob options;
  options.order.batch_size = batch_size;
  options.order.seed = 5;
  options.engine.threads = 2;
  options.images.fields = {"id"};
  return options;
}

std::vector<int64_t> ids(const Batch& batch) {
  std::vector<int64_t> ids(batch.rows());
  if (!ids.empty()) std::memcpy(ids.data(), batch.column(0), ids.size() * sizeof(int64_t));
  return ids;
}

std::vector<std::vector<int64_t>> rest_of_epoch(Loader& loader) {
  std::vector<std::vector<int64_t>> batches;
  while (auto batch = loader.next()) batches.push_back(ids(*batch));
  return batches;
}

class LoaderOrder : public ::testing::Test {
 protected:
  ImageSet set_ = make_image_set("memory://loader-order/set.rec", kRecords);

  std::string refusal(const LoaderJob& from, const LoaderJob& to) const {
    Loader before = from.loader(set_.container);
    Loader after = to.loader(set_.container);
    try {
      after.restore(before.state());
    } catch (const InvalidArgumentError& error) {
      return error.what();
    }
    return "accepted";
  }
};

std::vector<double> some_weights() {
  std::vector<double> weights(kRecords);
  for (size_t i = 0; i < kRecords; ++i) weights[i] = static_cast<double>(i % 4);
  return weights;
}

LoaderJob weighted(uint64_t samples, std::vector<double> weights = some_weights()) {
  LoaderJob options = ids_of(4);
  options.order.weights = std::make_shared<const Weights>(weights);
  if (samples > 0) options.order.samples = samples;
  return options;
}

TEST_F(LoaderOrder, weights_and_windows_go_on_where_the_state_was_taken) {
  LoaderJob window = ids_of(4);
  window.order.shuffle = Shuffle::window(3, 2);
  for (const LoaderJob& options : {window, weighted(0), weighted(50)}) {
    Loader whole = options.loader(set_.container);
    const auto expected = rest_of_epoch(whole);
    EXPECT_EQ(expected.size(), whole.size());
    for (size_t taken = 0; taken < expected.size(); ++taken) {
      Loader before = options.loader(set_.container);
      for (size_t i = 0; i < taken; ++i) before.next();
      Loader after = options.loader(set_.container);
      after.restore(parse_state(to_json(before.state())));
      const auto rest = rest_of_epoch(after);
      EXPECT_TRUE(std::equal(rest.begin(), rest.end(),
                             expected.begin() + static_cast<ptrdiff_t>(taken), expected.end()));
    }
  }
}

TEST_F(LoaderOrder, state_of_another_order_is_refused_by_name) {
  LoaderJob full = ids_of(4);
  full.order.shuffle = Shuffle::kFull;
  LoaderJob window = ids_of(4);
  window.order.shuffle = Shuffle::window(3, 2);
  LoaderJob other_window = ids_of(4);
  other_window.order.shuffle = Shuffle::window(3, 4);
  std::vector<double> changed = some_weights();
  changed[1] = 9;
  EXPECT_THAT(refusal(full, window),
              HasSubstr("'shuffle' differs from the loader's: expected window(3, 2), found "
                        "full"));
  EXPECT_THAT(refusal(other_window, window), HasSubstr("found window(3, 4)"));
  EXPECT_THAT(refusal(full, weighted(0)), HasSubstr("'dataset' differs"));
  EXPECT_THAT(refusal(weighted(0, changed), weighted(0)), HasSubstr("'dataset' differs"));
  EXPECT_THAT(
      refusal(weighted(40), weighted(30)),
      HasSubstr("'shuffle' differs from the loader's: expected weights(30), found weights(40)"));
  EXPECT_EQ(refusal(weighted(kRecords), weighted(0)), "accepted");
}

// The records that a loader restored at `progress` reads, and the number of extents it requests.
struct Restored {
  std::vector<int64_t> first_batch;
  uint64_t extents = 0;
};

Restored restored_at(const std::shared_ptr<const Container>& many, const LoaderJob& options,
                     Progress progress) {
  std::atomic<uint64_t> extents = 0;
  Loader loader = options.loader(std::make_shared<HookedContainer>(
      many, ContainerHooks{.extent = [&](uint64_t) { ++extents; }}));
  State state = loader.state();
  state.progress = progress;
  EXPECT_LT(to_json(state).size(), 1024u);
  loader.restore(parse_state(to_json(state)));
  EXPECT_EQ(loader.state().progress, progress);
  Restored restored{.first_batch = ids(*loader.next())};
  loader.stop();
  restored.extents = extents;
  return restored;
}

// If the order were traversed or stored, the test would exceed its time limit or the memory.
TEST_F(LoaderOrder, restoring_at_any_position_of_2_to_the_33_records_is_immediate) {
  constexpr uint64_t kMany = (uint64_t{1} << 33) + 7;
  const auto many = std::make_shared<RepeatedContainer>(set_.container, kMany);
  for (const Shuffle& shuffle : {Shuffle::kNone, Shuffle::kFull, Shuffle::window(256, 64)}) {
    LoaderJob options = ids_of(3);
    options.order.shuffle = shuffle;
    options.order.shard = {1, 2};
    const EpochOrder order(kMany, shuffle, options.order.seed, 7);
    for (const uint64_t position : {uint64_t{0}, kMany / 3, kMany - 8, kMany - 2}) {
      const Restored restored = restored_at(many, options, {7, position});
      std::vector<int64_t> expected;
      const uint64_t left = kMany - position;
      for (uint64_t row = std::min<uint64_t>(3, left - left / 2); row < std::min<uint64_t>(6, left);
           ++row) {
        expected.push_back(static_cast<int64_t>(order(position + row)));
      }
      EXPECT_EQ(restored.first_batch, expected) << position;
      EXPECT_LT(restored.extents, 1000u);  // of its batch, and of those read ahead
    }
  }
}

TEST_F(LoaderOrder, restoring_at_any_of_2_to_the_33_weighted_draws_is_immediate) {
  constexpr uint64_t kMany = uint64_t{1} << 33;
  const LoaderJob options = weighted(kMany);
  const EpochOrder order(options.order.weights, options.order.seed, 7);
  for (const uint64_t position : {uint64_t{0}, kMany / 3, kMany - 4}) {
    const Restored restored = restored_at(set_.container, options, {7, position});
    std::vector<int64_t> expected;
    for (uint64_t row = 0; row < 4; ++row) {
      expected.push_back(1000 + static_cast<int64_t>(order(position + row)));
    }
    EXPECT_EQ(restored.first_batch, expected) << position;
    EXPECT_LT(restored.extents, 1000u);
  }
}

// --- shares -------------------------------------------------------------------------------------

TEST_F(LoaderOrder, another_share_goes_on_where_the_user_stands) {
  const Shard shares[] = {{0, 1}, {1, 2}, {2, 3}};
  for (const size_t taken : {size_t{0}, size_t{1}, size_t{3}}) {
    for (const Shard& shard : shares) {
      LoaderJob options = ids_of(2);
      options.order.shuffle = Shuffle::kFull;
      Loader before = options.loader(set_.container);
      for (size_t i = 0; i < taken; ++i) before.next();
      options.order.shard = shard;
      Loader expected = options.loader(set_.container);
      expected.restore(before.state());
      before.reshard(shard);
      EXPECT_EQ(before.options().shard().world_size, shard.world_size);
      EXPECT_EQ(before.size(), expected.size());
      EXPECT_EQ(before.batches_left(), expected.batches_left());
      EXPECT_EQ(rest_of_epoch(before), rest_of_epoch(expected));
      EXPECT_EQ(rest_of_epoch(before), rest_of_epoch(expected));
    }
  }
}

TEST_F(LoaderOrder, a_share_that_cannot_be_leaves_the_loader_as_it_was) {
  Loader loader = ids_of(uint64_t{1} << 40).loader(set_.container);
  EXPECT_THROW(loader.reshard({0, 0}), InvalidArgumentError);
  EXPECT_THROW(loader.reshard({2, 2}), OutOfRangeError);
  EXPECT_THROW(loader.reshard({0, 1U << 30}), InvalidArgumentError);  // 2^70 rows
  EXPECT_EQ(loader.options().shard().world_size, 1u);
  EXPECT_EQ(rest_of_epoch(loader)[0].size(), kRecords);
  loader.stop();
  EXPECT_THROW(loader.reshard({0, 2}), StateError);
  EXPECT_THROW(loader.reserve(uint64_t{1} << 41), StateError);
  EXPECT_EQ(loader.options().shard().world_size, 1u);
  EXPECT_EQ(loader.layout().rows(), kRecords);
}

TEST_F(LoaderOrder, the_batches_that_are_left_are_counted_down_to_the_epochs_end) {
  LoaderJob options = ids_of(5);
  options.order.last_batch = LastBatch::kDrop;
  Loader loader = options.loader(set_.container);
  ASSERT_EQ(loader.size(), 4u);
  for (uint64_t left = 4; left > 0; --left) {
    EXPECT_EQ(loader.batches_left(), left);
    ASSERT_TRUE(loader.next());
  }
  EXPECT_EQ(loader.batches_left(), 0u);
  EXPECT_FALSE(loader.next());
  EXPECT_EQ(loader.batches_left(), 4u);
}

// --- fed orders ---------------------------------------------------------------------------------

// The state of a caller that feeds: the feed in use, and the position where it began.
struct Feeding {
  std::shared_ptr<Feed> feed;
  Progress start;
  int begun = 0;

  LoaderJob options() {
    LoaderJob options = ids_of(1);
    options.fed = FedOrder{.make = [this](Progress at, const Shard& shard) {
      if (feed) feed->close();
      feed = std::make_shared<Feed>();
      start = at;
      ++begun;
      return std::make_unique<FedSampler>(
          kRecords, [mine = feed] { return mine->pop(); }, at, FedSampler::Position::kCounted,
          shard);
    }};
    return options;
  }
  ~Feeding() {
    if (feed) feed->close();
  }
};

// Closes the feed before the loader is destroyed, because the loader's thread may wait for it.
struct FedLoader {
  FedLoader(
      std::shared_ptr<const Container> container, Feeding& by,
      const std::function<void(LoaderJob&)>& change = [](LoaderJob&) {})
      : feeding(by), loader(changed(by.options(), change).loader(std::move(container))) {}
  ~FedLoader() { feeding.feed->close(); }
  static LoaderJob changed(LoaderJob options, const std::function<void(LoaderJob&)>& change) {
    change(options);
    return options;
  }
  Feeding& feeding;
  Loader loader;
};

TEST_F(LoaderOrder, fed_batches_come_as_they_are_fed) {
  Feeding feeding;
  FedLoader fed(set_.container, feeding);
  fed.loader.reserve(3);
  feeding.feed->push({{3, 1, 3}});
  feeding.feed->push({{22}, true});
  feeding.feed->push({{0, 5}, true});
  feeding.feed->end();
  EXPECT_EQ(rest_of_epoch(fed.loader),
            (std::vector<std::vector<int64_t>>{{1003, 1001, 1003}, {1022}}));
  EXPECT_EQ(fed.loader.state().progress, (Progress{1, 0}));
  EXPECT_EQ(fed.loader.state().shuffle, "fed");
  EXPECT_EQ(rest_of_epoch(fed.loader), (std::vector<std::vector<int64_t>>{{1000, 1005}}));
  EXPECT_FALSE(fed.loader.next());
  EXPECT_THROW(fed.loader.size(), StateError);
}

TEST_F(LoaderOrder, feeding_prefetch_and_one_beyond_what_was_handed_out_is_enough) {
  for (const size_t prefetch : {1u, 2u, 5u}) {
    Feeding feeding;
    LoaderJob options = feeding.options();
    options.engine.prefetch = prefetch;
    Loader loader = options.loader(set_.container);
    uint64_t pushed = 0;
    for (int64_t taken = 0; taken < 60; ++taken) {
      for (; pushed < static_cast<uint64_t>(taken) + prefetch + 1; ++pushed) {
        feeding.feed->push({{pushed % kRecords}});
      }
      EXPECT_THAT(ids(*loader.next()), ElementsAre(1000 + taken % static_cast<int64_t>(kRecords)));
    }
    feeding.feed->close();
  }
}

TEST_F(LoaderOrder, making_room_begins_the_feed_where_the_user_stands) {
  Feeding feeding;
  FedLoader fed(set_.container, feeding);
  feeding.feed->push({{1}});
  feeding.feed->push({{2}});
  feeding.feed->end();
  EXPECT_THAT(ids(*fed.loader.next()), ElementsAre(1001));
  fed.loader.reserve(4);
  EXPECT_EQ(feeding.start, (Progress{0, 1}));
  feeding.feed->push({{2}});
  feeding.feed->push({{3, 4, 5, 6}, true});
  feeding.feed->end();
  EXPECT_THAT(ids(*fed.loader.next()), ElementsAre(1002));
  EXPECT_THAT(ids(*fed.loader.next()), ElementsAre(1003, 1004, 1005, 1006));
  // The end of the epoch is still returned, even after `reserve`.
  fed.loader.reserve(6);
  EXPECT_EQ(feeding.start, (Progress{1, 0}));
  feeding.feed->push({{1, 2, 3, 4, 5, 6}});
  feeding.feed->end();
  EXPECT_FALSE(fed.loader.next());
  EXPECT_EQ(fed.loader.next()->rows(), 6u);
}

TEST_F(LoaderOrder, a_next_that_waits_longer_than_the_stall_timeout_says_what_for) {
  Feeding feeding;
  FedLoader fed(set_.container, feeding, [](LoaderJob& job) { job.stall_timeout = 1e-3; });
  EXPECT_THROW(fed.loader.next(), StallError);
}

TEST_F(LoaderOrder, stopping_ends_a_next_that_waits_to_be_fed) {
  Feeding feeding;
  FedLoader fed(set_.container, feeding);
  std::thread waits([&] { EXPECT_THROW(fed.loader.next(), StateError); });
  feeding.feed->close();
  fed.loader.stop();
  waits.join();
  EXPECT_THROW(fed.loader.reserve(9), StateError);
}

// Every odd record is bad. Its substitute is the next record of the batch.
std::shared_ptr<const Container> odd_ones_bad(const ImageSet& set) {
  const auto refuse = [](uint64_t record) {
    if (record % 2 == 1) throw CorruptError("odd");
  };
  return std::make_shared<HookedContainer>(set.container, ContainerHooks{.extent = refuse});
}

// A loader that is fed one batch at a time.
struct FedSkipping : FedLoader {
  FedSkipping(std::shared_ptr<const Container> container, Feeding& by, const Allowance& max_bad)
      : FedLoader(std::move(container), by, [max_bad](LoaderJob& options) {
          options.fed->rows = 2;
          options.errors.on_error = OnError::kSkip;
          options.errors.max_bad = max_bad;
        }) {}
  bool too_many(std::vector<uint64_t> records) {
    feeding.feed->push({std::move(records)});
    feeding.feed->end();
    try {
      loader.next();
      return false;
    } catch (const TooManyBadRecordsError&) {
      return true;
    }
  }
};

TEST_F(LoaderOrder, making_room_forgets_neither_bad_records_nor_their_number) {
  for (const size_t rows : {0u, 4u}) {  // the size so far, and a larger one
    Feeding feeding;
    FedSkipping fed(odd_ones_bad(set_), feeding, Allowance{.count = 2});
    EXPECT_FALSE(fed.too_many({1, 2}));
    fed.loader.reserve(rows);
    EXPECT_FALSE(fed.too_many({3, 4}));
    fed.loader.reserve(2 * rows);
    EXPECT_FALSE(fed.too_many({1, 6})) << "1 was counted before";
    ASSERT_EQ(fed.loader.bad_records().size(), 2u);
    EXPECT_EQ(fed.loader.bad_records()[0].times, 2u);
    EXPECT_EQ(fed.loader.bad_records(1)[0].record, 3u);
    fed.loader.reserve(3 * rows);
    EXPECT_TRUE(fed.too_many({5, 8}));
  }
}

TEST_F(LoaderOrder, run_that_bad_records_have_ended_stays_ended_until_it_is_told_where_to_begin) {
  for (const size_t rows : {0u, 4u}) {
    Feeding feeding;
    FedSkipping fed(odd_ones_bad(set_), feeding, Allowance{.count = 0});
    EXPECT_TRUE(fed.too_many({1, 2}));
    fed.loader.reserve(rows);
    EXPECT_TRUE(fed.too_many({2, 4}));
    EXPECT_THROW(fed.loader.next_epoch(), TooManyBadRecordsError);
    fed.loader.set_epoch(0);
    EXPECT_FALSE(fed.too_many({2, 4}));
    fed.loader.next_epoch();
  }
}

TEST_F(LoaderOrder, max_bad_of_a_fed_order_is_a_fraction_of_all_records_on_every_rank) {
  Feeding feeding;
  FedLoader fed(odd_ones_bad(set_), feeding, [](LoaderJob& options) {
    options.fed->rows = 2;
    options.fed->shard = {1, 4};
    options.errors.on_error = OnError::kSkip;
    options.errors.max_bad = Allowance{.fraction = 2.5 / kRecords};
  });
  for (const uint64_t record : {1u, 3u, 5u}) feeding.feed->push({{record, 2}});
  feeding.feed->end();
  EXPECT_TRUE(fed.loader.next());
  EXPECT_TRUE(fed.loader.next());
  EXPECT_THROW(fed.loader.next(), TooManyBadRecordsError);
}

// For ThreadSanitizer.
TEST_F(LoaderOrder, any_thread_may_ask_while_room_is_made) {
  Feeding feeding;
  FedSkipping fed(odd_ones_bad(set_), feeding, Allowance{.count = kRecords});
  std::atomic<bool> over = false;
  std::atomic<uint64_t> asked = 0;
  std::thread asks([&] {
    for (; !over; ++asked) {
      EXPECT_LE(fed.loader.bad_records().size(), kRecords);
      EXPECT_LE(fed.loader.progress().position, 2 * 8u);
      static_cast<void>(fed.loader.stats());
    }
  });
  for (uint64_t i = 0; i < 8; ++i) {
    EXPECT_FALSE(fed.too_many({2 * i + 1, 0}));
    for (const uint64_t before = asked; asked == before;) std::this_thread::yield();
    fed.loader.reserve(3 + i);
  }
  over = true;
  asks.join();
  EXPECT_EQ(fed.loader.bad_records().size(), 8u);
}

// --- the gap between epochs ---------------------------------------------------------------------

TEST_F(LoaderOrder, next_epoch_is_read_while_the_user_is_between_epochs) {
  constexpr size_t kInFlight = 4;  // two batches of two
  Gate gate;
  std::mutex mutex;
  std::set<uint64_t> read;
  std::atomic<size_t> in_flight = 0;
  ContainerHooks hooks;
  hooks.read = [&](uint64_t offset, uint64_t) {
    {
      std::lock_guard lock(mutex);
      if (read.insert(offset).second) return;  // read for the first epoch
    }
    ++in_flight;
    gate.pass();
  };
  const auto eight = std::make_shared<HookedContainer>(
      std::make_shared<RepeatedContainer>(set_.container, 8), hooks);
  LoaderJob options = ids_of(2);
  options.engine.prefetch = 2;
  options.engine.read.threads = 256;  // the maximum, so that nothing is planned far ahead
  Loader loader = options.loader(eight);
  for (int batch = 0; batch < 4; ++batch) ASSERT_TRUE(loader.next());
  // The user has the epoch's last batch, and does what users do.
  while (in_flight < kInFlight) std::this_thread::yield();
  EXPECT_EQ(loader.state().progress, (Progress{1, 0}));
  EXPECT_FALSE(loader.next());
  loader.next_epoch();
  EXPECT_GE(in_flight, kInFlight);
  gate.open();
  EXPECT_THAT(ids(*loader.next()), ElementsAre(0, 1));
}

}  // namespace
}  // namespace fuelrail
