// SPDX-License-Identifier: Apache-2.0
// A team has one floating-point mode, its maker's: every verb in every mode, and ranks whose own mode is another.
#include <complex>
#include <limits>
#include <set>
#include <stdexcept>
#include <thread>

#include "coset/coset.h"
#include "floating_point.hpp"
#include "support/teams.hpp"

namespace coset::team_test {
namespace {

using test::control_of_this_thread;
using test::in_mode;
using test::mode;
using test::modes;
using test::usual_mode;

using bytes = std::vector<std::byte>;

template <class T>
constexpr std::size_t value_bytes = std::same_as<T, long double> &&
                                            sizeof(T) == 16 && std::numeric_limits<long double>::digits == 64
                                        ? 10  // the rest is padding
                                        : sizeof(T);

template <class Range>
void append(bytes& to, Range const& values) {
  for (auto const& v : values) {
    auto const* const at = reinterpret_cast<std::byte const*>(&v);
    to.insert(to.end(), at, at + value_bytes<std::remove_cvref_t<decltype(v)>>);
  }
}

/// Two numbers that the caller's own code adds.
struct pair_of_doubles {
  double a, b;
};
constexpr auto add_pairs = [](pair_of_doubles const& x, pair_of_doubles const& y) {
  return pair_of_doubles{x.a + y.a, x.b - y.b};
};

template <class T>
constexpr bool is_complex = false;
template <class T>
constexpr bool is_complex<std::complex<T>> = true;

/// Numbers of which two ranks' sums are rounded, subnormal, or of subnormal summands; in each type.
template <class T>
T number(rank_t rank, std::size_t i) {
  if constexpr (is_complex<T>) {
    using part = typename T::value_type;
    return {number<part>(rank, i), number<part>(rank, i + 3)};
  } else if constexpr (std::same_as<T, pair_of_doubles>) {
    return {number<double>(rank, i), number<double>(rank, i + 3)};
  } else if constexpr (std::same_as<T, float16> || std::same_as<T, bfloat16>) {
    constexpr bool half = std::same_as<T, float16>;
    float const eps = half ? 0x1p-10f : 0x1p-7f, least = half ? 0x1p-24f : 0x1p-133f,
                normal = half ? 0x1p-14f : 0x1p-126f;
    float const both[6][2]{{1, eps / 3},   {1, -eps / 6},      {3 * least, 5 * least}, {1.5f * normal, -1.25f * normal},
                           {-1, -eps / 3}, {3 * least, normal}};
    return static_cast<T>(both[i % 6][rank % 2]);
  } else {
    using limits = std::numeric_limits<T>;
    T const both[6][2]{{1, limits::epsilon() / 3},
                       {1, -limits::epsilon() / 6},
                       {3 * limits::denorm_min(), 5 * limits::denorm_min()},
                       {limits::min() * T(1.5), limits::min() * T(-1.25)},
                       {-1, -limits::epsilon() / 3},
                       {3 * limits::denorm_min(), limits::min()}};
    return both[i % 6][rank % 2];
  }
}

constexpr std::size_t each = 8;  // elements of a rank

template <class T>
std::vector<T> numbers(rank_t rank, std::size_t count) {
  std::vector<T> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(number<T>(rank, i));
  return all;
}

/// What all ranks name, and plans, which are made ahead.
template <class T, class Op>
struct common {
  std::vector<T> shared = std::vector<T>(each);
  plan<T, Op> sum, prefix;

