#include "fuelrail/base/option.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

enum class Colour : uint8_t { kRed, kGreen };

struct Inner {
  int threads = 4;
  Colour colour = Colour::kGreen;

  static const OptionTable<Inner>& table() {
    static const auto table =
        OptionTable<Inner>()
            .number("threads", &Inner::threads, 0, 1024, "at once.")
            .choice("colour", &Inner::colour, {{"red", Colour::kRed}, {"green", Colour::kGreen}},
                    "of it.");
    return table;
  }
};

struct Outer {
  uint64_t seed = 7;
  std::optional<int> workers{};
  double share = 0.5;
  bool fast = false;
  int64_t pixels = 9;
  float gain = 1;
  std::string path = "p";
  Inner inner{.threads = 16};

  static const OptionTable<Outer>& table() {
    static const auto table = OptionTable<Outer>()
                                  .number("seed", &Outer::seed, 0, UINT64_MAX, "of the order.")
                                  .number("workers", &Outer::workers, 1, 8, "that decode.")
                                  .number("share", &Outer::share, 0, 1, "of all.")
                                  .flag("fast", &Outer::fast, "or not.")
                                  .number("pixels", &Outer::pixels, INT64_MIN, 100, "at once.")
                                  .number("gain", &Outer::gain, 0, FLT_MAX, "of all.")
                                  .any({.name = "path", .kind = "path"}, &Outer::path)
                                  .part(&Outer::inner, Inner::table());
    return table;
  }
};

const Option<Outer>& row(const std::string& name) {
  for (const auto& one : Outer::table().rows()) {
    if (one.rule.name == name) return one;
  }
  throw std::logic_error(name);
}

// The error of setting the option; "set" if there is none.
std::string answer(const std::string& name, const OptionValue& value) {
  Outer options;
  try {
    Outer::table().set(options, row(name), value);
    return row(name).get(options) == value ? "set" : "another value";
  } catch (const InvalidArgumentError& error) {
    return error.what();
  }
}

TEST(Option, default_is_the_members_also_in_a_part_with_another_default) {
  const Outer options;
  EXPECT_EQ(row("seed").get(options), OptionValue{int64_t{7}});
  EXPECT_EQ(row("workers").get(options), OptionValue{});
  EXPECT_EQ(row("threads").get(options), OptionValue{int64_t{16}});
  EXPECT_EQ(row("colour").get(options), OptionValue{std::string("green")});
}

TEST(Option, value_within_bounds_is_set) {
  EXPECT_EQ(answer("seed", uint64_t{UINT64_MAX}), "set");
  EXPECT_EQ(answer("workers", int64_t{8}), "set");
  EXPECT_EQ(answer("workers", {}), "set");
  EXPECT_EQ(answer("share", 1.0), "set");
  EXPECT_EQ(answer("fast", true), "set");
  EXPECT_EQ(answer("colour", std::string("red")), "set");
}

TEST(Option, value_out_of_bounds_is_one_error_that_says_the_bounds) {
  EXPECT_EQ(answer("threads", int64_t{-1}),
            "`threads` is out of range: expected 0 to 1024, found -1");
  EXPECT_EQ(answer("threads", uint64_t{UINT64_MAX}),
            "`threads` is out of range: expected 0 to 1024, found 18446744073709551615");
  EXPECT_EQ(answer("seed", int64_t{-1}), "`seed` is out of range: expected at least 0, found -1");
  EXPECT_EQ(answer("workers", int64_t{0}), "`workers` is out of range: expected 1 to 8, found 0");
  EXPECT_EQ(answer("share", std::nan("")), "`share` is out of range: expected 0 to 1, found nan");
  EXPECT_EQ(answer("colour", std::string("gren")),
            "`colour` is invalid: found 'gren'. Did you mean 'green'?");
}

TEST(Option, a_value_beyond_64_bits_gets_the_bound_that_the_type_has) {
  const auto refused = [](int64_t least, int64_t most, const std::string& found) {
    const OptionRule rule = option::number_rule("pad", "int", least, most, "");
    return fuelrail::testing::refusal_of<InvalidArgumentError>([&] { rule.refuse(found, true); });
  };
  EXPECT_EQ(refused(1, INT64_MAX, "1e20"),
            "`pad` is out of range: expected at least 1, at most 9223372036854775807, found 1e20");
  EXPECT_EQ(
      refused(INT64_MIN, 8, "-1e20"),
      "`pad` is out of range: expected at most 8, at least -9223372036854775808, found -1e20");
  EXPECT_EQ(refused(1, 8, "1e20"), "`pad` is out of range: expected 1 to 8, found 1e20");
}

TEST(Option, bounds_leave_out_a_side_at_which_the_type_ends) {
  EXPECT_EQ(answer("pixels", int64_t{101}),
            "`pixels` is out of range: expected at most 100, found 101");
  EXPECT_EQ(answer("gain", -1.0), "`gain` is out of range: expected at least 0, found -1");
  EXPECT_EQ(answer("gain", 1e39), "`gain` is out of range: expected at least 0, found 1e+39");
}

TEST(Option, value_of_another_kind_is_refused) {
  EXPECT_EQ(answer("fast", int64_t{1}), "`fast` is out of range: expected bool, found 1");
  EXPECT_EQ(answer("fast", {}), "`fast` is out of range: expected bool, found None");
  EXPECT_EQ(answer("path", 1.5), "`path` is out of range: expected path, found 1.5");
  EXPECT_EQ(answer("threads", 1.5), "`threads` is out of range: expected 0 to 1024, found 1.5");
  EXPECT_EQ(answer("share", true), "`share` is out of range: expected 0 to 1, found True");
}

TEST(Option, check_finds_what_a_caller_in_cc_has_set) {
  Outer options;
  EXPECT_NO_THROW(Outer::table().check(options));
  options.inner.threads = 2000;
  EXPECT_THROW(Outer::table().check(options), InvalidArgumentError);
  options.inner = {.colour = static_cast<Colour>(9)};
  EXPECT_THROW(Outer::table().check(options), InvalidArgumentError);
}

}  // namespace
}  // namespace fuelrail
