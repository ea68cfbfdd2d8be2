// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/composed/two_level_scan.hpp"

#include <array>
#include <utility>

#include "planning/schedule/composed/host_exchange.hpp"
#include "planning/schedule/parts/between.hpp"
#include "planning/schedule/parts/joined.hpp"

namespace coset::schedule {
namespace {

part exclusive_between(two_level_scan_shape const& shape, std::size_t host) {
  std::vector<char> folds;
  for (rank_t const size : shape.hosts) folds.push_back(size > 1);
  return between_hosts_part(shape.between, static_cast<rank_t>(shape.hosts.size()), static_cast<rank_t>(host),
                            verb::exclusive_scan, 0, {.inputs_are_folds = folds, .results_are_folded = true});
}

class scan_building {
 public:
  scan_building(two_level_scan_shape const& shape, verb what, std::size_t host)
      : hosts_(shape.hosts, shape.leaders),
        verb_(what),
        host_(host),
        ranks_(hosts_.ranks(host)),
        between_(exclusive_between(shape, host)),
        exchange_(between_, hosts_, host, false) {}

  part run() {
    std::vector<fraction> cuts;
    exchange_.append_cuts(cuts);
    assembly building(ranks_, std::move(cuts));
    for (std::size_t p = 0; p < hosts_.pieces().size(); ++p) {
      auto const [first, last] = building.blocks_of(hosts_.pieces()[p]);
      leader_of_.insert(leader_of_.end(), last - first, hosts_.leader(host_, p));
    }
    add_prefixes(building);
    exchange_.add(building);
    add_what_precedes(building);
    return finish(std::move(building));
  }

 private:
  bool is_first() const { return host_ == 0; }
  bool is_last() const { return host_ + 1 == hosts_.hosts(); }
  /// How many of its host's ranks precede a rank, itself included where the verb says so.
  rank_t length(rank_t r) const { return detail::row_of(verb_).of == detail::contributors::up_to_own ? r + 1 : r; }
  source& prefix(rank_t r, block_t b) { return prefixes_[b * ranks_ + r]; }

  /// Two steps: leaders write prefixes, and ranks fetch their own, so that each is kept on its rank alone.
  void add_prefixes(assembly& building) {
    auto const blocks = static_cast<block_t>(building.blocks());
    prefixes_.resize(blocks * ranks_);
    std::vector<source> upto(ranks_);  // of as many ranks and one more, on the leader of the block
    for (block_t b = 0; b < blocks; ++b) {
      rank_t const leader = leader_of_[b], needed = is_last() ? length(ranks_ - 1) : ranks_;
      upto[0] = {0, 0};
      for (rank_t r = 1; r < needed; ++r)
        upto[r] = {leader, building.assign(leader, b, std::array{upto[r - 1], source{r, 0}})};
      for (rank_t r = 0; r < ranks_; ++r) {
        if (length(r) > 0) prefix(r, b) = upto[length(r) - 1];
      }
      if (needed == ranks_ && ranks_ > 1) building.hold(leader, b, upto[ranks_ - 1].slot);
    }
    building.end_step(true);
    for (block_t b = 0; b < blocks; ++b) {
      for (rank_t r = 0; r < ranks_; ++r) {
        source& own = prefix(r, b);
        if (length(r) > 0 && own.rank != r) own = {r, building.assign(r, b, {&own, 1})};
      }
    }
    building.end_step(true);
  }

  /// The results.
  void add_what_precedes(assembly& building) {
    for (block_t b = 0; b < building.blocks(); ++b) {
      source const preceding{leader_of_[b], building.holds(leader_of_[b], b)};
      for (rank_t r = 0; !is_first() && r < ranks_; ++r) {
        source& own = prefix(r, b);
        if (length(r) > 0)
          own = {r, building.assign(r, b, std::array{preceding, own})};
        else
          own = r == preceding.rank ? preceding : source{r, building.assign(r, b, {&preceding, 1})};
      }
    }
    building.end_step();
  }

  part finish(assembly&& building) {
    part made;
    auto const blocks = static_cast<block_t>(building.blocks());
    made.own = std::move(building).finish();
    made.own.verb = verb_;
    for (rank_t r = 0; r < ranks_; ++r) {
      bool const has_result = !is_first() || length(r) > 0;
      for (block_t b = 0; b < blocks; ++b) made.own.result[r][b] = has_result ? prefix(r, b).slot : no_slot;
    }
    made.first = hosts_.first(host_);
    std::move(exchange_).finish(made);
    // The prefixes of a host may all lie with its leader for a while; its own one, and the result.
    made.most_values += hosts_.widest() + 1;
    return made;
  }

  leadership const hosts_;
  verb const verb_;
  std::size_t const host_;
  rank_t const ranks_;
  part const between_;
  host_exchange exchange_;
  std::vector<rank_t> leader_of_;  ///< [block]
  std::vector<source> prefixes_;   ///< [block · ranks + rank]: where its own prefix is
};

}  // namespace

part two_level_scan_part(two_level_scan_shape const& shape, verb what, std::size_t host) {
  return scan_building(shape, what, host).run();
}

schedule two_level_scan(two_level_scan_shape const& shape, verb what) {
  std::vector<part> parts;
  for (std::size_t h = 0; h < shape.hosts.size(); ++h) parts.push_back(two_level_scan_part(shape, what, h));
  return joined(parts);
}

}  // namespace coset::schedule
