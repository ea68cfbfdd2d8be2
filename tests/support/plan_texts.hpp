// SPDX-License-Identifier: Apache-2.0
// Every algorithm of the registry with a few values of its parameters, for a given number of ranks.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "planning/schedule/registry/algorithm.hpp"

namespace coset::team_test {

/// P as a product of two numbers if it is one, and as P itself.
inline std::vector<std::string> factorisations(rank_t ranks) {
  std::vector<std::string> all{std::to_string(ranks)};
  for (rank_t f = 2; f < ranks; ++f) {
    if (ranks % f == 0) all.push_back(std::to_string(f) + "x" + std::to_string(ranks / f));
  }
  return all;
}

/// One node, halves, and a node of one rank beside all others.
inline std::vector<std::string> node_lists(rank_t ranks) {
  std::vector<std::string> all{std::to_string(ranks)};
  if (ranks > 1) all.push_back(std::to_string((ranks + 1) / 2) + "+" + std::to_string(ranks / 2));
  if (ranks > 2) all.push_back("1+" + std::to_string(ranks - 1));
  return all;
}

inline std::vector<std::string> values_of(std::string const& algorithm, schedule::parameter const& p, rank_t ranks) {
  if (algorithm == "two_level" && p.name == "radix") return {};  // between two nodes every radix does the same
  if (algorithm == "fold" && p.name == "group") return {"cyclic", "dihedral"};
  if (algorithm == "fold" && p.name == "shifts") return {"naive", "direct"};
  if (algorithm == "fold" && p.name != "saved_steps") return {};
  if (p.name == "blocks") return {"3"};
  if (p.name == "degree") return {"1", "2"};
  if (p.name == "radix") return {"2", "3", "4"};
  if (p.name == "saved_steps") return {"0", "1", "2"};
  if (p.name == "cap" && algorithm != "capped" && algorithm != "pat") return {};  // as of these
  if (p.name == "cap" || p.name == "n") return {"1", "2"};
  if (p.name == "dims" || p.name == "factors") return factorisations(ranks);
  if (p.name == "nodes") return node_lists(ranks);
  if (p.name == "leaders") return {"2"};
  return {};  // its default, if it has one
}

/// The schedule of an allreduce, or nothing where the algorithm is not defined for so many ranks.
inline std::optional<schedule::schedule> defined(std::string const& text, rank_t ranks) try {
  return schedule::make(schedule::algorithm::parse(text), ranks);
} catch (schedule_error const&) {
  return std::nullopt;
}

/// Algorithm texts that are defined for so many ranks: the cross product of all values of all parameters.
inline std::vector<std::string> plan_texts(rank_t ranks) {
  std::vector<std::string> texts;
  for (schedule::named_algorithm const& row : schedule::registry()) {
    std::vector<schedule::algorithm> some{{row.name, {}}};
    for (schedule::parameter const& p : row.parameters) {
      auto const values = values_of(row.name, p, ranks);
      if (values.empty()) continue;
      std::vector<schedule::algorithm> more;
      for (schedule::algorithm const& one : some) {
        for (std::string const& value : values) {
          more.push_back(one);
          more.back().parameters[p.name] = value;
        }
      }
      some = std::move(more);
    }
    for (schedule::algorithm const& one : some) texts.push_back(one.text());
  }
  for (char const* const permuted : {"generalized(permute=reverse)", "ring(permute=rotate:1)",
                                     "binomial(permute=random:1)", "pat(permute=stride:2)"})
    texts.emplace_back(permuted);
  std::erase_if(texts, [ranks](std::string const& text) { return !defined(text, ranks); });
  return texts;
}

}  // namespace coset::team_test
