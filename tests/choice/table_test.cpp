// SPDX-License-Identifier: Apache-2.0
// Plans and rules as users write them, and what becomes of them.
#include "planning/choice/rules/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <coset/coset.hpp>
#include <string>

#include "planning/program/plan_text.hpp"
#include "variable.hpp"

namespace coset::choice {
namespace {

using test::variable;
using ::testing::HasSubstr;

template <class Error, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (Error const& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(Bytes, MayHaveAUnit) {
  EXPECT_EQ(program::parse_bytes("0"), 0u);
  EXPECT_EQ(program::parse_bytes("512"), 512u);
  EXPECT_EQ(program::parse_bytes("32k"), 32768u);
  EXPECT_EQ(program::parse_bytes("4M"), 4u << 20);
  EXPECT_EQ(program::parse_bytes("1G"), 1u << 30);
  for (char const* wrong : {"", "k", "-1", "1.5k", "1kb", "1 k", "99999999999999999999", "99999999999G"})
    EXPECT_THROW(program::parse_bytes(wrong), argument_error) << wrong;
}

TEST(PlanNamed, HasAlgorithmStorageAndSegment) {
  EXPECT_EQ(plan_named("").algorithm, "auto");
  EXPECT_EQ(plan_named("ring").storage, "auto");
  auto const whole = plan_named("generalized(radix=4)/zero_copy+stream/256K");
  EXPECT_EQ(whole.algorithm, "generalized(radix=4)");
  EXPECT_EQ(whole.storage, "zero_copy+stream");
  EXPECT_EQ(whole.segment_bytes, 256u << 10);
  EXPECT_EQ(plan_named("auto/staged").algorithm, "auto");
  for (char const* wrong : {"rong", "ring/stuck", "ring/staged/much", "ring/staged/4k/more", "ring(", "/staged+steam"})
    EXPECT_THAT(message_of<schedule_error>([&] { plan_named(wrong); }), HasSubstr(wrong));
}

TEST(Rules, ServeTheSizesThatTheyName) {
  table rules;
  for (rule const& r : parse_rules(verb::allreduce, "direct/staged:0-32k;ring:32k-1M;generalized:4M-")) rules.append(r);
  auto const algorithm_at = [&](std::size_t bytes) {
    rule const* const found = rules.find(verb::allreduce, 4, bytes);
    return found == nullptr ? "none" : found->how.algorithm;
  };
  EXPECT_EQ(algorithm_at(0), "direct");
  EXPECT_EQ(algorithm_at((32 << 10) - 1), "direct");
  EXPECT_EQ(algorithm_at(32 << 10), "ring");
  EXPECT_EQ(algorithm_at(1 << 20), "none");
  EXPECT_EQ(algorithm_at(std::size_t{1} << 40), "generalized");
  EXPECT_EQ(rules.find(verb::broadcast, 4, 0), nullptr);
}

TEST(Rules, ThatCannotBeReadAreRefusedWithTheirText) {
  for (char const* wrong : {"rong", "ring:", "ring:4k", "ring:4k-1k", "ring:0-9:9", "ring:a-b"})
    EXPECT_THAT(message_of<argument_error>([&] { parse_rules(verb::allreduce, wrong); }), HasSubstr(wrong));
  variable const set("COSET_BROADCAST", "binomial:0-;rong");
  EXPECT_THAT(message_of<argument_error>([] { team t({.ranks = 1}); }), HasSubstr("COSET_BROADCAST"));
}

std::string plan_of(rank_t ranks, verb what, std::size_t count) {
  team t({.ranks = ranks, .place = placement::unbound});
  return make_plan<float>(t, what, count).describe();
}

TEST(Environment, ChoosesThePlansOfCalls) {
  variable const set("COSET_ALLREDUCE", "ring/staged_pull:0-1k;direct/output+stream:1k-");
  EXPECT_EQ(plan_of(3, verb::allreduce, 10).substr(0, 4), "ring");
  EXPECT_THAT(plan_of(3, verb::allreduce, 10), HasSubstr("staged_pull"));
  EXPECT_THAT(plan_of(3, verb::allreduce, 1000), HasSubstr("output+stream"));
  team t({.ranks = 3, .place = placement::unbound});
  t.run([](member& me) {
    std::vector<float> ones(1000, 1.0f);
    allreduce(me, ones);
    EXPECT_EQ(ones, std::vector<float>(1000, 3.0f));
    EXPECT_EQ(allreduce(me, 2.0f), 6.0f);
  });
}

TEST(Environment, LogsWhatIsChosenOncePerShape) {
  variable const set("COSET_LOG", "plan");
  team t({.ranks = 2, .place = placement::unbound});
  ::testing::internal::CaptureStderr();
  t.run([](member& me) {
    std::vector<float> ones(1000, 1.0f);
    for (int k = 0; k < 3; ++k) allreduce(me, ones);
  });
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::MatchesRegex("coset: allreduce of 1000 float \\(coset::plus\\), in place on 2 ranks: direct"
                                      "[^,]*, [a-z_+]+; expected to take [0-9]+ ns, see coset why\n"));
}

TEST(Environment, IsPassedOverWhereItCannotServe) {
  std::string const ordinary = plan_of(3, verb::allreduce, 10);
  variable const set("COSET_ALLREDUCE", "adapted_dissemination(n=1)");  // on three ranks the bits would differ
  EXPECT_EQ(plan_of(3, verb::allreduce, 10), ordinary);
  variable const products("COSET_REDUCE_SCATTER", "product(dims=4x4)");  // on three ranks there is none
  EXPECT_NO_THROW(plan_of(3, verb::reduce_scatter, 12));
}

}  // namespace
}  // namespace coset::choice
