// SPDX-License-Identifier: Apache-2.0
// The guarantees on order and bits: the same on every rank, run, number of ranks and instruction set where that is
// promised, and in the order of the ranks.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <random>

#include "effort.hpp"
#include "planning/schedule/core/validate.hpp"
#include "runtime/kernels/kernels.hpp"
#include "support/bits.hpp"
#include "support/plan_texts.hpp"
#include "support/verbs.hpp"

namespace coset::team_test {
namespace {

constexpr std::size_t count = 333;

constexpr rank_t most_ranks = 16;

template <class T>
std::vector<T> const& inputs_of(rank_t rank) {
  static auto const all = [] {
    std::vector<std::vector<T>> of_ranks(most_ranks, std::vector<T>(count));
    for (rank_t r = 0; r < most_ranks; ++r) {
      for (std::size_t i = 0; i < count; ++i) of_ranks[r][i] = adversarial<T>(r, i);
    }
    return of_ranks;
  }();
  return all[rank];
}

/// What allreduce gives each rank under a plan, twice: one hash if it is the same everywhere and each time.
template <class T, class Op>
std::vector<std::uint64_t> allreduced(team& ranks, plan<T, Op> const& how) {
  std::vector<std::uint64_t> hashes(2 * ranks.size());
  ranks.run([&](member& me) {
    std::vector<T> const& in = inputs_of<T>(me.rank());
    std::vector<T> out(count);
    for (std::size_t k = me.rank(); k < hashes.size(); k += ranks.size()) {
      how.execute(me, in, out);
      hashes[k] = hash_of<T>(out, nans_of<Op>);
    }
  });
  return hashes;
}

bool all_equal(std::vector<std::uint64_t> const& hashes) {
  return std::adjacent_find(hashes.begin(), hashes.end(), std::not_equal_to()) == hashes.end();
}

/// Staging and another storage, another one each turn, or one of both for many ranks; all of them only for few ranks under
/// long effort.
std::vector<std::string> storages_for(rank_t ranks, std::size_t turn) {
  if (ranks > 8) return {turn % 2 == 0 ? "staged" : "zero_copy_push"};
  std::vector<std::string> const others{"zero_copy", "output", "push"};
  if (test::wanted_effort() != test::effort::large) return {"staged", others[turn % others.size()]};
  return {"staged", others[0], others[1], others[2]};
}

/// Under `how` every rank and every run has the same bits; where the operation is exact, those of every other plan.
template <class T, class Op>
void check_plan(team& ranks, plan<T, Op> const& how, std::vector<std::uint64_t>& of_others) {
  auto const hashes = allreduced(ranks, how);
  ASSERT_TRUE(all_equal(hashes));
  if (detail::is_exact<Op, T> && !of_others.empty()) {
    ASSERT_EQ(hashes, of_others);
  }
  of_others = hashes;
}

/// A plan's text, and whether all ranks bracket alike under it.
using uniform_text = std::pair<std::string, bool>;

std::vector<uniform_text> uniform_texts(rank_t ranks) {
  std::vector<uniform_text> all;
  for (std::string const& text : plan_texts(ranks)) {
    all.emplace_back(text, schedule::validate(*defined(text, ranks)).rank_uniform);
  }
  return all;
}

/// Every plan that is allowed gives every rank and every run the same bits; those that are refused would not.
template <class T, class Op>
void check_every_plan(team& ranks, std::vector<uniform_text> const& texts, std::size_t turn) {
  std::vector<std::uint64_t> of_others;
  std::size_t allowed = 0;
  // Types differ in the kernels, which tests/kernels has for all of them: among many ranks each takes a third of the plans,
  // and all of them together take all.
  std::size_t const third = ranks.size() > (test::is_sanitized ? 2 : 4) ? 3 : 1;
  std::size_t const each = test::by_effort<std::size_t>(third, third, 1);
  std::size_t number = turn;
  for (auto const& [algorithm, uniform] : texts) {
    if (++number % each != 0) continue;
    bool const may_serve = uniform || detail::is_exact<Op, T>;
    for (std::string const& storage : storages_for(ranks.size(), turn++)) {
      SCOPED_TRACE(algorithm + " " + storage + " on " + std::to_string(ranks.size()));
      try {
        check_plan(ranks,
                   make_plan<T>(ranks, verb::allreduce, count, Op{}, {.algorithm = algorithm, .storage = storage}),
                   of_others);
        if (::testing::Test::HasFatalFailure()) return;
        ASSERT_TRUE(may_serve);
        ++allowed;
      } catch (schedule_error const& refused) {
        bool const by_bits = std::string(refused.what()).find("different bits") != std::string::npos;
        ASSERT_FALSE(by_bits && may_serve) << refused.what();
      }
    }
  }
  EXPECT_GT(allowed, 3u);
}

struct Bits : ::testing::TestWithParam<rank_t> {
  team ranks{options_for(GetParam())};
};

/// Of exact operations there is one result, whatever the plan.
TEST_P(Bits, AreTheSameOnEveryRankAndRunUnderEveryPlanThatIsAllowed) {
  auto const texts = uniform_texts(ranks.size());
  check_every_plan<double, plus>(ranks, texts, 0);
  check_every_plan<float, multiplies>(ranks, texts, 1);
  check_every_plan<float, minimum>(ranks, texts, 2);
  check_every_plan<float, maximum>(ranks, texts, 3);
  check_every_plan<float16, maximum>(ranks, texts, 4);
  check_every_plan<bfloat16, plus>(ranks, texts, 5);
  check_every_plan<float, reproducible_plus>(ranks, texts, 6);
  check_every_plan<double, reproducible_plus>(ranks, texts, 7);
}

/// Each verb, with the plans that the library chooses, for each way to call it.
TEST_P(Bits, OfEveryVerbAreTheSameOnEveryRun) {
  for (verb const what : {verb::allreduce, verb::reduce, verb::reduce_scatter, verb::scan, verb::exclusive_scan,
                          verb::reduce_shared, verb::allreduce_view}) {
    for (std::size_t const each : {std::size_t{2}, std::size_t{40}, std::size_t{3000}}) {
      task t{.what = what, .counts = even_counts(ranks.size(), each), .even = true};
      std::vector<std::vector<std::uint64_t>> runs;
      for (int run = 0; run < 3; ++run) {
        auto& hashes = runs.emplace_back(ranks.size());
        std::vector<double> shared(t.total());
        ranks.run([&](member& me) {
          arrays<double> mine = prepared<double>(t, me.rank());
          for (std::size_t i = 0; i + 1 < mine.in.size(); ++i) mine.in[i] = adversarial<double>(me.rank(), i);
          std::vector<double> viewed;
          auto const s = spans_of<double>(t, me.rank(), mine, shared);
          call<double>(me, t, s, viewed);
          hashes[me.rank()] = hash_of<double>(what == verb::allreduce_view ? std::span<double const>(viewed) : s.out);
        });
        ASSERT_EQ(hashes, runs.front()) << name_of(what) << " of " << t.total();
        bool const everybody_has_it =
            what == verb::allreduce || what == verb::reduce_shared || what == verb::allreduce_view;
        ASSERT_TRUE(!everybody_has_it || all_equal(hashes)) << name_of(what) << " of " << t.total();
      }
    }
  }
}

auto const composed = noncommutative(composition{});
combination const compositions = combine<affine>(composed);

TEST_P(Bits, OperationsThatDoNotCommuteAreFoldedInRankOrderByEveryVerb) {
  rank_t const p = ranks.size();
  for (verb const what : {verb::allreduce, verb::reduce, verb::reduce_scatter, verb::scan, verb::exclusive_scan,
                          verb::reduce_shared, verb::allreduce_view}) {
    for (std::size_t const each : {1, 7, 100, 2000}) {
      auto const t =
          folded({{.what = what, .counts = even_counts(p, each), .even = true, .root = p / 2}, &compositions});
      std::vector<affine> shared(t.what.total());
      std::vector<std::string> faults(p);
      ranks.run([&](member& me) {
        auto mine = prepared<affine>(t, me.rank());
        std::vector<affine> viewed;
        call<affine>(me, t.what, spans_of<affine>(t.what, me.rank(), mine, shared), viewed, composed);
        faults[me.rank()] = fault_of(t, me.rank(), mine, shared, viewed);
        barrier(me);  // all have looked at what is shared
      });
      for (auto const& wrong : faults) ASSERT_EQ(wrong, "");
    }
  }
}

/// Plans that would mix up the order are refused, naming one that does not; those that can keep it do.
TEST_P(Bits, PlansForOperationsThatDoNotCommuteKeepTheOrderOrAreRefused) {
  rank_t const p = ranks.size();
  auto const t = folded({{.counts = even_counts(p, count), .in_place = true}, &compositions});
  std::size_t kept = 0, refused = 0;
  for (std::string const& algorithm : plan_texts(p)) {
    try {
      auto const how = make_plan<affine>(ranks, verb::allreduce, t.what.total(), composed, {algorithm});
      std::atomic<int> wrong = 0;
      ranks.run([&](member& me) {
        auto mine = prepared<affine>(t, me.rank());
        auto const s = spans_of<affine>(t.what, me.rank(), mine, {});
        how.execute(me, s.in, s.out);
        wrong += fault_of(t, me.rank(), mine, {}, {}).empty() ? 0 : 1;
      });
      ASSERT_EQ(wrong, 0) << algorithm;
      ++kept;
    } catch (schedule_error const& e) {
      EXPECT_FALSE(algorithm == "direct" || algorithm == "ring" || algorithm == "binomial") << e.what();
      ++refused;
    }
  }
  EXPECT_GT(kept, 3u);
  EXPECT_TRUE(p < 3 || refused > 0);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, Bits,
    ::testing::ValuesIn(test::by_effort<std::vector<rank_t>>({1, 2, 3, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 12},
                                                             {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})),
    size_name);

TEST(Plans, OfWhatMayCountTwiceMayCountContributionsTwice) {
  team ranks(options_for(6));
  std::string const twice = "butterfly";
  auto const how = make_plan<int>(ranks, verb::allreduce, count, maximum{}, {twice});
  ranks.run([&](member& me) {
    std::vector<int> values(count, static_cast<int>(me.rank()));
    how.execute(me, values);
    for (int const v : values) ASSERT_EQ(v, 5);
  });
  EXPECT_THROW((void)make_plan<int>(ranks, verb::allreduce, count, plus{}, {twice}), schedule_error);
}

TEST(Plans, WhoseRanksBracketDifferentlyServeExactOperationsAndThoseWhoAskForThem) {
  team ranks(options_for(7));
  plan_options const differing{.algorithm = "generalized(saved_steps=1)"};
  EXPECT_THROW((void)make_plan<double>(ranks, verb::allreduce, count, plus{}, differing), schedule_error);
  EXPECT_NO_THROW((void)make_plan<int>(ranks, verb::allreduce, count, plus{}, differing));
  EXPECT_NO_THROW((void)make_plan<double>(ranks, verb::allreduce, count, maximum{}, differing));
  EXPECT_NO_THROW((void)make_plan<double>(ranks, verb::allreduce, count, reproducible_plus{}, differing));
  auto const sum = [](double a, double b) { return a + b; };
  EXPECT_THROW((void)make_plan<double>(ranks, verb::allreduce, count, sum, differing), schedule_error);
  EXPECT_NO_THROW((void)make_plan<double>(ranks, verb::allreduce, count, exact(sum), differing));
  plan_options asked = differing;
  asked.required = bits::per_rank;
  EXPECT_NO_THROW((void)make_plan<double>(ranks, verb::allreduce, count, plus{}, asked));
}

template <class T, class Op>
void add_digests(team& ranks, std::vector<std::uint64_t>& all) {
  for (std::string const algorithm : {"auto", "direct", "generalized", "ring", "product(dims=16)", "binomial"}) {
    try {
      auto const how = make_plan<T>(ranks, verb::allreduce, count, Op{}, {.algorithm = algorithm});
      all.push_back(allreduced(ranks, how).front());
    } catch (schedule_error const&) {  // product is for 16 ranks
    }
  }
}

/// Of results of everything that vectorised kernels do to numbers.
std::uint64_t digest() {
  std::vector<std::uint64_t> all;
  rank_t const step = test::by_effort<rank_t>(5, 5, 1);
  for (rank_t p = 1; p <= 16; p += step) {
    team ranks(options_for(p));
    add_digests<float, plus>(ranks, all);
    add_digests<double, plus>(ranks, all);
    add_digests<float, multiplies>(ranks, all);
    add_digests<double, minimum>(ranks, all);
    add_digests<float, maximum>(ranks, all);
    add_digests<bfloat16, plus>(ranks, all);
    add_digests<float16, multiplies>(ranks, all);
    add_digests<bfloat16, maximum>(ranks, all);
    add_digests<float, reproducible_plus>(ranks, all);
    add_digests<double, reproducible_plus>(ranks, all);
  }
  return hash_of<std::uint64_t>(all);
}

/// A process chooses its instruction set once, so each has one of its own; this is what runs there.
TEST(Digest, DISABLED_OfAllResults) { std::printf("digest=%016llx\n", static_cast<unsigned long long>(digest())); }

std::string digest_under(std::string const& instruction_set) {
  std::string const self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string const command = "COSET_ISA=" + instruction_set + " $TEST_EMULATOR '" + self +
                              "' --gtest_also_run_disabled_tests --gtest_filter=Digest.DISABLED_OfAllResults";
  std::unique_ptr<FILE, int (*)(FILE*)> const child(popen(command.c_str(), "r"), pclose);
  std::string output;
  for (int c; (c = std::fgetc(child.get())) != EOF;) output += static_cast<char>(c);
  auto const at = output.find("digest=");
  return at == std::string::npos ? output : output.substr(at, 23);
}

TEST(Digest, IsTheSameUnderEveryInstructionSet) {
  auto const sets = kernels::instruction_sets();
  std::string const best = digest_under(sets.front());
  ASSERT_EQ(best.rfind("digest=", 0), 0u) << best;
  for (auto const& set : sets) EXPECT_EQ(digest_under(set), best) << set;
}

}  // namespace
}  // namespace coset::team_test
