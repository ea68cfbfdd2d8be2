// SPDX-License-Identifier: Apache-2.0
// The predicates that claims are made of.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "lab/reproduce/figure.hpp"

namespace coset::cli::reproduction {

/// Which points a check looks at.
struct where {
  std::string setting = {};                                                ///< empty: all
  std::uint64_t from = 0, to = std::numeric_limits<std::uint64_t>::max();  ///< bytes
  std::function<bool(rank_t)> of = nullptr;                                ///< numbers of ranks; nothing: all
};

/// The curve takes less time than each rival everywhere.
predicate faster(std::string const& curve, std::vector<std::string> const& rivals, where const& = {});

/// The curve's times are those of a rival, give or take a thousandth.
predicate as_fast(std::string const& curve, std::string const& rival, where const& = {});

/// The part of the rival's time that the curve saves is between `least` and `most` percent everywhere, give or take one.
predicate saves(std::string const& curve, std::string const& rival, double least, double most, where const& = {});

/// The curve is faster than the rivals at all sizes above those that are claimed for a number of ranks.
predicate ahead_above(std::string const& curve, std::vector<std::string> const& rivals,
                      std::function<double(rank_t)> const& claimed, where const& = {});

/// Messages of the curve meet no other, those of each rival do.
predicate alone_without_contention(std::string const& curve, std::vector<std::string> const& rivals, where const& = {});

/// A worked example: the model's text is the source's.
claim worked(std::string what, std::string const& source, std::function<std::string()> const& by_model);

/// A statement that holds for all of some cases: the first that is otherwise is named by `exception`, empty if there is none.
claim for_all(std::string what, std::string source, std::string cases, std::function<std::string()> exception);

}  // namespace coset::cli::reproduction
