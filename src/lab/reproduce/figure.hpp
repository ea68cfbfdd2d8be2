// SPDX-License-Identifier: Apache-2.0
// The figures and tables of a source as data: what the model draws, and what the source says of it as checks of that.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coset/error.hpp"
#include "lab/price/cost_setting.hpp"

namespace coset::cli::reproduction {

class pricing;

/// One curve's value at one size on one number of ranks.
struct point {
  std::string setting = {};  ///< "two hosts"; empty if the figure has one
  std::string curve = {};
  rank_t ranks = 0;
  std::uint64_t bytes = 0;
  double value = 0;                      ///< in the figure's unit
  double contention = 1;                 ///< of times: the transfers by what they would take if no message met another
  std::string algorithm = {};            ///< as plans name it
  std::string mapping = {};              ///< of ranks to hosts, where it is simulated
  std::string simulated_as = {};         ///< another name that it has there, as of the simulator's own: "simgrid:mpich"
  std::optional<double> simulated = {};  ///< in the same unit
};

/// The points of a figure, by curve and place.
class curves {
 public:
  explicit curves(std::vector<point> all) : points_(std::move(all)) {}

  std::span<point const> points() const { return points_; }
  /// In settings whose text has this part.
  std::vector<point const*> of(std::string_view curve, std::string_view setting = "") const;
  /// Another curve where `place` is. Throws std::out_of_range if it has no point there.
  point const& at(point const& place, std::string_view curve) const;

 private:
  std::vector<point> points_;
};

/// Whether a claim holds by the model, and what the model says instead of the source's words.
struct finding {
  bool holds;
  std::string by_model;
};

using predicate = std::function<finding(curves const&)>;

/// Something that a source says.
struct claim {
  std::string what;
  std::string source;  ///< its number or words
  predicate check;
  std::string differs_because = {};  ///< of the model under the source's parameters; empty: the claim holds there
};

enum class unit : std::uint8_t { microseconds, ratio, vectors };

struct figure {
  std::string source = {}, name = {}, title = {};
  unit of = unit::microseconds;
  flat_costs usual = {};        ///< the source's parameters, or those of [KZ] where it has none
  bool is_over_ranks = false;   ///< else over bytes
  std::string experiment = {};  ///< of simulated times
  std::function<std::vector<point>(pricing&)> draw = nullptr;  ///< nothing: worked examples alone
  std::vector<claim> claims = {};
};

struct source {
  std::string name, paper;
  std::vector<figure> figures;
};

source kolmakov_source();
source traff_source();
source patarasuk_source();
source flexreduce_source();
source end_source();

/// All of them, in this order.
std::vector<source> const& sources();

}  // namespace coset::cli::reproduction
