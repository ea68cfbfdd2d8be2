// SPDX-License-Identifier: Apache-2.0
// Plan JSON: what is written is read back, and what is no plan is refused with its place.
#include <gtest/gtest.h>

#include <sstream>

#include "planning/schedule/core/required.hpp"
#include "planning/schedule/files/plan_json.hpp"
#include "schedules.hpp"

namespace coset::schedule {
namespace {

using testing::schedule_of;

std::string written(schedule const& plan, properties const& found) {
  std::ostringstream out;
  write_plan(out, plan, found);
  return out.str();
}

schedule read(std::string const& text) {
  std::istringstream in(text);
  return read_plan(in, "my.json").plan;
}

class RoundTrip : public ::testing::TestWithParam<std::string> {};

/// Whether the algorithm is defined here.
bool keeps_a_plan(std::string const& name, rank_t ranks, verb what) {
  schedule plan;
  try {
    plan = schedule_of(name, ranks, what, ranks / 2);
  } catch (schedule_error const&) {
    return false;
  }
  properties const found = validate(plan);
  std::string const text = written(plan, found);
  schedule const again = read(text);
  EXPECT_EQ(again.root, plan.root);
  EXPECT_EQ(again.parameters, plan.parameters);
  EXPECT_EQ(written(again, validate(again)), text) << ranks << name_of(what);
  return true;
}

TEST_P(RoundTrip, KeepsPlanAndPropertiesForEveryVerb) {
  int kept = 0;
  for (rank_t ranks = 1; ranks <= 9; ++ranks)
    for (verb const what : {verb::allreduce, verb::reduce, verb::reduce_scatter, verb::allgather, verb::broadcast,
                            verb::scan, verb::exclusive_scan, verb::barrier})
      kept += keeps_a_plan(GetParam(), ranks, what);
  EXPECT_GE(kept, 4);
}

INSTANTIATE_TEST_SUITE_P(All, RoundTrip,
                         ::testing::Values("direct", "direct(saved_steps=1)", "generalized(radix=3,saved_steps=1)",
                                           "latency", "dilated(ordered=1)", "product(dims=4x2)", "recursive_doubling",
                                           "binomial(radix=3)", "butterfly", "bruck_ho(n=2)", "elimination_3_2",
                                           "leaders(nodes=3+1+2)", "unequal(nodes=5+2)", "flexreduce(nodes=1+2+5)",
                                           "tree_ring(nodes=2+2)"),
                         [](auto const& each) { return "number" + std::to_string(each.index); });

TEST(ReadPlan, LeavesItToValidateToRefuteAPlan) {
  schedule twice = schedule_of("butterfly", 5);
  EXPECT_TRUE(read(written(twice, {})).idempotent_only);
  EXPECT_NO_THROW(validate(read(written(twice, {}))));
  twice.idempotent_only = false;
  EXPECT_THROW(validate(read(written(twice, {}))), schedule_error);
  schedule wrong = schedule_of("direct", 3);
  wrong.sources[1] = wrong.sources[0];
  EXPECT_THROW(validate(read(written(wrong, {}))), schedule_error);
}

TEST(ReadPlan, DoesNotTrustProperties) {
  std::string text = written(schedule_of("direct", 3), {});
  text.replace(text.find("\"properties\""), std::string::npos, "\"properties\": [1]}");
  EXPECT_EQ(validate(read(text)).steps, 2u);
  text.replace(text.find(",\n\"properties\""), std::string::npos, "}");
  EXPECT_EQ(validate(read(text)).steps, 2u);
}

TEST(Contradictions, NameWhatIsStatedAndNotSo) {
  schedule const plan = schedule_of("direct", 3);
  properties const found = validate(plan);
  auto const wrong = [&](std::string const& part, std::string const& instead) {
    std::string text = written(plan, found);
    text.replace(text.find(part), part.size(), instead);
    std::istringstream in(text);
    return contradictions(read_plan(in, "my.json").stated, found);
  };
  using sentences = std::vector<std::string>;
  EXPECT_EQ(wrong("\"steps\":2", "\"steps\":2"), sentences{});
  EXPECT_EQ(wrong("\"steps\":2,", ""), sentences{}) << "not stated";
  EXPECT_EQ(wrong("\"steps\":2", "\"steps\":3"), sentences{"steps is 3, and 2 was found"});
  EXPECT_EQ(wrong("\"sent_max\":\"4/3\"", "\"sent_max\":\"5/3\""),
            sentences{"sent_max is \"5/3\", and \"4/3\" was found"});
  EXPECT_EQ(wrong("\"ordered\":true", "\"ordered\":false"), sentences{"ordered is false, and true was found"});
  EXPECT_EQ(wrong("\"fan_in\":2", "\"fan_in\":[[[2]]]"), sentences{"fan_in is array, and 2 was found"});
  EXPECT_EQ(wrong("\"steps\":2", "\"stops\":2"), sentences{"\"stops\" is 2, and there is no such property"});
}

struct broken {
  char const *part, *instead, *reason;
};

/// An exchange of halves between two ranks, with one part replaced.
std::string two_ranks(std::string const& part, std::string const& instead) {
  std::string text = R"({"coset_plan": 1, "collective": "reduce_scatter", "algorithm": "mine", "parameters": {"a": 1},
    "root": null, "ranks": 2, "blocks": [{"offset": "0", "size": "1/2"}, {"offset": "1/2", "size": "1/2"}],
    "steps": [[{"rank": 0, "block": 0, "slot": 1, "from": [[0, 0], [1, 0]]},
               {"rank": 1, "block": 1, "slot": 1, "from": [[0, 0], [1, 0]]}]],
    "result": [[1, null], [null, 1]]})";
  auto const at = text.find(part);
  if (at == std::string::npos) throw std::logic_error(part + " is not in the plan");
  return text.replace(at, part.size(), instead);
}

