// SPDX-License-Identifier: Apache-2.0
// Ways to call a collective, with arrays whose right contents are known, so that any two can be set against each other.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/verbs.hpp"

namespace coset::team_test {

enum class manner : std::uint8_t { blocking, started, planned };

struct way {
  verb what = verb::allreduce;
  manner how = manner::blocking;
  std::size_t count = 1;  ///< of a piece, where the verb has pieces
  rank_t root = 0;
  bool in_split = false;  ///< in a team of all ranks that was split from the whole
  bool in_place = false;
};

using detail::is_rooted;
inline bool has_pieces(verb what) { return detail::is_of_pieces(what); }
/// By all ranks, whose arrays are then the whole.
inline bool may_be_in_place(verb what) { return can_be_in_place(what) && !has_pieces(what) && !is_rooted(what); }

inline std::string text(way const& w) {
  constexpr std::array names{"blocking", "started", "planned"};
  return std::string(name_of(w.what)) + " " + names[std::size_t(w.how)] + ", " + std::to_string(w.count) + ", root " +
         std::to_string(w.root) + (w.in_split ? ", split" : "") + (w.in_place ? ", in place" : "");
}

/// Without pieces the first rank's is the whole.
inline task task_of(way const& w, rank_t ranks, std::uint64_t seed) {
  auto counts = even_counts(ranks, has_pieces(w.what) ? w.count : 0);
  counts[0] = w.count;
  return {w.what, counts, true, w.root, w.in_place, seed};
}

/// Plans, by what they are for. Made ahead, as plans are.
class plan_table {
 public:
  explicit plan_table(team& of) : of_(of) {}

  void make(way const& w) {
    auto& made = made_[text(w)];
    std::size_t const length = task_of(w, of_.size(), 0).total();
    if (!made) made.emplace(of_, w.what, length, plus{}, plan_options{.root = w.root, .segment_bytes = 32 * 1024});
  }
  plan<int> const& get(way const& w) const { return *made_.at(text(w)); }

 private:
  team& of_;
  std::map<std::string, std::optional<plan<int>>> made_;
};

/// One rank's call: its arrays, which the request must not outlive, and what has to become of them. Made, it needs no memory.
class journey {
 public:
  journey(way const& w, std::uint64_t seed, rank_t rank, rank_t ranks)
      : way_(w),
        task_(task_of(w, ranks, seed)),
        arrays_(prepared<int>(task_, rank)),
        named_(spans_of<int>(task_, rank, arrays_, {})),
        judge_(summed<int>(task_), rank) {
    if (w.what == verb::allreduce_view) viewed_.reserve(w.count);
  }
  /// Other ranks' arrays may come to lie where these have been, but not before the request is given up.
  ~journey() { under_way = {}; }
  journey(journey const&) = delete;
  journey& operator=(journey const&) = delete;

  /// `shared`: what all ranks name as the result of reduce_shared, of count elements.
  void set_off(member& me, plan_table const* plans, std::span<int> shared = {}) {
    if (way_.what == verb::reduce_shared) named_.out = shared;
    if (way_.how == manner::started) {
      under_way = start<int>(me, task_, named_);
    } else if (way_.how == manner::blocking) {
      call<int>(me, task_, named_, viewed_);
    } else if (way_.what == verb::broadcast) {
      plans->get(way_).execute(me, named_.in);
    } else {
      plans->get(way_).execute(me, named_.in, named_.out);
    }
  }

  /// What is wrong with the result once it is complete; empty where nothing is.
  std::string fault() const {
    std::string const wrong = judge_.fault<int>(arrays_, named_.out, viewed_);
    return wrong.empty() ? wrong : text(way_) + ": " + wrong;
  }

  request under_way;

 private:
  way const way_;
  task const task_;
  arrays<int> arrays_;
  spans<int> named_;
  std::vector<int> viewed_;
  judge const judge_;
};

}  // namespace coset::team_test
