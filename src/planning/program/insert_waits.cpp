// SPDX-License-Identifier: Apache-2.0
// Waits from hazards: the linear order is right by construction; parallel execution must not be seen to differ from it.

#include <algorithm>
#include <numeric>

#include "base/text/format.hpp"
#include "planning/program/operation.hpp"

namespace coset::program {
namespace {

constexpr std::uint32_t nobody = UINT32_MAX;

/// Who touched a location last, and what it should hold now.
struct history {
  std::uint32_t writer = nobody;
  value_t value = no_value;
  std::vector<std::uint32_t> readers;
};

class wait_insertion {
 public:
  wait_insertion(linear_order const& l, policy const& p)
      : order_(l),
        in_place_(p.in_place),
        layers_(first_layers(l)),
        memory_(2 * cells(l) + layers_.back()),
        known_(l.ranks, std::vector<std::uint32_t>(l.ranks, 0)),
        clocks_(1, std::vector<std::uint32_t>(l.ranks, 0)),
        clock_(l.operations.size(), 0),
        clock_of_rank_(l.ranks, 0),
        sequence_(l.operations.size()),
        latest_(l.ranks, nobody) {}

  dependences run() {
    std::size_t const n = order_.operations.size();
    dependences d{std::vector<std::vector<std::uint32_t>>(n), std::vector<char>(n, false), {}};
    number_operations();
    for (std::uint32_t i = 0; i < n; ++i) {
      std::fill(latest_.begin(), latest_.end(), nobody);
      touch(i);
      wait_for_the_latest(i, d);
    }
    for (auto const& clock : known_) {
      auto& entered = d.knows.emplace_back();
      for (std::uint32_t const seen : clock) entered.push_back(seen > 0);
    }
    return d;
  }

 private:
  static std::size_t cells(linear_order const& l) { return std::size_t{l.ranks} * l.blocks; }
  std::size_t cell(rank_t rank, schedule::block_t block) const { return std::size_t{rank} * order_.blocks + block; }

  /// Few ranks have as many layers of a block as the one that has most.
  static std::vector<std::size_t> first_layers(linear_order const& l) {
    std::vector<std::size_t> layers(cells(l) + 1, 0);
    for (operation const& o : l.operations) {
      for (auto const* side : {&o.from, &o.to}) {
        for (location const& p : *side) {
          auto& used = layers[std::size_t{p.rank} * l.blocks + p.block];
          if (p.where == area::staging) used = std::max<std::size_t>(used, p.layer + 1);
        }
      }
    }
    std::exclusive_scan(layers.begin(), layers.end(), layers.begin(), std::size_t{0});
    return layers;
  }

  history& of(area where, rank_t rank, std::uint32_t layer, schedule::block_t block) {
    if (where == area::staging) return memory_[2 * cells(order_) + layers_[cell(rank, block)] + layer];
    return memory_[2 * cell(rank, order_.piece(where, rank, block)) + (where == area::output && !in_place_ ? 1 : 0)];
  }

  /// An operation's position in its rank, from 1.
  void number_operations() {
    std::vector<std::uint32_t> count(order_.ranks, 0);
    for (std::uint32_t i = 0; i < sequence_.size(); ++i) sequence_[i] = ++count[order_.operations[i].rank];
  }

  /// The ranks' glued operations stand side by side, so that the next one of the order shares the signal.
  std::uint32_t signalled_with(std::uint32_t i) const {
    while (order_.operations[i].glued) ++i;
    return i;
  }

  void need(std::uint32_t i, rank_t reader) {
    if (i == nobody) return;
    i = signalled_with(i);
    rank_t const r = order_.operations[i].rank;
    if (r == reader) return;
    if (latest_[r] == nobody || sequence_[i] > sequence_[latest_[r]]) latest_[r] = i;
  }

  void read(location const& p, std::uint32_t i, rank_t rank) {
    history& h = of(p.where, p.rank, p.layer, p.block);
    if (h.value != p.value) {
      throw schedule_error(
          text::format("this storage loses a value: block {} of rank {} is overwritten before rank {} has read it",
                       p.block, p.rank, rank));
    }
    need(h.writer, rank);
    h.readers.push_back(i);
  }

  void write(history& h, value_t value, std::uint32_t i, rank_t rank) {
    need(h.writer, rank);
    for (std::uint32_t reader : h.readers) need(reader, rank);
    h.readers.clear();
    h.writer = i;
    h.value = value;
  }

