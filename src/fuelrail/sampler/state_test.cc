#include "fuelrail/sampler/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

using ::testing::HasSubstr;

State example() {
  State state;
  state.dataset = "1281167-147897477120-9f3c21d8";
  state.classes = "1000-3c21d89f";
  state.seed = 42;
  state.shuffle = "full";
  state.progress = {3, 25600};
  return state;
}

// The error of parse_state for a text that it must refuse.
std::string refusal(const std::string& json) {
  return testing::refusal_of<InvalidArgumentError>([&] { parse_state(json); });
}

// The example's JSON with one member's text replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string json = to_json(example());
  const size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return json.replace(at, from.size(), to);
}

TEST(State, is_one_flat_json_object) {
  EXPECT_EQ(to_json(example()), R"({"version":1,"dataset":"1281167-147897477120-9f3c21d8",)"
                                R"("classes":"1000-3c21d89f","seed":42,)"
                                R"("shuffle":"full","epoch":3,"position":25600})");
}

TEST(State, comes_back_as_it_was) {
  State state = example();
  for (const uint64_t seed : {uint64_t{0}, uint64_t{1} << 53, ~uint64_t{0}}) {
    state.seed = seed;
    state.progress = {std::numeric_limits<uint32_t>::max(), ~seed};
    state.shuffle = "none";
    const State parsed = parse_state(to_json(state));
    EXPECT_EQ(parsed.version, state.version);
    EXPECT_EQ(parsed.dataset, state.dataset);
    EXPECT_EQ(parsed.classes, state.classes);
    EXPECT_EQ(parsed.seed, state.seed);
    EXPECT_EQ(parsed.shuffle, state.shuffle);
    EXPECT_EQ(parsed.progress, state.progress);
  }
}

TEST(State, is_under_a_kilobyte) {
  State state;
  state.version = std::numeric_limits<uint32_t>::max();
  state.dataset = std::string(512, 'f');
  state.seed = ~uint64_t{0};
  state.shuffle = "window:1048576:1048576";
  state.progress = {std::numeric_limits<uint32_t>::max(), ~uint64_t{0}};
  EXPECT_LT(to_json(state).size(), 1024u);
}

TEST(State, unknown_members_are_ignored) {
  const State state = parse_state(with("{", R"({"later":{"deep":[1,2.5,null,"x"]},"":true,)"));
  EXPECT_EQ(state.seed, 42u);
  EXPECT_EQ(state.progress, (Progress{3, 25600}));
}

TEST(State, order_and_white_space_do_not_matter) {
  const State state = parse_state(
      " {\n\"position\" : 1, \"epoch\":2,\"shuffle\":\"none\",\"seed\":3,\"dataset\":\"d\","
      "\"classes\":\"\","
      "\"version\":1 }\n");
  EXPECT_EQ(state.progress, (Progress{2, 1}));
}

TEST(State, a_missing_member_is_named) {
  for (const std::string name :
       {"version", "dataset", "classes", "seed", "shuffle", "epoch", "position"}) {
    EXPECT_THAT(refusal(with("\"" + name + "\"", "\"x\"")),
                HasSubstr("the state has no member '" + name + "'"));
  }
}

TEST(State, a_member_of_the_wrong_type_is_named) {
  EXPECT_EQ(refusal(with("\"seed\":42", "\"seed\":\"42\"")),
            "the state's member 'seed' is invalid: expected an integer from 0 to "
            "18446744073709551615, found \"42\"");
  for (const std::string name : {"version", "seed", "epoch", "position"}) {
    for (const std::string value : {"-1", "1.0", "1e3", "null", "true", "\"1\"", "[1]", "{}"}) {
      std::string json = R"({"version":1,"dataset":"d","classes":"","seed":1,"shuffle":"none",)"
                         R"("epoch":1,"position":1})";
      const size_t at = json.find("\"" + name + "\":1") + name.size() + 3;
      json.replace(at, 1, value);
      EXPECT_THAT(refusal(json), HasSubstr("the state's member '" + name + "' is invalid")) << json;
    }
  }
  for (const std::string value : {"1", "null", "[]", "{\"a\":1}"}) {
    EXPECT_THAT(refusal(with("\"full\"", value)),
                HasSubstr("the state's member 'shuffle' is invalid: expected a string"));
  }
}

