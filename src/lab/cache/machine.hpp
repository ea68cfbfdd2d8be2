// SPDX-License-Identifier: Apache-2.0
// Where ranks are, what joins them, and which links their bytes cross.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "coset/topology.hpp"
#include "lab/cache/costs.hpp"
#include "lab/cache/script.hpp"

namespace coset::cache {

/// Where the arrays of a call are between calls: it follows from how long they are together.
enum class residence : std::uint8_t { own_cache, l3, memory };

/// The links that bytes cross, one after the other.
class way {
 public:
  void cross(std::size_t link) { links_[count_++] = static_cast<std::uint32_t>(link); }
  std::span<std::uint32_t const> links() const { return {links_.data(), count_}; }

 private:
  std::array<std::uint32_t, 8> links_{};
  std::uint8_t count_ = 0;
};

/// The caches of a machine, and its memory. Bytes.
struct cache_sizes {
  std::uint64_t own;  ///< of one core
  std::uint64_t l3;   ///< of one core's share
};
/// As the machine reports them; else 1 MiB, and 2 MiB of the L3. No core counts on more than 4 MiB of its L3.
cache_sizes sizes_of(topology const&);

class machine {
 public:
  /// A core for each rank. Throws argument_error without ranks.
  machine(std::vector<processor> const& places, costs const&, cache_sizes);

  rank_t ranks() const { return static_cast<rank_t>(at_.size()); }
  costs const& prices() const { return costs_; }
  level joining(rank_t a, rank_t b) const;
  line_costs const& line(level l) const { return costs_.line[static_cast<std::size_t>(l)]; }
  /// Which L3 a rank has.
  std::uint32_t l3_of(rank_t r) const { return at_[r].l3; }

  /// From the core that holds a line, or only from its L3, to that of a reader. Of two ranks of one core nothing is
  /// crossed.
  way between(rank_t holder, rank_t reader, bool from_core) const;
  /// From or to the memory of the node that a rank is on.
  way from_memory(rank_t home, rank_t reader) const;
  /// Until the first line is here.
  double memory_latency(rank_t home, rank_t reader) const;

  std::size_t links() const { return seconds_per_byte_.size(); }
  double seconds_per_byte(std::size_t link) const { return seconds_per_byte_[link]; }
  /// What one core takes for a byte, if each line is here after so long: as many are on their way at once as it has room
  /// for.
  double stream_seconds(double latency) const;
  /// The same of lines that it takes from others to store into them.
  double store_seconds(double latency) const;

  /// Of arrays that come to so many bytes a rank.
  residence of_arrays(std::uint64_t bytes_each) const;

 private:
  struct place {
    std::uint32_t core, l3, node, package;
  };
  double seconds_with(double at_once, double latency) const;
  std::size_t link(link_kind, std::uint32_t number, bool inwards) const;
  void cross_outwards(way&, place const& from, place const& to) const;

  std::vector<place> at_;
  costs costs_;
  cache_sizes caches_;
  std::array<std::size_t, link_kinds + 1> first_link_{};
  std::vector<double> seconds_per_byte_;
  std::vector<char> several_l3_;     ///< [node]
  std::vector<char> several_nodes_;  ///< [package]
};

}  // namespace coset::cache
