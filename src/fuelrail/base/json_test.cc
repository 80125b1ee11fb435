#include "fuelrail/base/json.h"

#include <gtest/gtest.h>

#include <limits>

namespace fuelrail {
namespace {

TEST(Json, members_stay_in_their_order_and_values_keep_their_kind) {
  const Json json{
      {"z", -1},
      {"a", uint64_t{18446744073709551615U}},
      {"whole", 2.0},
      {"tenth", 0.1},
      {"much", 1e300},
      {"inner", {{"yes", true}, {"none", nullptr}, {"text", "x"}}},
      {"empty", {{"array", std::vector<Json>{}}, {"object", std::vector<Json::Member>{}}}}};
  EXPECT_EQ(json.text(),
            R"({"z":-1,"a":18446744073709551615,"whole":2.0,"tenth":0.1,"much":1e+300,)"
            R"("inner":{"yes":true,"none":null,"text":"x"},"empty":{"array":[],"object":{}}})");
}

TEST(Json, lists_become_arrays_and_what_is_not_there_null) {
  const std::optional<int> none;
  const Json json{{"list", std::vector<std::string>{"a", "b"}}, {"none", none}};
  EXPECT_EQ(json.text(), R"({"list":["a","b"],"none":null})");
}

TEST(Json, numbers_that_are_not_finite_become_null) {
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).text(), "null");
  EXPECT_EQ(Json(std::numeric_limits<double>::quiet_NaN()).text(), "null");
}

TEST(Json, text_is_escaped_and_what_is_no_utf8_replaced) {
  EXPECT_EQ(Json("\"\\\b\f\n\r\t\x1f\x7f").text(), "\"\\\"\\\\\\b\\f\\n\\r\\t\\u001f\x7f\"");
  EXPECT_EQ(Json("gr\xc3\xbc\xc3\x9f \xf0\x9f\x90\x9c").text(),
            "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x90\x9c\"");
  EXPECT_EQ(Json("\xff\xc3").text(), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(Json("\xed\xa0\x80").text(), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"")
      << "a surrogate";
  EXPECT_EQ(Json("\xe2\x82|\xf0\x9f\x90|\xe2\x82").text(),
            "\"\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd\"")
      << "characters that are cut off";
}

}  // namespace
}  // namespace fuelrail