  explicit common(team& of) : sum(of, verb::allreduce, each), prefix(of, verb::scan, each) {}
};

/// Every verb that folds, in every form that it has; and some that move. `check` comes after each.
template <class T, class Op, class Check>
bytes every_verb(member& me, common<T, Op>& of_all, Check check) {
  Op const op{};
  rank_t const ranks = me.size(), rank = me.rank();
  bytes got;
  auto const in = numbers<T>(rank, each), wide = numbers<T>(rank, each * ranks);
  std::vector<T> out(each), whole(each * ranks);
  auto const keep = [&](auto const& what, char const* verb) {
    append(got, what);
    check(verb);
  };
  auto const started = [&](request r, auto const& what, char const* verb) {
    while (!r.test()) std::this_thread::yield();
    keep(what, verb);
  };
  allreduce(me, in, out, op), keep(out, "allreduce");
  started(start_allreduce(me, in, out, op), out, "start_allreduce");
  keep(std::vector<T>{allreduce(me, in[0], op), allreduce(me, in[2], op)}, "allreduce of a value");
  out.assign(each, T{});
  reduce(me, in, out, 1, op), keep(out, "reduce");
  started(start_reduce(me, in, out, 0, op), out, "start_reduce");
  reduce_scatter(me, wide, out, op), keep(out, "reduce_scatter");
  started(start_reduce_scatter(me, wide, out, op), out, "start_reduce_scatter");
  scan(me, in, out, op), keep(out, "scan");
  started(start_scan(me, in, out, op), out, "start_scan");
  out.assign(each, T{});
  exclusive_scan(me, in, out, op), keep(out, "exclusive_scan");
  started(start_exclusive_scan(me, in, out, op), out, "start_exclusive_scan");
  reduce_shared(me, in, of_all.shared, op), barrier(me), keep(of_all.shared, "reduce_shared"), barrier(me);
  keep(allreduce_view(me, in, op), "allreduce_view");
  of_all.sum.execute(me, in, out), keep(out, "plan of allreduce");
  of_all.prefix.start(me, in, out).wait(), keep(out, "plan of scan, started");
  auto one = in, other = wide;
  T value = in[2];
  if constexpr (std::same_as<T, float> || std::same_as<T, double> || std::same_as<Op, plus>) {
    allreduce(me, together(one, other, value), op);
    keep(one, "together"), keep(other, "together"), keep(std::vector<T>{value}, "together");
    one = in;
    request joint = start_allreduce(me, together(one, value), op);
    joint.wait();
    keep(one, "together, started");
  }
  broadcast(me, one, 1), keep(one, "broadcast");
  allgather(me, in, whole), keep(whole, "allgather");
  all_to_all(me, wide, whole), keep(whole, "all_to_all");
  return got;
}

/// A team that was made in one mode, of two ranks, and what calls share.
template <class T, class Op>
struct made_team {
  mode const made;
  in_mode const while_making{made};
  team of{options_for(2)};
  common<T, Op> of_all{of};

