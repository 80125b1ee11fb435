// The conformance suite for samplers (sampler/sampler.h). A test lists its samplers and
// instantiates:
//
//   struct EpochSamplers { static std::vector<SamplerCase> cases(); };
//   INSTANTIATE_TYPED_TEST_SUITE_P(EpochSampler, SamplerConformance, EpochSamplers);
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/sampler/sampler.h"

namespace fuelrail {

struct SamplerCase {
  std::string name;
  uint64_t records = 0;
  // Returns a new sampler of the same order that continues from `start`.
  std::function<std::unique_ptr<Sampler>(Progress start)> make;
};

template <typename Cases>
class SamplerConformance : public ::testing::Test {
 protected:
  static constexpr size_t kMostPlans = 40;  // for samplers without an end

  // Calls `check(sampler_case)` for each case; failures name the case.
  template <typename Check>
  static void for_each_case(const Check& check) {
    for (const SamplerCase& sampler_case : Cases::cases()) {
      SCOPED_TRACE(sampler_case.name);
      check(sampler_case);
    }
  }

  // The plans of a sampler to its end, but at most this many.
  static std::vector<BatchPlan> plans_of(Sampler& sampler) {
    std::vector<BatchPlan> plans;
    while (plans.size() < kMostPlans) {
      std::optional<BatchPlan> plan = sampler.next();
      if (!plan) break;
      plans.push_back(std::move(*plan));
    }
    return plans;
  }

