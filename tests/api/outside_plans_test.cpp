// SPDX-License-Identifier: Apache-2.0
// Plans from files, executed: as the same plan by name, where they serve; refused with the reason, where they do not.
#include <gmock/gmock.h>

#include "planning/schedule/registry/algorithm.hpp"
#include "schedule/files/random_plan.hpp"
#include "support/bits.hpp"
#include "support/teams.hpp"
#include "variable.hpp"

namespace coset::team_test {
namespace {

using test::plan_in_file;
using test::variable;
using ::testing::HasSubstr;

constexpr std::size_t count = 1003;

schedule::schedule named(std::string const& text, rank_t ranks, verb what = verb::allreduce, rank_t root = 0) {
  return schedule::make(schedule::algorithm::parse(text), ranks, what, root);
}

std::vector<float> input_of(rank_t rank) {
  std::vector<float> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = adversarial<float>(rank, i);
  return made;
}

/// [rank]: what it ends with.
using results = std::vector<std::vector<float>>;

std::vector<std::uint64_t> hashes_of(results const& all) {
  std::vector<std::uint64_t> hashes;
  for (auto const& one : all) hashes.push_back(hash_of<float>(one, nans_of<plus>));
  return hashes;
}

results executed(team& ranks, verb what, std::string const& algorithm, std::string const& storage, rank_t root) {
  std::size_t const whole = count - count % ranks.size();
  plan_options options{.algorithm = algorithm, .storage = storage, .required = bits::per_rank, .root = root};
  auto const how = make_plan<float>(ranks, what, whole, plus{}, options);
  results all(ranks.size());
  ranks.run([&](member& me) {
    auto in = input_of(me.rank());
    in.resize(what == verb::allgather ? whole / me.size() : whole);
    std::vector<float>& out = all[me.rank()];
    out.assign(what == verb::reduce_scatter ? whole / me.size() : whole, 0);
    if (what == verb::broadcast) {
      out = in;
      how.execute(me, out);
    } else {
      how.execute(me, in, out);
    }
  });
  return all;
}

TEST(OutsidePlans, HaveTheBitsOfTheSamePlanByName) {
  std::size_t compared = 0;
  for (rank_t const p : {1u, 2u, 3u, 4u, 6u, 7u}) {
    team ranks(options_for(p));
    for (std::string const algorithm : {"direct", "ring", "generalized(radix=3)", "generalized(saved_steps=1)",
                                        "binomial", "bruck_ho(n=2)", "latency", "recursive_doubling"})
      for (verb const what : {verb::allreduce, verb::reduce, verb::reduce_scatter, verb::allgather, verb::broadcast,
                              verb::scan, verb::exclusive_scan}) {
        rank_t const root = p / 2;
        schedule::schedule made;
        try {
          made = named(algorithm, p, what, root);
        } catch (schedule_error const&) {
          continue;  // not for this verb or number of ranks
        }
        plan_in_file const file(made);
        for (std::string const storage : {"auto", "staged", "zero_copy_push"}) {
          if (what == verb::exclusive_scan && storage == "zero_copy_push") continue;
          EXPECT_EQ(hashes_of(executed(ranks, what, file.named(), storage, root)),
                    hashes_of(executed(ranks, what, algorithm, storage, root)))
              << algorithm << " " << name_of(what) << " P=" << p << " " << storage;
          ++compared;
        }
      }
  }
  EXPECT_GT(compared, 200u);
}

/// Nobody knows what others write.
TEST(OutsidePlans, OfAnyKindGiveTheSum) {
  int const seeds = test::by_effort(10, 100, 1000);
  for (rank_t const p : {2u, 3u, 5u}) {
    team ranks(options_for(p));
    plan_in_file const file({});
    for (int s = 0; s < seeds; ++s) {
      std::uint64_t const seed = test::seed() * 1000 + static_cast<std::uint64_t>(s);
      file.write(test::random_plan(p, seed).plan());
      for (std::string const storage : {"staged", "staged_pull", "output", "zero_copy", "zero_copy_push"})
        for (bool const in_place : {false, true}) {
          SCOPED_TRACE("seed " + std::to_string(seed) + " P=" + std::to_string(p) + " " + storage);
          std::optional<plan<int>> how;
          try {
            how.emplace(ranks, verb::allreduce, count, plus{},
                        plan_options{.algorithm = file.named(), .storage = storage});
          } catch (schedule_error const& lost) {
            EXPECT_FALSE(storage.starts_with("staged")) << lost.what();
            continue;  // this storage would lose a value of the schedule
          }
          std::vector<std::size_t> right(p, 0);
          ranks.run([&](member& me) {
            for (int round = 0; round < 3; ++round) {
              std::vector<int> in(count, static_cast<int>(me.rank()) + 1 + round), out(count, -1);
              in_place ? how->execute(me, in) : how->execute(me, in, out);
              int const sum = static_cast<int>(p * (p + 1) / 2) + round * static_cast<int>(p);
              right[me.rank()] += static_cast<std::size_t>(std::ranges::count(in_place ? in : out, sum));
            }
          });
          ASSERT_EQ(right, std::vector<std::size_t>(p, 3 * count));
        }
    }
  }
}

results summed(team& ranks) {
  results all(ranks.size());
  ranks.run([&](member& me) {
    all[me.rank()] = input_of(me.rank());
    allreduce(me, all[me.rank()]);
  });
  return all;
}

TEST(OutsidePlans, OfTheEnvironmentServeCalls) {
  constexpr rank_t p = 5;
  plan_in_file const file(named("ring", p), "name with : in it.json");
  auto const under = [](std::string const& rules) {
    variable const set("COSET_ALLREDUCE", rules);
    team ranks(options_for(p));
    return hashes_of(summed(ranks));
  };
  auto const ring = under("ring/staged");
  EXPECT_NE(ring, under("direct/staged")) << "these differ in bits";
  EXPECT_EQ(ring, under(file.named() + "/staged"));
  EXPECT_EQ(ring, under(file.named() + "/staged:0-1M;direct:1M-"));
  EXPECT_EQ(ring, under("direct:0-1K;" + file.named() + ":1K-"));
}

TEST(OutsidePlans, OfTheEnvironmentForOthersArePassedOver) {
  plan_in_file const of_four(named("ring", 4)), of_reduce(named("binomial", 3, verb::reduce));
  for (plan_in_file const* const file : {&of_four, &of_reduce}) {
    variable const set("COSET_ALLREDUCE", file->named()), log("COSET_LOG", "plan");
    team ranks(options_for(3));
    ::testing::internal::CaptureStderr();
    expect_works(ranks);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("COSET_ALLREDUCE, " + file->named()));
  }
}

/// A ring of three in which rank 0 folds its own input twice.
schedule::schedule wrong_ring() {
  auto wrong = named("ring", 3);
  schedule::assignment const& first = wrong.steps[0][0];
  wrong.sources[first.first + 1] = wrong.sources[first.first];
  return wrong;
}

TEST(OutsidePlans, OfTheEnvironmentThatAreWrongAreErrorsOnAllRanks) {
  plan_in_file const file(wrong_ring());
  std::string const absent = file.path() + ".absent";
  struct {
    std::string rule, reason;
  } const cases[] = {{file.named(), "is a wrong plan: step 0, rank "},
                     {"plan(file=" + absent + ")", absent + " cannot be read"}};
  for (auto const& [rule, reason] : cases) {
    variable const set("COSET_ALLREDUCE", rule);
    team ranks(options_for(3));
    expect_everybody_threw<schedule_error>(outcomes(ranks, [](member& me) { (void)allreduce(me, 1); }),
                                           {"COSET_ALLREDUCE, " + rule, reason});
    std::vector<int> sums(3);
    ranks.run([&](member& me) { broadcast(me, std::span(&sums[me.rank()], 1), 1); });  // has no such rule
  }
}

template <class T, class Op = plus>
std::string refusal(team& ranks, plan_options const& options, Op op = {}, verb what = verb::allreduce) {
  return outcome_of([&] { make_plan<T>(ranks, what, 12, op, options); }).message;
}

/// Guarantees 2 to 4.
TEST(OutsidePlans, AreHeldToWhatTheOperationNeeds) {
  team ranks(options_for(4));
  team seven(options_for(7));
  plan_in_file const ring(named("ring", 4)), saving(named("generalized(saved_steps=1)", 7)), wrong(wrong_ring()),
      rooted(named("binomial", 4, verb::reduce, 1));
  auto const concatenate = noncommutative([](int a, int) { return a; });
  EXPECT_EQ((refusal<int>(ranks, {.algorithm = ring.named()})), "");
  EXPECT_THAT((refusal<int>(ranks, {.algorithm = ring.named()}, concatenate)), HasSubstr("does not keep the order"));
  EXPECT_EQ((refusal<int>(seven, {.algorithm = saving.named()})), "");
  EXPECT_THAT((refusal<float>(seven, {.algorithm = saving.named()})), HasSubstr("gives the ranks different bits"));
  EXPECT_EQ((refusal<float>(seven, {.algorithm = saving.named(), .required = bits::per_rank})), "");
  EXPECT_THAT((refusal<int>(ranks, {.algorithm = wrong.named()})), HasSubstr("twice"));
  EXPECT_THAT((refusal<int>(ranks, {.algorithm = rooted.named()})), HasSubstr("is a plan of reduce, not allreduce"));
  EXPECT_THAT((refusal<int>(ranks, {.algorithm = rooted.named(), .root = 2}, {}, verb::reduce)),
              HasSubstr("is a plan for root 1, not 2"));
  EXPECT_EQ((refusal<int>(ranks, {.algorithm = rooted.named(), .root = 1}, {}, verb::reduce)), "");
}

TEST(OutsidePlans, StayWhatTheyWereForPlansThatAreMade) {
  team ranks(options_for(3));
  plan_in_file const file(named("ring", 3));
  auto const before = make_plan<int>(ranks, verb::allreduce, 30, plus{}, {.algorithm = file.named()});
  file.write("{}");
  EXPECT_THAT((refusal<float>(ranks, {.algorithm = file.named()})), HasSubstr("is not a plan"));
  std::vector<int> sums(3);
  ranks.run([&](member& me) {
    std::vector<int> items(30, 2);
    before.execute(me, items);
    sums[me.rank()] = items[29];
  });
  EXPECT_EQ(sums, std::vector<int>(3, 6));
}

}  // namespace
}  // namespace coset::team_test
