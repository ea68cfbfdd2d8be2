// SPDX-License-Identifier: Apache-2.0
// What an expert writes without barriers: ranks wait only for those to whom they give something or from whom they take it, by one tag
// each way. Three ways: what is given lies behind the tag, in the giver's array, or in the taker's.
#include <algorithm>

#include "bench/collectives/by_hand.hpp"
#include "bench/collectives/factories.hpp"
#include "command/measure/harness/stage.hpp"
#include "command/measure/machine/flag_barrier.hpp"
#include "command/measure/machine/parking.hpp"

namespace coset::measure {
namespace {

/// Whether rank `to` takes something of rank `from`. Roots are 0.
bool takes(verb what, rank_t to, rank_t from) {
  if (to == from) return false;
  switch (what) {
    case verb::reduce:
    case verb::gather:
      return to == 0;
    case verb::broadcast:
    case verb::scatter:
      return from == 0;
    case verb::scan:
      return from < to;
    default:
      return true;
  }
}

/// Long ones are summed by slices, see flags_push.cpp.
bool is_sum_for_all(verb what) { return what == verb::allreduce || what == verb::allreduce_view; }

constexpr std::size_t most_taken_by_all = 64 * 1024, most_staged = 4 * 1024 * 1024;

using tag = std::atomic<std::uint64_t>;

/// A tag and, beginning on the same line, room for what it announces; two each, used in turns.
class places {
 public:
  places(problem const& p, std::size_t payload)
      : lines_(1 + (sizeof(tag) + payload) / sizeof(flag)), ranks_(p.ranks), flags_(2 * p.ranks * lines_) {}

  tag& at(std::size_t k, rank_t rank) { return flags_[((k & 1) * ranks_ + rank) * lines_].value; }

 private:
  std::size_t lines_;  ///< pairs of them
  std::size_t ranks_;
  std::vector<flag> flags_;
};

/// One rank's view of a burst: whom it waits for, and where it finds what they give.
struct seat {
  std::vector<rank_t> givers, takers;
  std::vector<void const*> from[2];  ///< [turn][rank]: of its own, its input
};

class flags : public contestant {
 public:
  flags(std::vector<unsigned> const& processors, char const* name)
      : contestant("std", name), crew_(processors), looks_(looks_among(processors)) {}

  burst_result burst(workload const& work, burst_order const& order) override {
    stage stage(work, order);
    by_hand const hand(work);
    table all(work, room_for(work.shape()));
    crew_.run([&](rank_t rank) {
      seat const mine = seat_of(work, all, rank);
      stage.play_rank(rank, [&](std::size_t k) { return act(work, hand, all, mine, rank, k); });
    });
    return stage.result();
  }

 protected:
  struct table {
    table(workload const& work, std::size_t room)
        : given(work.shape(), room), reached(work.shape().ranks), is_mutual(mutual(work.shape())) {}
    places given;
    std::vector<flag>
        reached;           ///< [rank]: the call after the last one of which it has taken all; pushing: that it is in
    bool const is_mutual;  ///< whoever gives to a rank also takes from it, so that its next tag says that it has

   private:
    static bool mutual(problem const& p) {
      for (rank_t a = 0; a < p.ranks; ++a)
        for (rank_t b = 0; b < a; ++b)
          if (takes(p.what, a, b) != takes(p.what, b, a)) return false;
      return true;
    }
  };

  /// Bytes behind a tag.
  virtual std::size_t room_for(problem const&) const = 0;
  virtual std::byte const* act(workload const&, by_hand const&, table&, seat const&, rank_t, std::size_t k) const = 0;

  void await(tag const& t, std::uint64_t value) const {
    spin_until([&] { return t.load(std::memory_order_acquire) >= value; }, looks_);
  }

  /// Where this rank has its result, which it takes out of what others give.
  static std::byte const* result(workload const& work, by_hand const& hand, std::vector<void const*> const& from,
                                 rank_t rank) {
    problem const& p = work.shape();
    bool const is_root = rank == 0;
    if (p.what == verb::barrier || (!is_root && (p.what == verb::reduce || p.what == verb::gather)))
      return work.output(rank);
    if (p.what == verb::broadcast && is_root) return work.input(0);
    if (p.what == verb::gather)
      hand.take_all(0, from.data());
    else if (p.what == verb::allreduce || p.what == verb::allreduce_view || p.what == verb::reduce)
      hand.fold_all(rank, from.data());
    else
      hand.take(rank, from.data());
    return work.output(rank);
  }