  /// What each rank gets while rank `odd` has the mode `own`, the other that of the maker. Nobody's control words change.
  std::array<bytes, 2> results(rank_t odd, mode const& own) {
    std::array<bytes, 2> got;
    of.run([&](member& me) {
      mode const& mine = me.rank() == odd ? own : made;
      in_mode const here(mine);
      auto const before = control_of_this_thread();
      got[me.rank()] = every_verb<T, Op>(me, of_all, [&](char const* verb) {
        EXPECT_EQ(control_of_this_thread(), before)
            << verb << " has changed rank " << me.rank() << "'s " << mine.text();
      });
    });
    return got;
  }
};

/// Each mode of either rank against each of these of the maker.
template <class T, class Op = plus>
void expect_makers_bits(std::vector<mode> const& of_makers = {usual_mode, {FE_UPWARD, true, true}}) {
  auto const all = modes();
  test::sample some(7, 7);
  for (mode const& made : of_makers) {
    made_team<T, Op> on{made};
    auto const right = on.results(0, made);
    for (mode const& own : all) {
      for (rank_t const odd : {0u, 1u}) {
        if (own == made || some.skips()) continue;
        ASSERT_EQ(on.results(odd, own), right)
            << "made in " << made.text() << ", rank " << odd << " is in " << own.text();
      }
    }
  }
}

TEST(Modes, EveryVerbHasTheMakersBits_double) { expect_makers_bits<double>(modes()); }
TEST(Modes, EveryVerbHasTheMakersBits_float) { expect_makers_bits<float>(); }
TEST(Modes, EveryVerbHasTheMakersBits_float16) { expect_makers_bits<float16>(); }
TEST(Modes, EveryVerbHasTheMakersBits_bfloat16) { expect_makers_bits<bfloat16>(); }
TEST(Modes, EveryVerbHasTheMakersBits_complex) { expect_makers_bits<std::complex<double>>(); }
TEST(Modes, EveryVerbHasTheMakersBits_long_double) { expect_makers_bits<long double>(); }
TEST(Modes, EveryVerbHasTheMakersBits_products) { expect_makers_bits<double, multiplies>(); }
TEST(Modes, EveryVerbHasTheMakersBits_minima) { expect_makers_bits<float, minimum>(); }
TEST(Modes, EveryVerbHasTheMakersBits_reproducible) { expect_makers_bits<double, reproducible_plus>(); }
TEST(Modes, EveryVerbHasTheMakersBits_own_operation) {
  expect_makers_bits<pair_of_doubles, std::remove_const_t<decltype(add_pairs)>>();
}

/// Otherwise the tests above would compare nothing.
TEST(Modes, DecideBits) {
  std::set<bytes> all;
  for (mode const& m : modes()) all.insert(made_team<double, plus>{m}.results(0, m)[1]);
  EXPECT_EQ(all.size(), modes().size());
}

TEST(Modes, OfMoreRanksAndLongArrays) {
  mode const made{FE_UPWARD, false, false}, own{FE_DOWNWARD, true, true};
  for (rank_t const ranks : {3u, 4u}) {
    for (std::size_t const count : {1'000u, 200'000u}) {
      made.set();
      team of(options_for(ranks));
      std::vector<std::vector<double>> got(ranks);
      of.run([&](member& me) {
        in_mode const here(me.rank() == 1 ? own : made);
        got[me.rank()] = std::vector<double>(count, me.rank() == 0 ? 1.0 : 0x1p-60);
        allreduce(me, got[me.rank()]);
      });
      usual_mode.set();
      for (auto const& each_ranks : got)
        EXPECT_GT(*std::ranges::min_element(each_ranks), 1.0) << ranks << ", " << count;
      for (auto const& each_ranks : got) EXPECT_EQ(each_ranks, got[0]);
    }
  }
}

/// As when a library that was linked with -ffast-math is loaded after the team was made: 1e-310 + 1e-310.
TEST(Modes, OfALibraryThatIsLoadedLate) {
  team of(options_for(2));
  double sums[2], reproducible[2];
  mode{FE_TONEAREST, true, true}.set();
  of.run([&](member& me) {
    sums[me.rank()] = allreduce(me, 1e-310);
    reproducible[me.rank()] = allreduce(me, 1e-310, reproducible_plus{});
  });
  usual_mode.set();
  for (double const got : {sums[0], sums[1], reproducible[0], reproducible[1]}) EXPECT_EQ(got, 2e-310);
}

TEST(Modes, OfAnAdoptedTeamIsThatOfItsAdopter) {
  mode const made{FE_UPWARD, false, false};
  made.set();
  auto const of = team::adopt(2);
  usual_mode.set();
  double got[2];
  auto const rank = [&](rank_t r, mode const& own) {
    in_mode const here(own);
    member_guard const me = of->join(r);
    got[r] = allreduce(const_cast<member_guard&>(me), r == 0 ? 1.0 : 0x1p-60);
  };
  std::thread other([&] { rank(1, {FE_TOWARDZERO, true, true}); });
  rank(0, usual_mode);
  other.join();
  EXPECT_EQ(got[0], 1 + 0x1p-52);
  EXPECT_EQ(got[1], 1 + 0x1p-52);
}

TEST(Modes, OfPartsIsThatOfTheWhole) {
  mode const made{FE_UPWARD, false, false};
  made.set();
  team of(options_for(4));
  double got[4];
  of.run([&](member& me) {
    in_mode const here({FE_DOWNWARD, true, true});
    member half = me.split(static_cast<int>(me.rank() % 2));
    member again = half.split(0);
    got[me.rank()] = allreduce(again, again.rank() == 0 ? 1.0 : 0x1p-60);
  });
  usual_mode.set();
  for (double const sum : got) EXPECT_EQ(sum, 1 + 0x1p-52);
}

TEST(Modes, AreGivenBackWhenAnOperationThrows) {
  team of(options_for(2));
  mode const own{FE_UPWARD, true, true};
  for (int const thrower : {0, 1}) {
    auto const left = outcomes(of, [&](member& me) {
      in_mode const here(own);
      auto const before = control_of_this_thread();
      auto const throwing = [&](double, double) -> double {
        EXPECT_EQ(std::fegetround(), FE_TONEAREST);
        if (static_cast<int>(me.rank()) == thrower) throw std::runtime_error("no sum today");
        return 0;
      };
      struct check_at_end {
        test::control_words const& before;
        ~check_at_end() { EXPECT_EQ(control_of_this_thread(), before); }
      } const at_end{before};
      std::vector<double> x(1'000, 1);
      allreduce(me, x, throwing);
    });
    EXPECT_NE(left[static_cast<std::size_t>(thrower)].message.find("no sum today"), std::string::npos);
  }
}

/// Flags that were raised before and in the fold are there afterwards; of masks, the thread keeps its own, in the fold as well.
TEST(Modes, LeaveFlagsAndMasksToTheThread) {
  team of(options_for(2));
  of.run([&](member& me) {
    in_mode const here(me.rank() == 1 ? mode{FE_UPWARD, true, false} : usual_mode);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_DIVBYZERO);
    (void)allreduce(me, me.rank() == 0 ? 1.0 : 0x1p-60);
    EXPECT_EQ(std::fetestexcept(FE_DIVBYZERO | FE_INEXACT | FE_INVALID), FE_DIVBYZERO | FE_INEXACT) << me.rank();
#if defined(__x86_64__)
    feenableexcept(FE_OVERFLOW);
    (void)allreduce(me, 1.0, [](double a, double b) {
      EXPECT_EQ(fegetexcept(), FE_OVERFLOW);
      return a + b;
    });
    EXPECT_EQ(fegetexcept(), FE_OVERFLOW) << me.rank();
    fedisableexcept(FE_ALL_EXCEPT);
#endif
    std::feclearexcept(FE_ALL_EXCEPT);
  });
}

void add_doubles(void* left, void const* right, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i) static_cast<double*>(left)[i] += static_cast<double const*>(right)[i];
}

TEST(Modes, OfCallsFromC) {
  mode{FE_UPWARD, false, false}.set();
  coset_team_options options = COSET_TEAM_OPTIONS;
  options.ranks = 2;
  options.placement = COSET_UNBOUND;
  coset_team* of = nullptr;
  ASSERT_EQ(coset_team_create(&options, &of), COSET_SUCCESS) << coset_error_message();
  usual_mode.set();
  double sums[2][2]{};
  auto const body = [](coset_member* me, void* results) {
    in_mode const here({FE_DOWNWARD, true, true});
    auto const rank = coset_member_rank(me);
    double const in = rank == 0 ? 1.0 : 0x1p-60;
    auto* const out = static_cast<double(*)[2]>(results)[rank];
    coset_operation own = 0;
    coset_operation_create("sum", add_doubles, nullptr, sizeof(double), 0, &own);
    coset_allreduce(me, &in, &out[0], 1, COSET_FLOAT64, COSET_PLUS);
    coset_allreduce(me, &in, &out[1], 1, COSET_FLOAT64, own);
    return coset_operation_free(own);
  };
  EXPECT_EQ(coset_team_run(of, body, sums), COSET_SUCCESS) << coset_error_message();
  coset_team_free(of);
  for (auto const& each_rank : sums)
    for (double const sum : each_rank) EXPECT_EQ(sum, 1 + 0x1p-52);
}

/// A request is brought on by whatever the thread calls next, in whatever mode it is by then.
TEST(Modes, OfRequestsThatOtherCallsBringOn) {
  team of(options_for(2));
  double got[2];
  of.run([&](member& me) {
    std::vector<double> const in(1, me.rank() == 0 ? 1.0 : 0x1p-60);
    std::vector<double> out(1);
    request sum = start_allreduce(me, in, out);
    in_mode const here(me.rank() == 1 ? mode{FE_UPWARD, true, true} : usual_mode);
    barrier(me);
    barrier(me);
    sum.wait();
    got[me.rank()] = out[0];
  });
  EXPECT_EQ(got[0], 1);
  EXPECT_EQ(got[1], 1);
}

}  // namespace
}  // namespace coset::team_test
