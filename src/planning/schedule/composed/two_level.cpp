// SPDX-License-Identifier: Apache-2.0
// Two levels: wide folds to the leaders of every host, narrow ones between leaders, and the way back.
#include "planning/schedule/composed/two_level.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "planning/schedule/composed/host_exchange.hpp"
#include "planning/schedule/composed/nodes.hpp"
#include "planning/schedule/parts/between.hpp"
#include "planning/schedule/parts/joined.hpp"

namespace coset::schedule {
namespace {

using detail::gets_pieces;
using detail::gives_pieces;
using detail::is_from_root;
using detail::is_half;
using detail::is_rooted;
using detail::is_to_root;

/// From every rank of a host to its leaders, or back: reduce_scatter or allgather where all lead, else a tree a part.
void append_inside(std::vector<rank_t> const& host, std::size_t leaders, std::string const& radix, bool back,
                   std::vector<mapped>& to) {
  auto const size = static_cast<rank_t>(host.size());
  if (leaders == size) {
    auto const what = back ? verb::allgather : verb::reduce_scatter;
    to.push_back({make({"generalized", {{"radix", radix}}}, size, what), host, {}});
    return;
  }
  auto const what = back ? verb::broadcast : verb::reduce;
  for (rank_t i = 0; i < leaders; ++i)
    to.push_back({make({"binomial", {{"radix", radix}}}, size, what, i), host,
                  part_of_leader(i, static_cast<std::int64_t>(leaders))});
}

/// Of a vector made of ranks' pieces, each rank keeps its own: blocks own[rank].
void keep_own_results(schedule& s, std::vector<assembly::range> const& own) {
  for (rank_t r = 0; r < s.ranks; ++r) {
    auto& slots = s.result[r];
    std::fill(slots.begin(), slots.begin() + own[r].first, no_slot);
    std::fill(slots.begin() + own[r].last, slots.end(), no_slot);
  }
}

/// What each rank has brought itself it need not be given, and others may read it as it was.
void keep_own_inputs(part& p, std::vector<assembly::range> const& own) {
  auto const is_own = [&](rank_t r, block_t b) { return r < own.size() && own[r].first <= b && b < own[r].last; };
  for (std::size_t i = 0; i < p.own.steps.size(); ++i) {
    auto& step = p.own.steps[i];
    std::erase_if(step, [&](assignment const& a) { return is_own(a.rank, a.block); });
    for (assignment const& a : step) {
      for (source& from : std::span(p.own.sources).subspan(a.first, a.count)) {
        if (is_own(from.rank, a.block)) from.slot = 0;
      }
    }
    for (departure& d : p.departures[i]) {
      if (is_own(d.from, d.block)) d.slot = 0;
    }
  }
  for (rank_t r = 0; r < p.own.ranks; ++r)
    std::fill(p.own.result[r].begin() + own[r].first, p.own.result[r].begin() + own[r].last, 0);
}

rank_t inner_of(two_level_shape const& shape) {
  if (shape.inner == 1) throw schedule_error("inner = 1 folds nothing; take 2 or more, or 0 for all ranks of a host");
  return shape.inner != 0 ? shape.inner : std::max(*std::ranges::max_element(shape.hosts), rank_t{2});
}

/// How many steps inner folds take in the widest host. Hosts all have so many, so that those between hosts are the same
/// ones everywhere.
std::size_t levels_of(leadership const& hosts, rank_t inner) {
  std::size_t levels = 0;
  for (std::uint64_t reach = 1; reach < hosts.widest(); reach *= inner) ++levels;
  return levels;
}

part between_leaders(two_level_shape const& shape, verb what, rank_t root_host, std::size_t host) {
  std::vector<char> folds;
  for (rank_t const size : shape.hosts) folds.push_back(size > 1);
  return between_hosts_part(shape.between, static_cast<rank_t>(shape.hosts.size()), static_cast<rank_t>(host), what,
                            root_host, {.inputs_are_folds = folds});
}

/// One host's part, phase by phase.
class host_building {
 public:
  host_building(two_level_shape const& shape, verb what, rank_t root, std::size_t host)
      : hosts_(shape.hosts, shape.leaders),
        verb_(what),
        host_(host),
        inner_(inner_of(shape)),
        leaders_(hosts_.leaders(host)),
        members_(hosts_.ranks(host)),
        between_(between_leaders(shape, what, static_cast<rank_t>(hosts_.host_of(root)), host)),
        exchange_(between_, hosts_, host, is_half(what)) {
    if (is_rooted(what) && hosts_.host_of(root) == host) root_ = root - hosts_.first(host);
    std::iota(members_.begin(), members_.end(), 0);
  }

  part run() {
    std::vector<fraction> cuts;
    exchange_.append_cuts(cuts);
    for (rank_t const r : members_) {
      if (is_half(verb_)) cuts.push_back(piece_of(r).low);
    }
    if (is_half(verb_)) cuts.push_back(piece_of(members_.back()).high);
    assembly building(static_cast<rank_t>(members_.size()), std::move(cuts));
    std::size_t const levels = levels_of(hosts_, inner_);
    add_way_in(building);
    while (building.steps() < levels) building.end_step(true);
    exchange_.add(building);
    add_way_out(building);
    return finish(std::move(building), levels);
  }

