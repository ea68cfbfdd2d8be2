// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "coset/coset.hpp"
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

/// A call with equal pieces, or with as many as no piece is needed. Every compiler's warning about a switch asks for what is
/// missing here.
bool is_right(verb what, member& me) {
  int const mine = static_cast<int>(me.rank()) + 1;
  numbers const one{mine}, two{mine, 10 * mine};
  numbers got(1), all(2);
  switch (what) {
    case verb::allreduce:
      allreduce(me, one, got);
      return got == numbers{3};
    case verb::reduce:
      reduce(me, one, got, 1);
      return me.rank() == 0 || got == numbers{3};
    case verb::reduce_scatter:
      reduce_scatter(me, two, got);
      return got == (me.rank() == 0 ? numbers{3} : numbers{30});
    case verb::allgather:
      allgather(me, one, all);
      return all == numbers{1, 2};
    case verb::broadcast:
      got = one;
      broadcast(me, got, 1);
      return got == numbers{2};
    case verb::scan:
      scan(me, one, got);
      return got == (me.rank() == 0 ? numbers{1} : numbers{3});
    case verb::exclusive_scan:
      exclusive_scan(me, one, got);
      return me.rank() == 0 || got == numbers{1};
    case verb::barrier:
      barrier(me);
      return true;
    case verb::reduce_shared: {
      static numbers& shared = *new numbers(1);
      reduce_shared(me, one, shared);
      return shared == numbers{3};
    }
    case verb::allreduce_view:
      return allreduce_view(me, one)[0] == 3;
    case verb::gather:
      gather(me, one, all, 0);
      return me.rank() == 1 || all == numbers{1, 2};
    case verb::scatter:
      scatter(me, two, got, 1);
      return got == (me.rank() == 0 ? numbers{2} : numbers{20});
    case verb::all_to_all:
      all_to_all(me, two, all);
      return all == (me.rank() == 0 ? numbers{1, 2} : numbers{10, 20});
  }
  return false;
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