TEST(State, a_number_that_does_not_fit_is_named) {
  EXPECT_THAT(refusal(with("\"epoch\":3", "\"epoch\":4294967296")),
              HasSubstr("'epoch' is invalid: expected an integer from 0 to 4294967295, found "
                        "4294967296"));
  EXPECT_THAT(refusal(with("\"seed\":42", "\"seed\":18446744073709551616")),
              HasSubstr("'seed' is invalid"));
  EXPECT_THAT(refusal(with("\"position\":25600", "\"position\":1" + std::string(400, '0'))),
              HasSubstr("the state is not valid JSON"));
}

TEST(State, another_version_is_refused) {
  EXPECT_EQ(refusal(with("\"version\":1", "\"version\":2")),
            "the state's 'version' is not supported: expected 1, found 2. Restore "
            "the state "
            "with the fuelrail version that wrote it, or with a newer version.");
  EXPECT_THAT(refusal(with("\"version\":1", "\"version\":0")), HasSubstr("'version'"));
}

TEST(State, what_is_no_json_object_is_refused) {
  for (const std::string json : {"", "{", "nonsense", "{\"version\":1,}", "\xff\xfe", "{}{}"}) {
    EXPECT_THAT(refusal(json), HasSubstr("the state is not valid JSON")) << json;
  }
  for (const std::string json : {"[]", "1", "null", "\"state\""}) {
    EXPECT_THAT(refusal(json), HasSubstr("the state is not a JSON object")) << json;
  }
  EXPECT_EQ(refusal("{\"version\":?}"),
            "offset 11: the state is not valid JSON. Pass the value that state_dict() returned.");
  const std::string whole = to_json(example());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(refusal(whole.substr(0, size)), HasSubstr("the state is not valid JSON")) << size;
  }
}

TEST(State, deep_nesting_and_long_texts_do_no_harm) {
  const std::string open(20000, '[');
  const std::string close(20000, ']');
  EXPECT_THAT(refusal(open), HasSubstr("the state is not valid JSON"));
  EXPECT_THAT(refusal(open + close), HasSubstr("the state is not a JSON object: found an array"));
  EXPECT_EQ(parse_state(with("{", "{\"later\":" + open + close + ",")).seed, 42u);
  EXPECT_THAT(refusal(with("42", open + close)), HasSubstr("'seed' is invalid"));
  EXPECT_THAT(refusal(std::string(70000, ' ')), HasSubstr("the state is too long"));
  const std::string message = refusal(with("42", "\"" + std::string(10000, 'a') + "\""));
  EXPECT_LT(message.size(), 300u);
  EXPECT_LT(refusal(with("42", "\"" + std::string(10000, 'a'))).size(), 300u);
  EXPECT_LT(refusal(with("42", std::string(10000, '9') + "e9")).size(), 300u);
}

TEST(CheckSameRun, the_same_run_goes_on) {
  State restored = example();
  restored.progress = {9, 9};
  EXPECT_NO_THROW(check_same_run(restored, example()));
}

TEST(CheckSameRun, the_member_that_differs_is_named_with_both_values) {
  const auto refusal_of = [](const State& restored) -> std::string {
    try {
      check_same_run(restored, example());
    } catch (const InvalidArgumentError& error) {
      return error.what();
    }
    return "accepted";
  };
  State restored = example();
  restored.seed = 7;
  EXPECT_EQ(refusal_of(restored),
            "the state's 'seed' differs from the loader's: expected 42, found "
            "7. Build the loader with the same seed.");
  restored.shuffle = "none";
  EXPECT_THAT(refusal_of(restored),
              HasSubstr("'shuffle' differs from the loader's: expected full, found none"));
  restored.dataset = "other";
  EXPECT_THAT(refusal_of(restored), HasSubstr("'dataset' differs from the loader's"));
  restored = example();
  restored.classes = "1000-0";
  EXPECT_EQ(refusal_of(restored),
            "the state's 'classes' differs from the loader's: expected "
            "1000-3c21d89f, found 1000-0. Open or pack the dataset with the run's class names "
            "(--classes; in Python, `classes`).");
  restored.version = 2;
  EXPECT_THAT(refusal_of(restored),
              HasSubstr("'version' differs from the loader's: expected 1, found 2"));
}

TEST(CheckSameRun, classes_without_names_are_not_compared) {
  State nameless = example();
  nameless.classes = "";
  EXPECT_NO_THROW(check_same_run(nameless, example()));
  EXPECT_NO_THROW(check_same_run(example(), nameless));
}

}  // namespace
}  // namespace fuelrail
