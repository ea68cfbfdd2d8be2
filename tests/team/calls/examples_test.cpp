// SPDX-License-Identifier: Apache-2.0
// Every verb by examples: what three ranks have before and after, written out. The oracle, by which all other tests judge, has
// to say the same as the library.
#include <vector>

#include "support/verbs.hpp"

namespace coset::team_test {
namespace {

constexpr int _ = -1;    ///< what was there before the call
constexpr int any = -2;  ///< afterwards: nobody says what

using by_rank = std::vector<std::vector<int>>;

/// Inputs, and outputs afterwards. Where a rank names one array for both: that array, before and afterwards.
struct example {
  task asked;
  by_rank before, after;
};

/// Of verbs that know no pieces.
std::vector<std::size_t> whole(std::size_t length) { return {length, 0, 0}; }

std::vector<example> const examples{
    // Element by element, over all ranks, over those up to the own one, and over those before it.
    {{.what = verb::allreduce, .counts = whole(2)},
     {{1, 2}, {10, 20}, {100, 200}},
     {{111, 222}, {111, 222}, {111, 222}}},
    {{.what = verb::allreduce, .counts = whole(1), .in_place = true}, {{1}, {10}, {100}}, {{111}, {111}, {111}}},
    {{.what = verb::allreduce, .counts = whole(0)}, {{}, {}, {}}, {{}, {}, {}}},
    {{.what = verb::reduce, .counts = whole(2), .root = 1}, {{1, 2}, {10, 20}, {100, 200}}, {{}, {111, 222}, {}}},
    {{.what = verb::reduce, .counts = whole(1), .root = 2, .in_place = true}, {{1}, {10}, {100}}, {{1}, {10}, {111}}},
    {{.what = verb::reduce_shared, .counts = whole(2)},
     {{1, 2}, {10, 20}, {100, 200}},
     {{111, 222}, {111, 222}, {111, 222}}},
    {{.what = verb::allreduce_view, .counts = whole(2)},
     {{1, 2}, {10, 20}, {100, 200}},
     {{111, 222}, {111, 222}, {111, 222}}},
    {{.what = verb::scan, .counts = whole(2)}, {{1, 2}, {10, 20}, {100, 200}}, {{1, 2}, {11, 22}, {111, 222}}},
    {{.what = verb::scan, .counts = whole(1), .in_place = true}, {{1}, {10}, {100}}, {{1}, {11}, {111}}},
    {{.what = verb::exclusive_scan, .counts = whole(2)}, {{1, 2}, {10, 20}, {100, 200}}, {{_, _}, {1, 2}, {11, 22}}},
    {{.what = verb::exclusive_scan, .counts = whole(1), .in_place = true}, {{1}, {10}, {100}}, {{1}, {1}, {11}}},
    {{.what = verb::barrier, .counts = whole(0)}, {{}, {}, {}}, {{}, {}, {}}},
    // Each rank its piece of the sum.
    {{.what = verb::reduce_scatter, .counts = {1, 1, 1}, .even = true},
     {{1, 2, 3}, {10, 20, 30}, {100, 200, 300}},
     {{111}, {222}, {333}}},
    {{.what = verb::reduce_scatter, .counts = {2, 0, 1}},
     {{1, 2, 3}, {10, 20, 30}, {100, 200, 300}},
     {{111, 222}, {}, {333}}},
    {{.what = verb::reduce_scatter, .counts = {1, 1, 1}, .even = true, .in_place = true},
     {{1, 2, 3}, {10, 20, 30}, {100, 200, 300}},
     {{111, any, any}, {any, 222, any}, {any, any, 333}}},
    // The ranks' pieces one behind the other, for all or for the root.
    {{.what = verb::allgather, .counts = {1, 1, 1}, .even = true}, {{1}, {2}, {3}}, {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}},
    {{.what = verb::allgather, .counts = {2, 0, 1}}, {{1, 2}, {}, {3}}, {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}},
    {{.what = verb::allgather, .counts = {0, 1, 2}, .in_place = true},
     {{_, _, _}, {1, _, _}, {_, 2, 3}},
     {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}},
    {{.what = verb::gather, .counts = {1, 1, 1}, .even = true, .root = 1}, {{1}, {2}, {3}}, {{}, {1, 2, 3}, {}}},
    {{.what = verb::gather, .counts = {2, 0, 1}, .root = 2}, {{1, 2}, {}, {3}}, {{}, {}, {1, 2, 3}}},
    {{.what = verb::gather, .counts = {1, 1, 1}, .even = true, .root = 1, .in_place = true},
     {{1}, {_, 2, _}, {3}},
     {{}, {1, 2, 3}, {}}},
    // What the root has, as a whole or to each rank its piece.
    {{.what = verb::broadcast, .counts = whole(2), .root = 1}, {{_, _}, {1, 2}, {_, _}}, {{1, 2}, {1, 2}, {1, 2}}},
    {{.what = verb::scatter, .counts = {1, 1, 1}, .even = true, .root = 1}, {{}, {1, 2, 3}, {}}, {{1}, {2}, {3}}},
    {{.what = verb::scatter, .counts = {2, 0, 1}, .root = 2}, {{}, {}, {1, 2, 3}}, {{1, 2}, {}, {3}}},
    {{.what = verb::scatter, .counts = {1, 1, 1}, .even = true, .root = 1, .in_place = true},
     {{}, {1, 2, 3}, {}},
     {{1}, {1, 2, 3}, {3}}},
    // To each rank its piece from each: rows become columns.
    {{.what = verb::all_to_all, .counts = {1, 1, 1}, .even = true},
     {{11, 12, 13}, {21, 22, 23}, {31, 32, 33}},
     {{11, 21, 31}, {12, 22, 32}, {13, 23, 33}}},
    {{.what = verb::all_to_all, .counts = {1, 1, 1}, .even = true, .in_place = true},
     {{11, 12, 13}, {21, 22, 23}, {31, 32, 33}},
     {{11, 21, 31}, {12, 22, 32}, {13, 23, 33}}},
};

/// An output before the call.
std::vector<int> untouched(std::vector<int> const& after) { return std::vector<int>(after.size(), _); }

bool is_right(std::vector<int> const& got, std::vector<int> const& after) {
  return std::ranges::equal(got, after, [](int a, int b) { return a == b || b == any; });
}

/// By the oracle alone.
std::vector<int> said_of(example const& e, rank_t r) {
  layout const all = layout_of(e.asked, r);
  auto made = all.one ? e.before[r] : untouched(e.after[r]);
  std::size_t const offset = all.one ? 0 : got_by(e.asked, r).first;
  for (part const& p : parts_of(e.asked, r))
    for (std::size_t i = 0; i < p.of.count; ++i) {
      int sum = 0;
      for (rank_t q = p.begin; q < p.end; ++q) {
        std::size_t const skipped = given_by(e.asked, q).first - layout_of(e.asked, q).in.first;
        sum += e.before[q].at(p.from + i - skipped);
      }
      made.at(p.of.first + i - offset) = sum;
    }
  return made;
}

TEST(Examples, AreWhatTheOracleSays) {
  for (example const& e : examples)
    for (rank_t r = 0; r < 3; ++r) {
      SCOPED_TRACE(e.asked.text() + ", rank " + std::to_string(r));
      layout const all = layout_of(e.asked, r);
      EXPECT_EQ(all.in_length, e.before[r].size());
      bool const has_none = all.one || e.asked.what == verb::reduce_shared || e.asked.what == verb::allreduce_view;
      EXPECT_EQ(all.out_length, has_none ? 0 : e.after[r].size());
      EXPECT_TRUE(is_right(said_of(e, r), e.after[r])) << ::testing::PrintToString(said_of(e, r));
      if (!all.one || !keeps_input(e.asked, r)) continue;
      for (std::size_t i = 0; i < given_by(e.asked, r).count; ++i)
        EXPECT_EQ(e.after[r][all.in.first + i], e.before[r][all.in.first + i]);
    }
}

TEST(Examples, AreWhatTheLibraryDoes) {
  team ranks(options_for(3));
  for (example const& e : examples)
    for (bool const split : {false, true}) {
      task const& t = e.asked;
      SCOPED_TRACE(t.text() + (split ? ", started" : ""));
      std::vector<int> shared = untouched(e.after[0]);
      by_rank got(3), in(3);
      ranks.run([&](member& me) {
        rank_t const r = me.rank();
        bool const one = in_one_array(t, r);
        arrays<int> mine{e.before[r], one ? std::vector<int>() : untouched(e.after[r])};
        std::vector<int> viewed;
        auto const s = spans_of<int>(t, r, mine, shared);
        if (split && t.what != verb::allreduce_view) {
          start(me, t, s).wait();
        } else {
          call(me, t, s, viewed);
        }
        in[r] = one ? e.before[r] : mine.in;
        got[r] = one                              ? mine.in
                 : t.what == verb::allreduce_view ? viewed
                 : t.what == verb::reduce_shared  ? shared
                                                  : mine.out;
      });
      for (rank_t r = 0; r < 3; ++r) {
        EXPECT_TRUE(is_right(got[r], e.after[r])) << "rank " << r << ": " << ::testing::PrintToString(got[r]);
        EXPECT_EQ(in[r], e.before[r]) << "rank " << r;
      }
    }
}

TEST(Examples, AreOfEveryVerb) {
  for (verb const what : all_verbs())
    EXPECT_TRUE(std::ranges::any_of(examples, [&](example const& e) { return e.asked.what == what; })) << name_of(what);
}

}  // namespace
}  // namespace coset::team_test