  void touch(std::uint32_t i) {
    operation const& o = order_.operations[i];
    for (location const& p : o.from) read(p, i, o.rank);
    for (location const& p : o.to) write(of(p.where, p.rank, p.layer, p.block), p.value, i, o.rank);
    // Entering and leaving hand the caller's buffers over. Staging is handed over on entry only: its reuse is the next
    // operation's business.
    bool const hands_over = o.what == operation::kind::enter || o.what == operation::kind::leave;
    if (hands_over) own(area::input, o, i);
    if (hands_over && order_.output_of.empty() && !in_place_) own(area::output, o, i);
    if (o.what != operation::kind::enter) return;
    own_staging(o, i);
    // A shared output is nobody's own: who enters may have read it until then, so that its first writer waits for all.
    // Who leaves has waited for what it gets there, and asks nothing more.
    if (!order_.output_of.empty()) read_shared_output(i, order_.output_of[o.rank]);
  }

  void own_staging(operation const& o, std::uint32_t i) {
    std::size_t const first = layers_[cell(o.rank, 0)], last = layers_[cell(o.rank + 1, 0)];
    for (std::size_t at = first; at < last; ++at) write(memory_[2 * cells(order_) + at], no_value, i, o.rank);
  }

  void own(area what, operation const& o, std::uint32_t i) {
    for (schedule::block_t b = 0; b < order_.blocks; ++b) {
      value_t const left = what == area::input ? order_.inputs[o.rank * std::size_t{order_.blocks} + b] : no_value;
      write(of(what, o.rank, 0, b), left, i, o.rank);
    }
  }

  void read_shared_output(std::uint32_t i, rank_t whose) {
    for (schedule::block_t b = 0; b < order_.blocks; ++b) of(area::output, whose, 0, b).readers.push_back(i);
  }

  /// Next neighbours first, so that ranks do not all poll the same line. A wait that another one implies is dropped:
  /// release and acquire are transitive.
  void wait_for_the_latest(std::uint32_t i, dependences& d) {
    rank_t const r = order_.operations[i].rank;
    auto& known = known_[r];
    bool learned = false;
    for (rank_t step = 1; step < order_.ranks; ++step) {
      rank_t const q = (r + step) % order_.ranks;
      std::uint32_t const e = latest_[q];
      if (e == nobody || known[q] >= sequence_[e] || another_implies(e, q)) continue;
      d.needs[i].push_back(e);
      d.signals[e] = true;
      auto const& theirs = clocks_[clock_[e]];
      for (rank_t k = 0; k < order_.ranks; ++k) known[k] = std::max(known[k], theirs[k]);
      known[q] = std::max(known[q], sequence_[e]);
      learned = true;
    }
    known[r] = sequence_[i];
    if (learned) {
      clock_of_rank_[r] = static_cast<std::uint32_t>(clocks_.size());
      clocks_.push_back(known);
    }
    clock_[i] = clock_of_rank_[r];
  }

  /// How far the rank of operation `e` knew rank q to be when it had done that; how far itself was, it always knows.
  std::uint32_t known_after(std::uint32_t e, rank_t q) const {
    return order_.operations[e].rank == q ? sequence_[e] : clocks_[clock_[e]][q];
  }

  /// Whether another operation that the present one needs comes after `e` of rank q, perhaps one of a third rank.
  bool another_implies(std::uint32_t e, rank_t q) const {
    return std::ranges::any_of(latest_, [&](std::uint32_t other) {
      return other != nobody && other != e && known_after(other, q) >= sequence_[e];
    });
  }

  linear_order const& order_;
  bool const in_place_;
  std::vector<std::size_t> layers_;  ///< [rank · blocks + block]: the first of its own, counted through
  std::vector<history> memory_;
  std::vector<std::vector<std::uint32_t>> known_;  ///< [rank][rank]: how far each knows the others to be
  /// Copies of known_'s rows, one each time a rank learned something; it does many operations in between.
  std::vector<std::vector<std::uint32_t>> clocks_;
  std::vector<std::uint32_t> clock_;          ///< [operation]: the clock of its rank when it was done
  std::vector<std::uint32_t> clock_of_rank_;  ///< the latest
  std::vector<std::uint32_t> sequence_;
  std::vector<std::uint32_t> latest_;  ///< what the operation at hand needs of each rank
};

}  // namespace

dependences insert_waits(linear_order const& l, policy const& p) { return wait_insertion(l, p).run(); }

}  // namespace coset::program
