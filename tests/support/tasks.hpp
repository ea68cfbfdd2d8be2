// SPDX-License-Identifier: Apache-2.0
// Random collectives for ranks that are tasks, several at once, and what must come of them.
#pragma once

#include <random>
#include <span>
#include <string>
#include <vector>

#include "support/verbs.hpp"

namespace coset::team_test {

using engine = std::mt19937_64;

inline std::size_t below(engine& choices, std::size_t end) { return choices() % end; }

inline task random_task(engine& choices, rank_t ranks) {
  constexpr std::size_t longest[]{1, 12, 100, 3000};
  task t{.what = verb::allreduce_view, .counts = std::vector<std::size_t>(ranks)};
  while (t.what == verb::allreduce_view)
    t.what = all_verbs()[below(choices, all_verbs().size())];  // it cannot be started
  std::size_t const most = longest[below(choices, std::size(longest))];
  t.even = !detail::is_of_pieces(t.what) || below(choices, 2) == 0;
  t.counts[0] = below(choices, most + 1);
  for (auto& count : t.counts) count = t.even ? t.counts[0] : below(choices, most + 1);
  t.root = static_cast<rank_t>(below(choices, ranks));
  t.in_place = can_be_in_place(t.what) && below(choices, 2) == 0;
  t.seed = choices();
  return possible(std::move(t));
}

/// Tasks of one run, their arrays on every rank.
class batch {
 public:
  batch(engine& choices, rank_t ranks) : ranks_(ranks) {
    std::size_t const number = 1 + below(choices, 3);
    for (std::size_t k = 0; k < number; ++k) add(random_task(choices, ranks));
  }
  batch(task const& one, rank_t ranks) : ranks_(ranks) { add(one); }

  std::vector<request> start(member& me) {
    std::vector<request> all;
    for (work& w : all_)
      all.push_back(team_test::start<int>(me, w.what, spans_of<int>(w.what, me.rank(), w.of[me.rank()], shared(w))));
    return all;
  }

  /// Empty if all is right.
  std::string fault() {
    for (work& w : all_)
      for (rank_t r = 0; r < ranks_; ++r) {
        std::string const wrong = fault_of<int>(w.what, r, w.of[r], shared(w), {});
        if (!wrong.empty()) return wrong;
      }
    return {};
  }

 private:
  struct work {
    task what;
    std::vector<arrays<int>> of = {};  ///< [rank]
    std::vector<int> shared = {};
  };

  void add(task const& t) {
    work& w = all_.emplace_back(work{t});
    for (rank_t r = 0; r < ranks_; ++r) w.of.push_back(prepared<int>(t, r));
    w.shared.resize(t.total());
  }
  static std::span<int> shared(work& w) { return w.shared; }

  rank_t ranks_;
  std::vector<work> all_;
};

}  // namespace coset::team_test