 private:
  /// What belongs to one rank of a vector that is made of ranks' pieces.
  piece piece_of(rank_t r) const {
    std::int64_t const rank = hosts_.first(host_) + r, all = hosts_.all();
    return {{rank, all}, {rank + 1, all}};
  }

  /// Visits what rank and leader have in common of the rank's own piece.
  template <class Visit>
  void for_each_leader_of(rank_t r, Visit visit) const {
    for (rank_t i = 0; i < leaders_; ++i) {
      piece const where = common(piece_of(r), part_of_leader(i, leaders_));
      if (!is_empty(where)) visit(i, where);
    }
  }

  void add_way_in(assembly& building) const {
    if (is_from_root(verb_)) {
      for (rank_t i = 0; root_ && i < leaders_; ++i) building.fold(i, part_of_leader(i, leaders_), {&*root_, 1});
      building.end_step();
      return;
    }
    if (gives_pieces(verb_)) {
      for (rank_t const r : members_)
        for_each_leader_of(r, [&](rank_t i, piece where) { building.fold(i, where, {&r, 1}); });
      building.end_step();
      return;
    }
    std::vector<mapped> in;
    append_inside(members_, leaders_, std::to_string(inner_), false, in);
    building.run(in);
  }

  void add_way_out(assembly& building) const {
    if (is_from_root(verb_) && root_) {
      for (rank_t const r : members_)
        for (rank_t i = 0; r != *root_ && i < leaders_; ++i)
          building.fold(r, part_of_leader(i, leaders_), std::array{i});
      building.end_step();
      return;
    }
    if (is_to_root(verb_)) {
      for (rank_t i = 0; root_ && i < leaders_; ++i) building.fold(*root_, part_of_leader(i, leaders_), std::array{i});
      building.end_step();
      return;
    }
    if (gets_pieces(verb_)) {
      for (rank_t const r : members_)
        for_each_leader_of(r, [&](rank_t i, piece where) { building.fold(r, where, {&i, 1}); });
      building.end_step();
      return;
    }
    std::vector<mapped> out;
    append_inside(members_, leaders_, std::to_string(inner_), true, out);
    building.run(out);
  }

  part finish(assembly&& building, std::size_t levels) {
    auto const ranks = static_cast<rank_t>(members_.size());
    std::vector<assembly::range> own;  // of the blocks, by rank
    if (is_half(verb_)) {
      for (rank_t const r : members_) own.push_back(building.blocks_of(piece_of(r)));
    }
    part made;
    made.own = std::move(building).finish(verb_, root_.value_or(ranks));
    made.own.root = root_;
    made.first = hosts_.first(host_);
    std::move(exchange_).finish(made);
    if (is_from_root(verb_) && root_) std::ranges::fill(made.own.result[*root_], 0);
    if (gets_pieces(verb_)) keep_own_results(made.own, own);
    if (gives_pieces(verb_)) keep_own_inputs(made, own);
    made.most_values = most_values(made.most_values, static_cast<slot_t>(levels));
    made.alike = hosts_.is_equal() && between_.alike && !is_half(verb_);
    return made;
  }

  /// Of a block on one rank, with those of the exchange and the input. Of allgather: the input, one copy that the rank
  /// makes, and one that messages bring. Of reduce_scatter: a fold for each level of the widest host, the last of which is
  /// the exchange's input; who is given something in the end is no leader of it. Else a fold and a copy for each level.
  slot_t most_values(slot_t exchanged, slot_t levels) const {
    if (gives_pieces(verb_)) return 3;
    return exchanged + (gets_pieces(verb_) ? levels - 1 : 2 * levels);
  }

  leadership const hosts_;
  verb const verb_;
  std::size_t const host_;
  rank_t const inner_, leaders_;
  std::optional<rank_t> root_;  ///< if it is of this host
  std::vector<rank_t> members_;
  part const between_;
  host_exchange exchange_;
};

}  // namespace

schedule two_level(two_level_shape const& shape) {
  std::string const inner = std::to_string(inner_of(shape));
  auto const members = members_of(shape.hosts);
  leadership const hosts(shape.hosts, shape.leaders);
  schedule const between = make(shape.between, static_cast<rank_t>(members.size()));
  std::vector<mapped> in, exchanges, out;
  std::vector<fraction> cuts;
  for (std::size_t h = 0; h < members.size(); ++h) {
    append_inside(members[h], hosts.leaders(h), inner, false, in);
    append_inside(members[h], hosts.leaders(h), inner, true, out);
  }
  for (std::size_t p = 0; p < hosts.pieces().size(); ++p) {
    auto& part = exchanges.emplace_back(mapped{between, {}, hosts.pieces()[p]});
    for (std::size_t h = 0; h < members.size(); ++h) part.members.push_back(members[h][hosts.leader(h, p)]);
    append_cuts(part, cuts);
  }
  assembly building(hosts.all(), cuts);
  building.run(in);
  building.run(exchanges);
  building.run(out);
  auto made = std::move(building).finish();
  made.idempotent_only = between.idempotent_only;
  return made;
}

schedule two_level(two_level_shape const& shape, verb what) {
  std::vector<part> parts;
  for (std::size_t h = 0; h < shape.hosts.size(); ++h) parts.push_back(two_level_part(shape, what, 0, h));
  return joined(parts);
}

part two_level_part(two_level_shape const& shape, verb what, rank_t root, std::size_t host) {
  return host_building(shape, what, root, host).run();
}

}  // namespace coset::schedule
