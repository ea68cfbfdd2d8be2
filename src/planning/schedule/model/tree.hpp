// SPDX-License-Identifier: Apache-2.0
// Trees of switches or nodes whose leaves are ranks: read from a file, and walked.
#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// An inner node (switch, host, NUMA node) or a leaf (rank).
struct tree_node {
  std::string name;
  std::optional<rank_t> rank;         ///< of a leaf
  std::vector<std::size_t> children;  ///< of an inner node, in the file's order
  std::size_t parent = 0;             ///< the root is its own parent
  std::size_t depth = 0;
};

/// Node 0 is the root; a parent stands before its children.
struct tree {
  std::vector<tree_node> nodes;
  rank_t ranks = 0;

  std::size_t leaf_of(rank_t rank) const;
};

/// Reads
///
///     {"tree": {"core": ["left", "right", 5], "left": [0, 1], "right": [2, 3, 4]}}
///
/// where each name is an inner node with its children, a string is a node and an integer a rank. The root is the node that
/// is nobody's child. `origin` names the text in messages.
/// Throws schedule_error for a cycle, a node or rank with two parents, an unknown node, a rank that is not connected,
/// a node without children, or text that is not of this form.
tree parse_tree(std::istream& text, std::string const& origin);
tree read_tree(std::string const& path);

/// Two levels: a node for each number, holding that many consecutive ranks. Throws schedule_error for none or a 0.
tree two_level_tree(std::vector<rank_t> const& nodes);

/// The ranks below `node`, in depth-first order.
std::vector<rank_t> leaves_below(tree const& of, std::size_t node);

/// The order of a ring that meets every edge once in each direction: depth first over the inner nodes, a node's own ranks
/// when it is reached. Source: [PY].
std::vector<rank_t> ring_order(tree const& of);

/// The names of the nodes that have ranks of their own, machines where a file names these, in the order in which the
/// ring reaches them. A ring over machines numbered so meets every edge between them once in each direction.
std::vector<std::string> machines_along(tree const& of);

/// How many of these machines each lowest switch has, how many such switches each next one, and so on; levels with one of
/// them left out. Empty where switches of a level differ in what is below them. The machines are counted along the ring.
std::vector<rank_t> groups_along(tree const& of, std::span<std::string const> machines);

/// Allreduce by the ring along ring_order(). Cost: 2(P−1) rounds, 2(P−1)/P vectors, at most one message per edge,
/// direction and round. Source: [PY].
schedule tree_ring(tree const& of);

}  // namespace coset::schedule
