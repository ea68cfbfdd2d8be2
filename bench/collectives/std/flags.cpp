// SPDX-License-Identifier: Apache-2.0
// What an expert writes for small arrays: everybody publishes what it gives right behind a tag, waits for the others' tags,
// and takes what it needs out of their places. No barrier: two places each, used in turns.
#include <algorithm>

#include "bench/collectives/by_hand.hpp"
#include "bench/collectives/factories.hpp"
#include "measure/harness/stage.hpp"
#include "measure/machine/flag_barrier.hpp"
#include "measure/machine/parking.hpp"

namespace coset::measure {
namespace {

/// A tag and, beginning on the same line, what it announces.
class places {
 public:
  explicit places(problem const& p)
      : lines_(1 + (sizeof(tag) + p.bytes()) / sizeof(flag)), flags_(2 * p.ranks * lines_) {
    for (std::size_t turn = 0; turn < 2; ++turn)
      for (rank_t r = 0; r < p.ranks; ++r) payloads_[turn].push_back(&at(turn, r) + 1);
  }

  using tag = std::atomic<std::uint64_t>;
  tag& at(std::size_t k, rank_t rank) { return flags_[((k % 2) * (flags_.size() / lines_ / 2) + rank) * lines_].value; }
  std::vector<void const*> const& payloads(std::size_t k) const { return payloads_[k % 2]; }

 private:
  std::size_t lines_;  ///< pairs of them
  std::vector<flag> flags_;
  std::vector<void const*> payloads_[2];
};

class flags final : public contestant {
 public:
  explicit flags(std::vector<unsigned> const& processors)
      : contestant("std", "flags"), crew_(processors), looks_(looks_among(processors)) {}

  std::string declines(problem const& p) const override {
    return p.bytes() > 64 * 1024 ? "everybody takes everything: for small arrays only" : "";
  }

  burst_result burst(workload const& work, burst_order const& order) override {
    stage stage(work, order);
    by_hand const hand(work);
    places places(work.shape());
    crew_.run(
        [&](rank_t rank) { stage.play_rank(rank, [&](std::size_t k) { return act(work, hand, places, rank, k); }); });
    return stage.result();
  }

 private:
  /// Who has seen all tags of iteration k + 1 knows that nobody reads iteration k any more.
  std::byte const* act(workload const& work, by_hand const& hand, places& all, rank_t rank, std::size_t k) const {
    problem const& p = work.shape();
    auto const [begin, end] = gives(p, rank);
    auto& own = all.at(k, rank);
    std::memcpy(static_cast<void*>(&own + 1), work.input(rank), (end - begin) * p.element_bytes());
    own.store(k + 1, std::memory_order_release);
    for (rank_t other = 0; other < p.ranks; ++other)
      if (other != rank) await(all.at(k, other), k + 1);
    return result(work, hand, all.payloads(k), rank);
  }

  void await(places::tag const& tag, std::uint64_t value) const {
    spin_until([&] { return tag.load(std::memory_order_acquire) >= value; }, looks_);
  }

  static std::byte const* result(workload const& work, by_hand const& hand, std::vector<void const*> const& from,
                                 rank_t rank) {
    problem const& p = work.shape();
    if (p.what == verb::barrier) return work.output(rank);
    if (p.what == verb::reduce) {
      if (rank == 0) hand.fold_all(0, from.data());
    } else if (p.what == verb::gather) {
      if (rank == 0) hand.take_all(0, from.data());
    } else if (p.what == verb::allreduce || p.what == verb::allreduce_view) {
      hand.fold_all(rank, from.data());
    } else {
      hand.take(rank, from.data());
    }
    return work.output(rank);
  }

  crew crew_;
  int const looks_;
};

}  // namespace

std::unique_ptr<contestant> make_flags(std::vector<unsigned> const& processors) {
  return std::make_unique<flags>(processors);
}

}  // namespace coset::measure