  static void expect_equal(const BatchPlan& a, const BatchPlan& b) {
    EXPECT_EQ(a.epoch, b.epoch);
    EXPECT_EQ(a.ends_epoch, b.ends_epoch);
    EXPECT_EQ(a.after, b.after);
    ASSERT_EQ(a.entries.size(), b.entries.size());
    for (size_t row = 0; row < a.entries.size(); ++row) {
      EXPECT_EQ(a.entries[row].record, b.entries[row].record);
      EXPECT_EQ(a.entries[row].position, b.entries[row].position);
      EXPECT_EQ(a.entries[row].epoch, b.entries[row].epoch);
      EXPECT_EQ(a.entries[row].valid, b.entries[row].valid);
    }
  }
};
TYPED_TEST_SUITE_P(SamplerConformance);

TYPED_TEST_P(SamplerConformance, progress_is_where_the_last_plan_left_it) {
  this->for_each_case([](const SamplerCase& sampler_case) {
    const std::unique_ptr<Sampler> sampler = sampler_case.make({});
    EXPECT_EQ(sampler->progress(), Progress{});
    for (size_t batch = 0; batch < TestFixture::kMostPlans; ++batch) {
      const Progress before = sampler->progress();
      const std::optional<BatchPlan> plan = sampler->next();
      EXPECT_EQ(sampler->progress(), plan ? plan->after : before);
      if (!plan) break;
      EXPECT_EQ(plan->epoch, before.epoch);
    }
  });
}

TYPED_TEST_P(SamplerConformance, an_epoch_goes_forward_and_ends_at_the_beginning_of_the_next) {
  this->for_each_case([](const SamplerCase& sampler_case) {
    const std::unique_ptr<Sampler> sampler = sampler_case.make({});
    Progress before = sampler->progress();
    for (const BatchPlan& plan : TestFixture::plans_of(*sampler)) {
      if (plan.ends_epoch) {
        EXPECT_EQ(plan.after, (Progress{plan.epoch + 1, 0}));
      } else {
        EXPECT_EQ(plan.after.epoch, plan.epoch);
        EXPECT_GT(plan.after.position, before.position);
      }
      before = plan.after;
    }
  });
}

TYPED_TEST_P(SamplerConformance, entries_lie_within_the_batch_and_the_records) {
  this->for_each_case([](const SamplerCase& sampler_case) {
    const std::unique_ptr<Sampler> sampler = sampler_case.make({});
    Progress before = sampler->progress();
    for (const BatchPlan& plan : TestFixture::plans_of(*sampler)) {
      std::optional<uint64_t> last;
      for (const Entry& entry : plan.entries) {
        EXPECT_EQ(entry.epoch, plan.epoch);
        EXPECT_LT(entry.record, sampler_case.records);
        EXPECT_GE(entry.position, before.position);
        EXPECT_TRUE(entry.valid || plan.ends_epoch) << "only an epoch's last batch is filled up";
        EXPECT_TRUE(plan.ends_epoch || entry.position < plan.after.position);
        EXPECT_EQ(entry.position, last ? *last + 1 : entry.position)
            << "a rank's rows are consecutive";
        last = entry.position;
      }
      before = plan.after;
    }
  });
}

TYPED_TEST_P(SamplerConformance, two_of_the_same_give_the_same) {
  this->for_each_case([](const SamplerCase& sampler_case) {
    const std::unique_ptr<Sampler> first = sampler_case.make({});
    const std::unique_ptr<Sampler> second = sampler_case.make({});
    const std::vector<BatchPlan> plans = TestFixture::plans_of(*first);
    const std::vector<BatchPlan> again = TestFixture::plans_of(*second);
    ASSERT_EQ(plans.size(), again.size());
    for (size_t i = 0; i < plans.size(); ++i) TestFixture::expect_equal(plans[i], again[i]);
  });
}

TYPED_TEST_P(SamplerConformance, restarted_after_any_batch_it_goes_on_as_if_never_stopped) {
  this->for_each_case([](const SamplerCase& sampler_case) {
    const std::unique_ptr<Sampler> uninterrupted = sampler_case.make({});
    const std::vector<BatchPlan> plans = TestFixture::plans_of(*uninterrupted);
    for (size_t stop = 0; stop < plans.size(); ++stop) {
      const std::unique_ptr<Sampler> restarted = sampler_case.make(plans[stop].after);
      EXPECT_EQ(restarted->progress(), plans[stop].after);
      for (size_t i = stop + 1; i < plans.size(); ++i) {
        const std::optional<BatchPlan> plan = restarted->next();
        ASSERT_TRUE(plan.has_value()) << "batch " << i << " after a stop at " << stop;
        TestFixture::expect_equal(*plan, plans[i]);
      }
    }
  });
}

TYPED_TEST_P(SamplerConformance, once_ended_it_stays_ended) {
  this->for_each_case([](const SamplerCase& sampler_case) {
    const std::unique_ptr<Sampler> sampler = sampler_case.make({});
    if (TestFixture::plans_of(*sampler).size() == TestFixture::kMostPlans) return;
    EXPECT_FALSE(sampler->next().has_value());
    EXPECT_FALSE(sampler->next().has_value());
  });
}

TYPED_TEST_P(SamplerConformance, substitutes_are_records_and_depend_on_the_plans_row_alone) {
  this->for_each_case([](const SamplerCase& sampler_case) {
    const std::unique_ptr<Sampler> sampler = sampler_case.make({});
    const std::unique_ptr<Sampler> later = sampler_case.make({});
    const std::vector<BatchPlan> plans = TestFixture::plans_of(*later);
    for (const BatchPlan& plan : plans) {
      for (size_t row = 0; row < plan.entries.size(); ++row) {
        for (const uint32_t attempt : {1u, 2u, 9u, Sampler::kMaxSubstitutes}) {
          const std::optional<uint64_t> record = sampler->substitute(plan, row, attempt);
          EXPECT_EQ(record, later->substitute(plan, row, attempt));
          if (record) {
            EXPECT_LT(*record, sampler_case.records);
          } else {
            EXPECT_FALSE(sampler->substitute(plan, row, attempt + 1).has_value());
          }
        }
      }
    }
  });
}

REGISTER_TYPED_TEST_SUITE_P(SamplerConformance, progress_is_where_the_last_plan_left_it,
                            an_epoch_goes_forward_and_ends_at_the_beginning_of_the_next,
                            entries_lie_within_the_batch_and_the_records,
                            two_of_the_same_give_the_same,
                            restarted_after_any_batch_it_goes_on_as_if_never_stopped,
                            once_ended_it_stays_ended,
                            substitutes_are_records_and_depend_on_the_plans_row_alone);

}  // namespace fuelrail
