#include "fuelrail/engine/worker_reads.h"

#include <gtest/gtest.h>

namespace fuelrail {
namespace {

// Returns: the number of cached probes until workers read again.
size_t probes_until_on(WorkerReads& reads) {
  size_t probes = 0;
  for (; !reads.on(); ++probes) reads.probed(true);
  return probes;
}

TEST(WorkerReads, are_on_until_a_record_is_not_cached) {
  WorkerReads reads;
  EXPECT_TRUE(reads.on());
  reads.missed();
  EXPECT_FALSE(reads.on());
}

TEST(WorkerReads, are_on_again_after_cached_probes_in_a_row) {
  WorkerReads reads;
  reads.missed();
  for (int i = 0; i < 7; ++i) reads.probed(true);
  reads.probed(false);
  for (int i = 0; i < 7; ++i) reads.probed(true);
  EXPECT_FALSE(reads.on());
  reads.probed(true);
  EXPECT_TRUE(reads.on());
}

TEST(WorkerReads, need_twice_as_many_probes_after_each_mistake) {
  WorkerReads reads;
  reads.missed();
  EXPECT_EQ(probes_until_on(reads), 8u);
  reads.missed();
  reads.missed();  // the same mistake, seen by another worker
  EXPECT_EQ(probes_until_on(reads), 16u);
  for (int i = 0; i < 20; ++i) {
    reads.missed();
    probes_until_on(reads);
  }
  reads.missed();
  EXPECT_EQ(probes_until_on(reads), 1024u);
}

}  // namespace
}  // namespace fuelrail