 private:
  seat seat_of(workload const& work, table& all, rank_t rank) const {
    seat mine;
    bool const is_behind_tags = room_for(work.shape()) > 0;
    for (rank_t q = 0; q < work.shape().ranks; ++q) {
      if (takes(work.shape().what, rank, q)) mine.givers.push_back(q);
      if (takes(work.shape().what, q, rank)) mine.takers.push_back(q);
      for (std::size_t turn = 0; turn < 2; ++turn)
        mine.from[turn].push_back(is_behind_tags && q != rank ? static_cast<void const*>(&all.given.at(turn, q) + 1)
                                                              : work.input(q));
    }
    return mine;
  }

  crew crew_;
  int const looks_;
};

/// Behind the tag. Who gives goes on at once, and two calls later looks whether it has been taken.
class staged_flags final : public flags {
 public:
  explicit staged_flags(std::vector<unsigned> const& processors) : flags(processors, "flags") {}

  std::string declines(problem const& p) const override {
    if (is_sum_for_all(p.what) && p.bytes() > most_taken_by_all)
      return "everybody takes everything: for small arrays only";
    return p.bytes() > most_staged ? "copies of large arrays do not stay in caches" : "";
  }

 private:
  std::size_t room_for(problem const& p) const override { return p.bytes(); }

  std::byte const* act(workload const& work, by_hand const& hand, table& all, seat const& mine, rank_t rank,
                       std::size_t k) const override {
    problem const& p = work.shape();
    if (!mine.takers.empty()) {
      if (!all.is_mutual && k >= 2)
        for (rank_t const q : mine.takers) await(all.reached[q].value, k - 1);
      auto const [begin, end] = gives(p, rank);
      tag& own = all.given.at(k, rank);
      std::memcpy(static_cast<void*>(&own + 1), work.input(rank), (end - begin) * p.element_bytes());
      own.store(k + 1, std::memory_order_release);
    }
    for (rank_t const q : mine.givers) await(all.given.at(k, q), k + 1);
    auto const* const found = result(work, hand, mine.from[k & 1], rank);
    if (!all.is_mutual && !mine.givers.empty()) all.reached[rank].value.store(k + 1, std::memory_order_release);
    return found;
  }
};

/// Out of the giver's own array, which it must not rewrite before that.
class pulling_flags final : public flags {
 public:
  explicit pulling_flags(std::vector<unsigned> const& processors) : flags(processors, "flags pull") {}

 private:
  std::size_t room_for(problem const&) const override { return 0; }

  std::byte const* act(workload const& work, by_hand const& hand, table& all, seat const& mine, rank_t rank,
                       std::size_t k) const override {
    all.given.at(k, rank).store(k + 1, std::memory_order_release);
    for (rank_t const q : mine.givers) await(all.given.at(k, q), k + 1);
    auto const* const found = result(work, hand, mine.from[k & 1], rank);
    all.reached[rank].value.store(k + 1, std::memory_order_release);
    for (rank_t const q : mine.takers) await(all.reached[q].value, k + 1);
    return found;
  }
};

/// Into the taker's array, as soon as the taker is there, which has read its last result then.
class pushing_flags final : public flags {
 public:
  explicit pushing_flags(std::vector<unsigned> const& processors) : flags(processors, "flags push") {}

 private:
  std::size_t room_for(problem const&) const override { return 0; }

  std::byte const* act(workload const& work, by_hand const& hand, table& all, seat const& mine, rank_t rank,
                       std::size_t k) const override {
    problem const& p = work.shape();
    all.reached[rank].value.store(k + 1, std::memory_order_release);  // here: its array is free
    for (rank_t const q : mine.takers) {
      await(all.reached[q].value, k + 1);
      hand.give(rank, q);
    }
    all.given.at(k, rank).store(k + 1, std::memory_order_release);
    bool const has_it_all = p.what == verb::broadcast && rank == 0;
    bool const gives_itself = p.what == verb::all_to_all || p.what == verb::allgather || rank == 0;
    if (gives_itself && !has_it_all) hand.give(rank, rank);
    for (rank_t const q : mine.givers) await(all.given.at(k, q), k + 1);
    return has_it_all ? work.input(0) : work.output(rank);
  }
};

}  // namespace

contestants make_flags(verb what, std::vector<unsigned> const& processors) {
  contestants all;
  all.push_back(std::make_unique<staged_flags>(processors));
  if (what == verb::barrier || is_sum_for_all(what)) return all;
  all.push_back(std::make_unique<pulling_flags>(processors));
  if (detail::only_moves(what)) all.push_back(std::make_unique<pushing_flags>(processors));
  return all;
}

}  // namespace coset::measure
