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

#include "support/teams.hpp"

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
inline bool may_be_in_place(verb what) {
  return what == verb::allreduce || what == verb::scan || what == verb::exclusive_scan;
}

inline std::string text(way const& w) {
  constexpr std::array names{"blocking", "started", "planned"};
  return std::string(name_of(w.what)) + " " + names[std::size_t(w.how)] + ", " + std::to_string(w.count) + ", root " +
         std::to_string(w.root) + (w.in_split ? ", split" : "") + (w.in_place ? ", in place" : "");
}

/// Plans, by what they are for. Made ahead, as plans are.
class plan_table {
 public:
  explicit plan_table(team& of) : of_(of) {}

  void make(way const& w) {
    auto& made = made_[text(w)];
    std::size_t const length = has_pieces(w.what) ? w.count * of_.size() : w.count;
    if (!made) made.emplace(of_, w.what, length, plus{}, plan_options{.root = w.root, .segment_bytes = 32 * 1024});
  }
  plan<int> const& get(way const& w) const { return *made_.at(text(w)); }

 private:
  team& of_;
  std::map<std::string, std::optional<plan<int>>> made_;
};

/// One rank's call: its arrays, which the request must not outlive, and what has to become of them.
class journey {
 public:
  journey(way const& w, std::uint64_t seed, rank_t rank, rank_t ranks)
      : way_(w), seed_(seed), rank_(rank), ranks_(ranks), in_(length_in()), out_(length_out(), -1) {
    for (std::size_t i = 0; i < in_.size(); ++i) in_[i] = value(rank, i);
    if (w.what == verb::broadcast && rank == w.root) out_ = in_;
  }
  /// Other ranks' arrays may come to lie where these have been, but not before the request is given up.
  ~journey() { under_way = {}; }
  journey(journey const&) = delete;
  journey& operator=(journey const&) = delete;

  /// `shared`: what all ranks name as the result of reduce_shared, of count elements.
  void set_off(member& me, plan_table const* plans, std::span<int> shared = {}) {
    std::span<int> const in(in_), out = way_.in_place ? in : std::span<int>(out_);
    if (way_.how == manner::planned) return execute(plans->get(way_), me, in, out, shared);
    bool const starts = way_.how == manner::started;
    switch (way_.what) {
      case verb::allreduce:
        return starts ? keep(start_allreduce(me, in, out)) : allreduce(me, in, out);
      case verb::reduce:
        return starts ? keep(start_reduce(me, in, out, way_.root)) : reduce(me, in, out, way_.root);
      case verb::reduce_scatter:
        return starts ? keep(start_reduce_scatter(me, in, out)) : reduce_scatter(me, in, out);
      case verb::allgather:
        return starts ? keep(start_allgather(me, in, out)) : allgather(me, in, out);
      case verb::broadcast:
        return starts ? keep(start_broadcast(me, out, way_.root)) : broadcast(me, out, way_.root);
      case verb::gather:
        return starts ? keep(start_gather(me, in, out, way_.root)) : gather(me, in, out, way_.root);
      case verb::scatter:
        return starts ? keep(start_scatter(me, in, out, way_.root)) : scatter(me, in, out, way_.root);
      case verb::all_to_all:
        return starts ? keep(start_all_to_all(me, in, out)) : all_to_all(me, in, out);
      case verb::scan:
        return starts ? keep(start_scan(me, in, out)) : scan(me, in, out);
      case verb::exclusive_scan:
        return starts ? keep(start_exclusive_scan(me, in, out)) : exclusive_scan(me, in, out);
      case verb::barrier:
        return starts ? keep(start_barrier(me)) : barrier(me);
      case verb::reduce_shared:
        shared_ = shared;
        return starts ? keep(start_reduce_shared(me, in, shared)) : reduce_shared(me, in, shared);
      case verb::allreduce_view:
        view_ = allreduce_view(me, in);
        std::ranges::copy(view_, out_.begin());
    }
  }

  /// What is wrong with the result once it is complete; empty where nothing is.
  std::string fault() const {
    std::span<int const> const got = way_.what == verb::reduce_shared ? std::span<int const>(shared_)
                                     : way_.in_place                  ? std::span<int const>(in_)
                                                                      : std::span<int const>(out_);
    bool const is_roots = way_.what == verb::reduce || way_.what == verb::gather;
    if (way_.what == verb::barrier || (is_roots && rank_ != way_.root) ||
        (way_.what == verb::exclusive_scan && rank_ == 0))
      return {};
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i] == right(i)) continue;
      return text(way_) + ": rank " + std::to_string(rank_) + " has " + std::to_string(got[i]) + " at " +
             std::to_string(i) + " instead of " + std::to_string(right(i));
    }
    return {};
  }

  request under_way;

 private:
  static constexpr int values = 1000;

  int value(rank_t rank, std::size_t i) const {
    return static_cast<int>((seed_ % values * 31 + rank * 7 + i) % static_cast<std::size_t>(values));
  }
  int sum(rank_t ranks, std::size_t i) const {
    int all = 0;
    for (rank_t r = 0; r < ranks; ++r) all += value(r, i);
    return all;
  }
  int right(std::size_t i) const {
    switch (way_.what) {
      case verb::reduce_scatter:
        return sum(ranks_, rank_ * way_.count + i);
      case verb::scatter:
        return value(way_.root, rank_ * way_.count + i);
      case verb::all_to_all:
        return value(static_cast<rank_t>(i / way_.count), rank_ * way_.count + i % way_.count);
      case verb::gather:
      case verb::allgather:
        return value(static_cast<rank_t>(i / way_.count), i % way_.count);
      case verb::broadcast:
        return value(way_.root, i);
      case verb::scan:
        return sum(rank_ + 1, i);
      case verb::exclusive_scan:
        return sum(rank_, i);
      default:
        return sum(ranks_, i);
    }
  }
  std::size_t length_in() const {
    bool const gathers = way_.what == verb::allgather || way_.what == verb::gather;
    return has_pieces(way_.what) && !gathers ? way_.count * ranks_ : way_.count;
  }
  std::size_t length_out() const {
    bool const scatters = way_.what == verb::reduce_scatter || way_.what == verb::scatter;
    return has_pieces(way_.what) && !scatters ? way_.count * ranks_ : way_.count;
  }
  void keep(request started) { under_way = std::move(started); }
  void execute(plan<int> const& p, member& me, std::span<int> in, std::span<int> out, std::span<int> shared) {
    if (way_.what == verb::broadcast) return p.execute(me, out);
    if (way_.what != verb::reduce_shared) return p.execute(me, in, out);
    shared_ = shared;
    p.execute(me, in, shared);
  }

  way const way_;
  std::uint64_t const seed_;
  rank_t const rank_, ranks_;
  std::vector<int> in_, out_;
  std::span<int> shared_;
  std::span<int const> view_;
};

}  // namespace coset::team_test