std::string refusal(std::string const& text) {
  try {
    read(text);
  } catch (schedule_error const& e) {
    return e.what();
  }
  return "accepted";
}

TEST(ReadPlan, TakesThePlanThatTheNextTestBreaks) {
  properties const found = validate(read(two_ranks("", "")));
  EXPECT_EQ(found.steps, 1u);
  EXPECT_EQ(found.sent_max, fraction(1, 2));
}

TEST(ReadPlan, RefusesWhatIsNoPlanWithItsPlace) {
  broken const table[] = {
      {R"("coset_plan": 1)", R"("coset_plan": 2)", "coset_plan is 2, not 1"},
      {R"("coset_plan": 1)", R"("coset_plan": "1")", "coset_plan is \"1\", not 1"},
      {R"("algorithm": "mine", )", "", "algorithm is missing"},
      {R"("root")", R"("more": 1, "root")", "unknown key \"more\""},
      {R"("reduce_scatter")", R"("shuffle")", "unknown collective 'shuffle'; there are allreduce, "},
      {R"("reduce_scatter")", "[[3]]", "collective is array, not a text of printable characters"},
      {R"("mine")", R"("")", "algorithm is \"\", not a text of printable characters"},
      {R"("mine")", R"("\u001b[2J")", "algorithm is \"\\u001b[2J\", not a text of printable characters"},
      {R"({"a": 1})", "[]", "parameters are array, not an object"},
      {R"({"a": 1})", R"({"a": 1.5})", "the parameter a is 1.5, not a text of printable characters"},
      {R"({"a": 1})", R"({"\n": 1})", "a parameter's name is \"\\n\", not a text of printable characters"},
      {R"("root": null)", R"("root": 0)", "root is 0, and reduce_scatter has none"},
      {R"("reduce_scatter")", R"("reduce")", "root is null, not a whole number below 2"},
      {R"("ranks": 2)", R"("ranks": -2)", "ranks is -2, not a whole number below 4294967296"},
      {R"("ranks": 2)", R"("ranks": 2.0)", "ranks is 2.0, not a whole number below 4294967296"},
      {R"("ranks": 2)", R"("ranks": 4294967296)", "ranks is 4294967296, not a whole number below 4294967296"},
      {R"("ranks": 2)", R"("ranks": 4294967295)", "4294967295 ranks with 2 blocks each are too many to write out"},
      {R"("ranks": 2)", R"("ranks": 1e999)", "number overflow"},
      {R"("ranks": 2)", R"("ranks": 3)", "the results are not those of 3 ranks"},
      {R"("ranks": 2)", R"("ranks": 0)", "a schedule needs at least one rank"},
      {R"("offset": "0")", R"("offset": 0)", "block 0: offset is 0, not a text"},
      {R"("offset": "0")", R"("offset": "1/8")", "block 0 starts at 1/8 instead of 0"},
      {R"("size": "1/2"}])", R"("size": "1/3"}])", "the blocks end at 5/6 instead of 1"},
      {R"("size": "1/2"}])", R"("size": "2/4"}])", "block 1: size is \"2/4\", not a fraction in lowest terms"},
      {R"("size": "1/2"}])", R"("size": "1/0"}])", "block 1: size is \"1/0\", not a fraction"},
      {R"("size": "1/2"}])", R"("size": "1/"}])", "block 1: size is \"1/\", not a fraction"},
      {R"("size": "1/2"}])", R"("size": "99999999999999999999/2"}])", "not a fraction"},
      {R"("size": "1/2"}])", R"("size": "-1/2"}])", "or has a negative size"},
      {R"("size": "1/2"}])", R"("size": "4611686018427387903/9223372036854775807"}])", "does not fit into 64 bits"},
      {R"("size": "1/2"}])", R"("weight": "1/2"}])", "block 1: size is missing"},
      {R"([{"offset": "0", "size": "1/2"}, {"offset": "1/2", "size": "1/2"}])", "[]",
       "the blocks end at 0 instead of 1"},
      {R"("steps": [[)", R"("steps": [0, [)", "step 0: it is 0, not a list"},
      {R"("rank": 1)", R"("rank": 2)", "step 0: assignment 1: rank is 2, not a whole number below 2"},
      {R"("block": 1)", R"("block": 2)", "step 0: assignment 1: block is 2, not a whole number below 2"},
      {R"("slot": 1)", R"("slot": 0)", "slot 0 of rank 0, block 0, its input, is written"},
      {R"("slot": 1)", R"("slot": 2)", "there is a slot 2 of rank 0, block 0, which writes 1, numbered from 1"},
      {R"("slot": 1)", R"("slot": 4294967295)", "slot is 4294967295, not a whole number below 4294967295"},
      {R"("rank": 1, "block": 1, "slot": 1)", R"("rank": 0, "block": 0, "slot": 1)",
       "slot 1 of rank 0, block 0 is written twice"},
      {"[[0, 0], [1, 0]]", "[]", "step 0: assignment 0: from is empty"},
      {"[[0, 0], [1, 0]]", "[0, 0]", "step 0: assignment 0: a source is 0, not [rank, slot]"},
      {"[[0, 0], [1, 0]]", "[[0, 0, 0]]", "step 0: assignment 0: a source is array, not [rank, slot]"},
      {"[[0, 0], [1, 0]]", "[[0, 0], [2, 0]]", "a source's rank is 2, not a whole number below 2"},
      {"[[0, 0], [1, 0]]", "[[0, 0], [1, 1]]", "something reads slot 1 of rank 1, block 0, which writes 0"},
      {"[1, null]", "[1]", "a rank's results are not those of 2 blocks"},
      {"[1, null]", "[1, true]", "result of rank 0: slot is true, not a whole number"},
      {"[1, null]", "[2, null]", "the result is slot 2 of rank 0, block 0, which writes 1"},
      {"[null, 1]]}", "[null, 1]]", "parse error"},
      {"[null, 1]]}", "[null, 1]]} {}", "parse error"},
  };
  for (auto const& [part, instead, reason] : table) {
    std::string const said = refusal(two_ranks(part, instead));
    EXPECT_EQ(said.find("my.json is not a plan: "), 0u) << said;
    EXPECT_NE(said.find(reason), std::string::npos) << said << "\ninstead of: " << reason;
  }
  for (std::string const text : {"", "[]", "null", "{}", "{\"coset_plan\": 1}"})
    EXPECT_EQ(refusal(text).find("my.json is not a plan: "), 0u) << text;
}

TEST(ReadPlan, RefusesTextThatIsNestedToTheBottom) {
  std::size_t const deep = 1'000'000;
  std::string const nested = std::string(deep, '[') + std::string(deep, ']');
  EXPECT_NE(refusal(nested).find("array is not an object"), std::string::npos);
  EXPECT_NE(refusal(two_ranks("[1, null]", nested)).find("slot is array, not a whole number"), std::string::npos);
}

}  // namespace
}  // namespace coset::schedule
