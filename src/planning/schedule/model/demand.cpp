// SPDX-License-Identifier: Apache-2.0
// Which algorithms and parameters are tried.
#include "planning/schedule/model/demand.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <span>

#include "planning/schedule/core/required.hpp"
#include "planning/schedule/registry/least_steps.hpp"

namespace coset::schedule {

namespace {

/// The levels' group sizes as factors of P, {4, 3, 2}: none where they do not divide one another.
std::vector<rank_t> factors_of(rank_t ranks, cost_model const& model) {
  std::vector<rank_t> factors;
  rank_t inner = 1;
  for (link const& l : model.links) {
    rank_t const group = std::min(l.group, ranks);
    if (group % inner != 0 || ranks % group != 0) return {};
    if (group == inner) continue;
    factors.push_back(group / inner);
    inner = group;
  }
  return inner == ranks ? factors : std::vector<rank_t>{};
}

/// Each factor as factors up to 8 where it has such: fewer sources at once for more steps.
std::vector<rank_t> in_small_factors(std::vector<rank_t> const& factors) {
  std::vector<rank_t> small;
  for (rank_t left : factors) {
    rank_t next = 8;
    for (; left > 8; left /= next) {
      for (next = 8; next > 1 && left % next != 0;) --next;
      if (next == 1) break;
      small.push_back(next);
    }
    small.push_back(left);
  }
  return small;
}

/// Those of the levels, and of these in small factors.
std::vector<std::string> dims_of(rank_t ranks, cost_model const& model) {
  std::vector<std::string> all;
  for (auto const& factors : std::set{factors_of(ranks, model), in_small_factors(factors_of(ranks, model))})
    if (factors.size() > 1) all.push_back(value_of(factors, 'x'));
  return all;
}

/// All combinations of the values that a row's trials name, after those chosen already.
void expand(std::span<trial const> trials, trial_setting const& setting, algorithm chosen, std::vector<algorithm>& to) {
  if (trials.empty()) {
    to.push_back(std::move(chosen));
    return;
  }
  for (std::string const& value : trials.front().values(setting, chosen)) {
    chosen.parameters[trials.front().parameter] = value;
    expand(trials.subspan(1), setting, chosen, to);
  }
}

bool without_required_parameters(named_algorithm const& row) {
  return std::ranges::none_of(row.parameters, [](parameter const& p) { return p.default_value.empty(); });
}

bool serves(properties const& found, schedule const& made, demand const& wanted) {
  return (found.rank_uniform || !wanted.same_bits) && (found.ordered || wanted.commutative) &&
         (!made.idempotent_only || wanted.idempotent);
}

/// Nothing where the algorithm is not defined for this many ranks.
std::optional<schedule> make_if_defined(algorithm const& how, demand const& wanted) {
  try {
    return make(how, wanted.ranks, wanted.verb, wanted.root);
  } catch (schedule_error const&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<algorithm> candidates_for(demand const& wanted, cost_model const& model) {
  std::vector<std::string> const dims = dims_of(wanted.ranks, model);
  trial_setting const setting{wanted.ranks, wanted.nodes, dims};
  std::vector<algorithm> result;
  for (named_algorithm const& row : registry()) {
    if (!serves(row, wanted.verb)) continue;
    if (!row.trials.empty() || without_required_parameters(row)) expand(row.trials, setting, {row.name, {}}, result);
  }
  return result;
}

namespace {

/// The sum of f, over so many steps of f peers, is least where all are equal, with (1 + f)^steps = P.
double least_peers(double steps, double ranks) { return std::max(steps, steps * (std::pow(ranks, 1 / steps) - 1)); }

/// What no step or byte undercuts on these levels.
class least_costs {
 public:
  explicit least_costs(level_machine const& on)
      : costs_(on.costs()),
        ranks_(on.ranks()),
        latency_(cheapest(&link::latency)),
        per_peer_(cheapest(&link::per_peer)),
        per_byte_(cheapest(&link::per_byte) / costs_.ports) {
    std::set<unsigned> seen;
    for (rank_t r = 0; r < ranks_ && on.levels() > 1; ++r) seen.insert(on.domains().domain(r, on.levels() - 2));
    domains_ = static_cast<rank_t>(std::max<std::size_t>(seen.size(), 1));
  }

  /// So many steps or more, in which somebody hears of everybody, or of a spreading verb everybody of one: more may have fewer
  /// peers.
  double phase(verb what, std::uint32_t steps) const {
    if (detail::is_from_root(what)) return steps * latency_;
    double found = rounds(steps);
    for (std::uint32_t more = steps + 1; more <= ceil_log(ranks_, 2); ++more) found = std::min(found, rounds(more));
    return found;
  }

  /// Everybody's part has to get out, and of an allreduce the result has to come back: (P − 1)/P of a vector for the busiest
  /// rank, or both. The same holds for domains, whose share each of their ranks reads over the last link.
  double for_a_byte(verb what) const {
    if (detail::is_barrier(what)) return 0;
    bool const folds_parts = !detail::only_moves(what) && detail::gets_pieces(what);
    double const both = detail::folds_for_all(what) ? 2 : 1, p = ranks_;
    double const all = detail::is_from_root(what) && detail::gets_pieces(what) ? 1 / p : both * (p - 1) / p;
    if (!detail::folds_for_all(what) && !folds_parts) return all * per_byte_;
    double const crossing = both * (domains_ - 1) / p;
    return (all - crossing) * per_byte_ + crossing * costs_.links.back().per_byte / costs_.ports +
           costs_.combine_per_byte * (p - 1) / p;
  }

 private:
  double cheapest(double link::*what) const { return std::ranges::min(costs_.links, {}, what).*what; }

  /// Some steps, the number of which is chosen best, cross the last link, and there some rank of each domain hears of all others.
  double rounds(std::uint32_t steps) const {
    double const inside = steps * latency_ + least_peers(steps, ranks_) * per_peer_;
    if (domains_ < 2) return inside;
    link const& last = costs_.links.back();
    double found = std::numeric_limits<double>::max();
    for (std::uint32_t crossing = 1; crossing <= steps; ++crossing)
      found = std::min(found, crossing * last.latency + least_peers(crossing, domains_) * last.per_peer +
                                  (steps - crossing) * (latency_ + per_peer_));
    return std::max(inside, found);
  }

  cost_model const& costs_;
  rank_t ranks_, domains_ = 1;
  double latency_, per_peer_, per_byte_;
};

}  // namespace

double least_seconds(algorithm const& how, verb what, level_machine const& on, double bytes) {
  if (on.ranks() < 2) return 0;
  least_costs const on_levels(on);
  least_steps const least = find_algorithm(how.name).least;
  std::uint32_t const steps = least.of(how, on.ranks());
  bool const for_all = detail::folds_for_all(what) || detail::is_barrier(what);
  bool const folds_for_root = detail::is_to_root(what) && !detail::only_moves(what);
  bool const two_phases = !least.whole_vectors && number_or(how, "saved_steps", 0) == 0 && steps % 2 == 0;
  double const transfer = bytes * on_levels.for_a_byte(what);
  // What folds blocks and spreads them does both for a root, too.
  if (two_phases && (for_all || folds_for_root)) return 2 * on_levels.phase(what, steps / 2) + transfer;
  if (!for_all) return on_levels.phase(what, std::max(1u, steps / 2)) + transfer;
  bool const moves_wholes = least.whole_vectors && detail::folds_for_all(what);
  return on_levels.phase(what, steps) + (moves_wholes ? std::max(1.0, steps / 2.0) : 1.0) * transfer;
}

bool serves(algorithm const& how, demand const& wanted) {
  auto const made = make_if_defined(how, wanted);
  return made && serves(validate(*made), *made, wanted);
}

std::optional<candidate> count(algorithm const& how, demand const& wanted, level_machine const& on) {
  auto const made = make_if_defined(how, wanted);
  if (!made) return std::nullopt;
  properties const found = validate(*made);
  if (!serves(found, *made, wanted)) return std::nullopt;
  return candidate{how, found, counts(*made, on)};
}

}  // namespace coset::schedule
