// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "coset/coset.hpp"
#include "support/calls.hpp"
#include "uses.hpp"

namespace coset::ends {
namespace {

using numbers = std::vector<int>;
using lengths = std::vector<std::size_t>;

/// By two ranks: whether body(member) is true on both.
template <class Body>
bool both(Body body) {
  team ranks({.ranks = 2, .place = placement::unbound});
  std::atomic<int> right = 0;
  ranks.run([&](member& me) { right += body(me) ? 1 : 0; });
  return right == 2;
}

int given(rank_t r, std::size_t i) { return 10 * static_cast<int>(r + 1) + static_cast<int>(i); }

/// A call with equal pieces, or with as many as no piece is needed.
bool is_right(verb what, member& me) {
  using namespace team_test;
  task const t{.what = what, .counts = even_counts(2, 1), .even = true, .root = 1};
  layout const all = layout_of(t, me.rank());
  stretch const gives = given_by(t, me.rank());
  arrays<int> mine{numbers(all.in_length), numbers(all.out_length)};
  for (std::size_t i = 0; i < gives.count; ++i) mine.in[all.in.first + i] = given(me.rank(), gives.first + i);
  static numbers& shared = *new numbers(2);
  numbers viewed;
  call<int>(me, t, spans_of<int>(t, me.rank(), mine, shared), viewed);
  numbers const& got = what == verb::reduce_shared ? shared : !viewed.empty() ? viewed : all.one ? mine.in : mine.out;
  bool right = true;
  for (part const& p : parts_of(t, me.rank())) {
    for (std::size_t i = 0; i < p.of.count; ++i) {
      int sum = 0;
      for (rank_t q = p.begin; q < p.end; ++q) sum += given(q, p.from + i);
      right = right && got[all.out.first + p.of.first - got_by(t, me.rank()).first + i] == sum;
    }
  }
  return right;
}

bool verbs() {
  return both(
      [](member& me) { return std::ranges::all_of(all_verbs(), [&](verb what) { return is_right(what, me); }); });
}

bool pieces_of_any_length() {
  return both([](member& me) {
    rank_t const r = me.rank();
    lengths const counts{5, 3}, sent{2, 2u + r}, received{2, r == 0 ? 2u : 3u};
    numbers const mine(counts[r], static_cast<int>(r) + 1), whole{1, 1, 1, 1, 1, 2, 2, 2};
    numbers all(8), piece(counts[r]), to_each(4 + r, 7), of_each(4 + r);
    allgather(me, mine, all, counts);
    bool right = all == whole;
    gather(me, mine, all, 0, counts);
    right = right && all == whole;
    scatter(me, whole, piece, 1, counts);
    right = right && piece == mine;
    reduce_scatter(me, numbers(8, 2), piece, counts);
    right = right && piece == numbers(counts[r], 4);
    all_to_all(me, to_each, of_each, sent, received);
    return right && of_each == to_each;
  });
}

bool split_phase() {
  return both([](member& me) {
    std::vector<double> sum{1};
    numbers all(100, 1);
    request one = start_allreduce(me, sum), other = start_allreduce(me, all);
    other.wait();
    one.wait();
    return sum[0] == 2 && all == numbers(100, 2);
  });
}

bool several_at_once() {
  return both([](member& me) {
    double sum = 1;
    numbers all(50, 1);
    allreduce(me, together(sum, all));
    start_allreduce(me, together(sum, all)).wait();
    return sum == 4 && all == numbers(50, 4);
  });
}

bool plans() {
  team ranks({.ranks = 2, .place = placement::unbound});
  auto const how = make_plan<int>(ranks, 100);
  std::atomic<int> right = 0;
  ranks.run([&](member& me) {
    numbers all(100, 1);
    how.execute(me, all);
    how.start(me, all, all).wait();
    right += all == numbers(100, 4) ? 1 : 0;
  });
  return right == 2;
}

bool parts_of_teams() {
  return both([](member& me) {
    member part = me.split(0, 1 - static_cast<int>(me.rank()));
    member node = me.node_team();
    numbers all(2);
    allgather(part, numbers{static_cast<int>(me.rank())}, all);
    return all == numbers{1, 0} && allreduce(node, 1) == static_cast<int>(node.size());
  });
}

/// The words name types and lengths of both ranks.
bool disagreements() {
  team ranks({.ranks = 2, .place = placement::unbound});
  for (bool const together_with : {false, true}) {
    try {
      ranks.run([&](member& me) {
        double one = 1;
        numbers all(50 + me.rank(), 1);
        together_with ? allreduce(me, together(one, all)) : allreduce(me, all);
      });
      return false;
    } catch (mismatch_error const& e) {
      std::string const words = e.what();
      for (char const* const part : {"int", "coset::plus", "50", "51", together_with ? "double" : "allreduce"}) {
        if (words.find(part) == std::string::npos) return false;
      }
    }
  }
  return true;
}

/// Made at the first use, and destroyed after all other uses.
bool team_that_is_kept() {
  static team& kept = *new team({.ranks = 2, .place = placement::unbound});
  std::atomic<int> right = 0;
  kept.run([&](member& me) { right += is_right(verb::allreduce, me) ? 1 : 0; });
  return right == 2;
}

constexpr std::array all = {use{"verbs", verbs},
                            use{"pieces of any length", pieces_of_any_length},
                            use{"split phase", split_phase},
                            use{"several arrays at once", several_at_once},
                            use{"plans", plans},
                            use{"parts of teams", parts_of_teams},
                            use{"disagreements", disagreements},
                            use{"a team that is kept", team_that_is_kept}};

}  // namespace

std::span<use const> of_verbs() { return all; }

}  // namespace coset::ends
