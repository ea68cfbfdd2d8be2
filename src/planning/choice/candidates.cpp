// SPDX-License-Identifier: Apache-2.0
#include "planning/choice/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "planning/choice/factors.hpp"
#include "planning/choice/storages.hpp"

namespace coset::choice {
namespace {

using detail::gathers_at_root;
using detail::is_from_root;
using detail::is_of_pieces;
using detail::is_rooted;
using detail::is_scan;
using detail::is_to_root;
using detail::row_of;
using detail::spreads_whole;
using schedule::algorithm;
using schedule::value_of;

/// A root that reads alone reads a byte faster by so much than its share among other readers is.
constexpr double faster_alone = 0.018e-9;

/// Calls of whole vectors to or from a root form a pipeline: of a round after the first one so much counts. From simulated caches,
/// between cycles, in which it costs next to nothing, and calls alone, in which it costs all.
constexpr double later_round = 0.25;

/// Those of each level, innermost first, so that no step crosses a level unnecessarily.
std::vector<std::vector<rank_t>> nested_dimensions(question const& q) {
  std::vector<std::vector<rank_t>> all{{}};
  for (rank_t const size : sizes_by_level(q)) {
    std::vector<std::vector<rank_t>> longer;
    auto const here = all_products(size);
    for (auto const& begun : all) {
      for (auto const& more : here) {
        longer.push_back(begun);
        longer.back().insert(longer.back().end(), more.begin(), more.end());
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// Of a scan each rank needs something else.
bool has_products(verb what) { return !is_scan(what) && !goes_straight(what); }

/// Few ranks fold at once, whatever the machine. A long broadcast, which folds nothing, may go level by level: in simulated caches of
/// two nodes it takes 0.6 of the time (`coset simulate broadcast 64K 1M --topology "numa:2 core:4 pu:1"`, beside the flat one).
bool is_flat(question const& q) {
  bool const has_levels = q.levels != nullptr && q.levels->levels() > 1;
  bool const goes_by_level = spreads_whole(q.what) && has_levels && q.bytes > most_at_once;
  return q.ranks <= few && !goes_by_level;
}

/// Flat first.
std::vector<std::vector<rank_t>> all_dimensions(question const& q) {
  std::vector<std::vector<rank_t>> all{{q.ranks}};
  if (is_flat(q) || !has_products(q.what)) return all;
  for (auto& dimensions : nested_dimensions(q))
    if (dimensions.size() > 1) all.push_back(std::move(dimensions));
  std::ranges::stable_sort(all, {}, [](auto const& d) { return d.size(); });
  return all;
}

bool is_private_view(question const& q) {
  return row_of(q.what).in == detail::results::view && q.bytes <= private_view_bytes;
}
bool is_shared_result(question const& q) { return has_view(q) && !is_private_view(q); }

schedule_kind kind_of(std::vector<rank_t> const& dimensions, std::size_t saved) {
  bool const is_flat = dimensions.size() == 1;
  if (saved < dimensions.size()) return is_flat ? schedule_kind::one_fold : schedule_kind::folds;
  return is_flat ? schedule_kind::whole_vector : schedule_kind::whole_rounds;
}

/// Whether every rank would get the same bits: then the root may be any.
bool serves_all(algorithm const& how, schedule::demand wanted) {
  wanted.verb = verb::allreduce;
  return schedule::serves(how, wanted);
}

/// What bits may depend on: neither on what is measured nor on whether arrays are one.
question without_measurements(question q) {
  q.memory = {};
  q.in_place = false;
  return q;
}

}  // namespace

algorithm product_of(std::vector<rank_t> const& dimensions, std::size_t saved_steps) {
  if (dimensions.size() > 1)
    return {"product", {{"dims", value_of(dimensions, 'x')}, {"saved_steps", value_of(saved_steps)}}};
  return saved_steps == 0 ? algorithm{"direct", {}} : algorithm{"direct", {{"saved_steps", "1"}}};
}

candidates::candidates(question const& q) : question_(without_measurements(q)), machine_(machine_of(question_)) {}

schedule::price candidates::steps_of(std::vector<rank_t> const& dimensions, std::uint32_t saved, verb what) const {
  return schedule::counts(schedule::steps_of_product(dimensions, saved, what), machine_).priced(bytes());
}

/// In a gather the storage says who moves pieces to their root, and what that takes if they go straight.
double candidates::moved_straight() const {
  return gathers_at_root(question_.what) ? steps_of({question_.ranks}, 0, question_.what).transfer : 0;
}

/// Longer pieces are stored by their owners, all at once, if they go straight, and by nobody if they do not.
double candidates::moved_by_storage() const { return question_.bytes <= most_at_once ? moved_straight() : 0; }

schedule::price candidates::priced_product(std::vector<rank_t> const& dimensions, std::uint32_t saved) const {
  auto const what = schedule_of(question_.what);
  auto steps = steps_of(dimensions, saved, what);
  steps.transfer -= moved_straight();
  if (!is_rooted(what) || is_of_pieces(what) || question_.ranks < 3) return steps;
  // Ranks fetch a root's line one after the other, as a root fetches theirs.
  if (is_from_root(what)) steps.peers = steps_of(dimensions, saved, verb::reduce).peers;
  if (saved < dimensions.size()) return steps;
  double const first_round = machine_.costs().links.back().latency;
  steps.latency = std::lerp(first_round, steps.latency, later_round);
  if (is_from_root(what))  // each rank reads in one of the rounds
    steps.transfer *= std::lerp(1 / static_cast<double>(dimensions.size()), 1, later_round);
  if (is_to_root(what) && dimensions.size() == 1) steps.transfer -= (question_.ranks - 2) * faster_alone * bytes();
  return steps;
}

/// Visits (dimensions, saved steps, price).
template <typename Visit>
void candidates::for_each_product(Visit visit) const {
  auto const what = schedule_of(question_.what);
  for (auto const& dimensions : all_dimensions(question_)) {
    bool const one_rank = question_.ranks < 2;
    std::size_t const most_saved =
        is_of_pieces(what) || is_shared_result(question_) || one_rank ? 0 : dimensions.size();
    for (std::size_t saved = is_private_view(question_) ? most_saved : 0; saved <= most_saved; ++saved) {
      visit(dimensions, saved, priced_product(dimensions, static_cast<std::uint32_t>(saved)));
    }
  }
}

/// One rank folds a shared result: two rounds of its own flags, not of all ranks' flags.
std::vector<priced_schedule> candidates::trees() const {
  std::vector<priced_schedule> all;
  if (!is_shared_result(question_)) return all;
  for (rank_t const radix : {rank_t{8}, rank_t{64}}) {
    algorithm tree{"binomial", {{"radix", value_of(radix)}}};
    schedule::counts const found(schedule::make(tree, question_.ranks), machine_);
    all.push_back({std::move(tree), schedule_kind::tree, found.priced(bytes())});
  }
  return all;
}

double candidates::least_storage(schedule_kind kind) const {
  double least = std::numeric_limits<double>::max();
  for (auto const& storage : storages_for(question_, kind))
    least = std::min(least, price_of(question_, storage).total());
  return least;
}

double candidates::seconds_unmeasured(priced_schedule const& s) const {
  return s.steps.total() + least_storage(s.kind);
}

/// The rule by which products of full folds alone are tried; null: others may gain where a level has no factors up to eight,
/// where nodes differ in size, in scans and gathers. A shared result has one owner for each part, which only full folds and
/// trees give.
char const* candidates::why_no_others() const {
  if (has_view(question_)) return "a shared result is made by full folds or a tree";
  if (goes_straight(question_.what) && !may_gather_in_rounds(question_))
    return "what only moves goes straight from rank to rank";
  if (question_.ranks <= few && !gathers_at_root(question_.what))
    return "few ranks fold at once, so that a sum has the same bits wherever they run";
  if (!machine_.domains().is_even() || !has_products(question_.what)) return nullptr;
  for (rank_t const size : sizes_by_level(question_))
    if (std::ranges::max(dimensions(size, few)) > few) return nullptr;
  return "where all levels have factors up to 8, ranks fold along these";
}

double candidates::gain() const { return machine_.domains().is_even() && !gathers_at_root(question_.what) ? 0.9 : 1; }

/// Made and counted, at some 50 µs each for 16 ranks and 10 ms for 250, a gather at 1 ms for 64; the most promising come first.
std::size_t most_made(question const& q) { return q.ranks <= 64 && !gathers_at_root(q.what) ? 64 : 8; }

schedule::demand candidates::demand_of_others() const {
  return {.verb = schedule_of(question_.what),
          .ranks = question_.ranks,
          .commutative = question_.commutative,
          .nodes = uneven_nodes_of(question_)};
}

/// Those whose bound is lower, with it, the lowest first, and of equal ones those that know of nodes; of gathers circulants, as in
/// simulated caches of 8 to 15 ranks they take up to 1.3 times less than generalized folds of the same rounds.
std::vector<std::pair<double, algorithm>> candidates::others_below(double seconds) const {
  auto const wanted = demand_of_others();
  std::vector<std::pair<double, algorithm>> bounded;
  for (algorithm& how : schedule::candidates_for(wanted, machine_.costs())) {
    if (schedule::find_algorithm(how.name).not_chosen != nullptr) continue;
    double const bound = schedule::least_seconds(how, wanted.verb, machine_, bytes());
    if (bound < seconds) bounded.emplace_back(bound, std::move(how));
  }
  auto const order = [&](auto const& b) {
    bool const comes_first =
        gathers_at_root(wanted.verb) ? b.second.name == "circulant" : b.second.parameters.contains("nodes");
    return std::pair(b.first, !comes_first);
  };
  std::ranges::stable_sort(bounded, {}, order);
  return bounded;
}

std::optional<priced_schedule> candidates::counted(algorithm const& how, schedule::demand const& wanted) const {
  if (is_to_root(wanted.verb) && !is_of_pieces(wanted.verb) && !serves_all(how, wanted)) return std::nullopt;
  auto const found = schedule::count(how, wanted, machine_);
  return found ? std::optional(priced_other(*found)) : std::nullopt;
}

/// The same. A root may be any rank if every rank would get the same bits.
std::optional<priced_schedule> candidates::counted_by(counting const& count, algorithm const& how,
                                                      schedule::demand wanted) const {
  auto const found = count(how, wanted, machine_);
  bool const has_any_root = is_to_root(wanted.verb) && !is_of_pieces(wanted.verb);
  wanted.verb = verb::allreduce;
  if (!found || (has_any_root && !count(how, wanted, machine_))) return std::nullopt;
  return priced_other(*found);
}

priced_schedule candidates::priced_other(schedule::candidate const& found) const {
  auto steps = found.work.priced(bytes());
  steps.transfer -= moved_by_storage();
  return {found.how, schedule_kind::other, steps};
}

/// All are priced as if ranks were numbered as they lie on the levels.
priced_schedule candidates::cheapest() const {
  auto best = cheapest_on_levels();
  put_in_order(question_, best.algorithm);
  return best;
}

priced_schedule candidates::cheapest_on_levels() const {
  priced_schedule best;
  double least = std::numeric_limits<double>::max();
  auto const compare = [&](priced_schedule one, auto name) {
    double const seconds = seconds_unmeasured(one);
    if (seconds >= least * (1 - equal_within)) return;
    least = seconds;
    one.algorithm = name();
    best = std::move(one);
  };
  for_each_product([&](auto const& dimensions, std::size_t saved, schedule::price const& steps) {
    compare({{}, kind_of(dimensions, saved), steps}, [&] { return product_of(dimensions, saved); });
  });
  for (priced_schedule const& tree : trees()) compare(tree, [&] { return tree.algorithm; });
  if (why_no_others() != nullptr) return best;
  auto const wanted = demand_of_others();
  double const storage = least_storage(schedule_kind::other) - moved_by_storage();
  least *= gain();
  std::size_t made = 0;
  for (auto const& [bound, how] : others_below(least - storage)) {
    if (bound + storage >= least || made == most_made(question_)) break;
    auto const one = counted(how, wanted);
    if (!one) continue;
    ++made;
    compare(*one, [&] { return one->algorithm; });
  }
  return best;
}

std::vector<priced_schedule> candidates::all(counting const& count) const {
  auto found = all_on_levels(count);
  for (priced_schedule& one : found) put_in_order(question_, one.algorithm);
  return found;
}

std::vector<priced_schedule> candidates::all_on_levels(counting const& count) const {
  std::vector<priced_schedule> found = trees();
  for_each_product([&](auto const& dimensions, std::size_t saved, schedule::price const& steps) {
    found.push_back({product_of(dimensions, saved), kind_of(dimensions, saved), steps});
  });
  if (question_.ranks < 3 || has_view(question_)) return found;
  auto const wanted = demand_of_others();
  std::size_t made = 0;
  for (auto const& [bound, how] : others_below(std::numeric_limits<double>::max())) {
    auto one = counted_by(count, how, wanted);
    if (!one) continue;
    one->removed_by = why_no_others();
    if (made++ >= most_made(question_) && one->removed_by == nullptr)
      one->removed_by = "of so many ranks few schedules are made, by their bounds";
    found.push_back(std::move(*one));
  }
  return found;
}

}  // namespace coset::choice
