// SPDX-License-Identifier: Apache-2.0
// Values of JSON files, and the lines and places of those that are wrong.
#include "base/text/fields.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace coset::text {
namespace {

std::string refusal(std::string const& written, std::function<void(field)> const& read) {
  json_document const all(written);
  try {
    read(field(all));
  } catch (std::runtime_error const& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(Fields, AreTakenAsWhatTheyAre) {
  json_document const all(R"({"n": 255, "d": -1.5, "t": "word", "b": true, "l": [1, 2]})");
  field const f(all);
  EXPECT_EQ(f["n"].whole<std::uint8_t>(), 255);
  EXPECT_EQ(f["n"].whole(255), 255u);
  EXPECT_EQ(f["d"].number(), -1.5);
  EXPECT_EQ(f["t"].text(), "word");
  EXPECT_TRUE(f["b"].truth());
  ASSERT_EQ(f["l"].elements().size(), 2u);
  EXPECT_EQ(f["l"].elements()[1].whole<unsigned>(), 2u);
  EXPECT_TRUE(f.has("n"));
  EXPECT_FALSE(f.has("m"));
  EXPECT_FALSE(f["l"].has("n"));
}

TEST(Fields, ThatAreWrongAreToldWithLineAndPlace) {
  std::string const written =
      "{\"a\": 1,\n \"rules\": [\n  {\"x\": \"}],{\\\"\"},\n  {\"ranks\":\n -1}\n ],\n \"b\": 300}";
  auto const rule = [](field f) { return f["rules"].elements()[1]; };
  EXPECT_EQ(refusal(written, [&](field f) { rule(f)["ranks"].whole<std::uint8_t>(); }),
            "line 5, rules[1].ranks: -1 is not a whole number up to 255");
  EXPECT_EQ(refusal(written, [](field f) { f["b"].whole<std::uint8_t>(); }),
            "line 7, b: 300 is not a whole number up to 255");
  EXPECT_EQ(refusal(written, [&](field f) { rule(f)["plan"]; }), "line 4, rules[1]: plan is missing");
  EXPECT_EQ(refusal(written, [](field f) { f["c"]; }), "line 1, the whole: c is missing");
  EXPECT_EQ(refusal(written, [](field f) { f["a"].text(); }), "line 1, a: 1 is not a text");
  EXPECT_EQ(refusal(written, [](field f) { f["a"].truth(); }), "line 1, a: 1 is neither true nor false");
  EXPECT_EQ(refusal(written, [](field f) { f["a"].elements(); }), "line 1, a: 1 is not a list");
  EXPECT_EQ(refusal(written, [](field f) { f["a"]["b"]; }), "line 1, a: 1 is not an object with b");
  EXPECT_EQ(refusal(written, [](field f) { f["rules"].number(); }), "line 2, rules: array is not a number");
  EXPECT_EQ(refusal(written, [](field f) { f["rules"].refuse("no"); }), "line 2, rules: no");
}

TEST(Fields, OfRepeatedAndEscapedKeysHaveTheRightLineOrNone) {
  EXPECT_EQ(refusal("{\"a\": 1,\n\"a\": 2}", [](field f) { f["a"].text(); }), "line 2, a: 2 is not a text");
  EXPECT_EQ(refusal("{\n\"\\u0061\": 2}", [](field f) { f["a"].text(); }), "a: 2 is not a text");
  EXPECT_EQ(refusal("\n[]", [](field f) { f.text(); }), "line 2, the whole: array is not a text");
}

TEST(Fields, BesideWhatIsNestedDeeplyAreFound) {
  EXPECT_EQ(refusal("{\"a\": " + std::string(100, '[') + "\n" + std::string(100, ']') + ", \"b\": -1}",
                    [](field f) { f["b"].whole(9); }),
            "line 2, b: -1 is not a whole number up to 9");
  std::string const written =
      "{\"a\": " + std::string(500'000, '[') + "\"]\", {}" + std::string(500'000, ']') + ",\n\"b\": -1}";
  EXPECT_EQ(refusal(written, [](field f) { f["b"].whole(9); }), "line 2, b: -1 is not a whole number up to 9");
  EXPECT_EQ(refusal(written, [](field f) { f["a"].text(); }), "line 1, a: array is not a text");
}

TEST(Fields, ThatFitNoNumberAreRefused) {
  for (char const* const wrong : {"-1", "1.5", "1e30", "18446744073709551616", "null", "\"1\"", "[1]"})
    EXPECT_NE(
        refusal(wrong, [](field f) { f.whole<std::uint64_t>(); }).find("is not a whole number up to 1844674407370"),
        std::string::npos)
        << wrong;
}

TEST(Fields, AreOfJsonOnly) { EXPECT_THROW(json_document("{\"a\": "), std::exception); }

}  // namespace
}  // namespace coset::text
