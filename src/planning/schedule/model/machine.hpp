// SPDX-License-Identifier: Apache-2.0
// Where ranks are, and what it costs them to reach each other: levels of a machine, or a network of shared links.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planning/schedule/model/rank_levels.hpp"

namespace coset::schedule {

/// What ranks of one group of a level pay to reach each other. Seconds, and seconds per byte.
struct link {
  rank_t group;         ///< ranks r and s are joined by the first level with r / group == s / group, unless
                        ///< rank_levels say which level joins whom
  double latency;       ///< alpha, per round of a step
  double per_byte;      ///< beta
  double per_peer = 0;  ///< lambda, per rank read from
  double shared = 0;    ///< per byte, all together, that ranks of one group of the level below read over this level or
                        ///< over one further out: the group's own link; none on the innermost level
  double fan_out = 0;   ///< what a byte costs whom it is read from, as a part of what it costs the reader: 1 for
                        ///< messages, each of which is sent; 0 where all fetch a line by themselves
};

/// alpha-beta-gamma, with levels and ports.
struct cost_model {
  std::vector<link> links;       ///< innermost first; the last one joins all pairs that no earlier one joins
  double combine_per_byte = 0;   ///< gamma
  rank_t ports = 1;              ///< peers whose volumes travel at once, each at full speed; more of them share
  rank_t peers_per_latency = 1;  ///< peers that one latency covers: no fewer than `ports`, all of them in shared memory
  rank_t streams = 16;           ///< a rank may read from so many peers at once …
  double per_stream_beyond = 0;  ///< … and pays this for every further one

  /// One level, one port.
  static cost_model flat(double latency, double per_byte, double combine_per_byte);
  /// The parameters of [KZ] Table 2.
  static cost_model ten_gigabit() { return flat(3e-5, 1e-8, 2e-10); }
};

/// The group sizes of the links, in their order.
std::vector<rank_t> groups_of(cost_model const&);

using link_t = std::uint32_t;

/// What one message occupies, and what it costs those at its ends whatever its length.
struct way {
  struct use {
    link_t link;
    double per_byte;  ///< so long it is busy with a byte
  };
  std::size_t level = 0;
  double latency = 0;      ///< of a rank's messages in a step the greatest counts
  double per_message = 0;  ///< for its reader; for its giver, who may have many readers, fan_out of that
  double fan_out = 1;
  double per_byte = 0;  ///< of the one peer, where a rank has several ports
  std::vector<use> uses = {};
};

/// All that the price of a schedule has to know of a machine or network. For one thread: ways may be found when they are
/// asked for.
class machine {
 public:
  virtual ~machine() = default;

  virtual rank_t ranks() const = 0;
  virtual link_t links() const = 0;
  virtual std::size_t levels() const { return 1; }
  virtual std::string name_of(link_t) const = 0;
  /// The way to `to` from `from`. Throws schedule_error if there is none.
  virtual void find(rank_t to, rank_t from, way& found) const = 0;

  /// What ranks pay apart from ways.
  cost_model const& costs() const { return costs_; }

 protected:
  explicit machine(cost_model costs) : costs_(std::move(costs)) {}
  machine(machine const&) = default;
  machine& operator=(machine const&) = default;

  cost_model costs_;
};

/// Levels that join ranks, with a link for each. A rank has a port in each direction, and a group of the level below has a
/// link in each over which all that its ranks read from further out has to pass.
class level_machine final : public machine {
 public:
  /// Throws schedule_error if there are not as many links as levels.
  level_machine(rank_levels, cost_model);
  /// Groups of consecutive ranks, as the links say.
  level_machine(rank_t ranks, cost_model);

  rank_levels const& domains() const { return domains_; }

  rank_t ranks() const override { return domains_.ranks(); }
  link_t links() const override { return first_.back(); }
  std::size_t levels() const override { return domains_.count(); }
  std::string name_of(link_t) const override;
  void find(rank_t to, rank_t from, way& found) const override;

  /// Where all ranks do the same, links of one kind are as busy: ports, and links of groups of each level, in one direction. Two
  /// for each level, with how many ranks such a link serves.
  struct kind {
    link_t number;
    rank_t ranks;
  };
  kind kind_of(link_t) const;

 private:
  rank_levels domains_;
  std::vector<link_t> first_;  // [level]: of the links of groups inside it, of ranks' ports on the first; and the end
};

}  // namespace coset::schedule
