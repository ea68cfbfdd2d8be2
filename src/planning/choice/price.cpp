// SPDX-License-Identifier: Apache-2.0
#include "planning/choice/price.hpp"

#include <algorithm>
#include <cmath>

#include "planning/choice/storages.hpp"
#include "planning/program/bind.hpp"

namespace coset::choice {
namespace {

using detail::folds_for_all;
using detail::gathers_at_root;
using detail::gathers_for_all;
using detail::gets_pieces;
using detail::gives_pieces;
using detail::is_exclusive;
using detail::is_from_root;
using detail::is_half;
using detail::is_of_pieces;
using detail::is_rooted;
using detail::is_scan;
using detail::is_to_root;
using detail::only_moves;
using detail::shares_result;
using detail::swaps_pieces;
using program::area;
using program::copies;
using program::policy;

constexpr double ns = 1e-9;

/// A byte that comes from memory, and one that is fetched from there only to be overwritten.
constexpr double from_memory = 0.1 * ns, fetched_in_vain = 0.05 * ns;
/// A gather in rounds: each has so much of a flag round of all, and every piece is a copy. From simulated caches.
constexpr double gather_round = 0.25;
/// Between two ranks on one processor.
constexpr double per_turn = 1400 * ns;

/// If the machine reports no sizes.
constexpr std::uint64_t usual_cache_bytes = 32 * mebibyte, usual_own_cache_bytes = 1 * mebibyte;

/// For each rank, what readers keep of others' staging, instead of returning its lines, and a root that gathers: two near cores of
/// Zen 4, eight verbs.
constexpr std::size_t most_kept = 1 * kibibyte, most_kept_by_root = 4 * kibibyte;

/// Of all ranks together. Two near cores of Zen 4 take 0.73 of the time with views of their own at 4 MiB, 1.15 at 16 MiB.
constexpr std::size_t most_own_views = 8 * mebibyte;

/// Ranks that scan copy what is longer through no third place.
constexpr std::size_t most_staged_apart = 8 * kibibyte;

/// Of what it costs to write a line again that others have fetched: if they have written it, too, as an allreduce's outputs;
/// and if pieces are stored into the array of a root that has read it.
constexpr double if_readers_write = 0.145, if_owners_store = 1.45;

/// So many readers delay who writes a line as no more would.
constexpr double most_at_a_line = 3;

/// What ranks touch stays in their own caches up to so much of one, and nothing does from so much on: ten verbs of two near
/// cores of Zen 4, `coset bench VERB 128K 256K 512K 1M 2M --plan direct/zero_copy --plan direct/staged`.
constexpr double caches_at_hand = 0.7, most_caches_at_hand = 2.2;
/// Staging pays where so much of it has left, and so much of the arrays has not.
constexpr double most_staging_at_hand = 0.65, fewest_at_hand = 0.25;

/// Of so much that all ranks fetch from staging the lines are back before a call needs them: two near cores of Zen 4, and simulated
/// caches of 3 to 16.
constexpr std::size_t most_staged_for_nothing = 20 * kibibyte;

/// Two ranks on a processor each: only one reads what the other has.
bool are_two(question const& q) { return q.ranks == 2 && !q.crowded; }

/// What a rank stages has one reader, or most of it: whoever folds a block, or passes it on. An allreduce of two returns its lines
/// anyway, as results lie where their inputs were; of more, in an allgather and an exclusive scan, several read what counts.
bool has_one_reader(question const& q) {
  if (q.ranks < 2 || q.crowded || folds_for_all(q.what)) return false;
  return q.ranks == 2 || !(gathers_for_all(q.what) || is_exclusive(q.what));
}

/// Each reader of what a rank stages stages as much for that rank, so that they exchange their lines, see program/exchange_lines.cpp.
bool is_exchanged(question const& q) {
  bool const is_reduce_scatter = is_half(q.what) && gets_pieces(q.what);
  bool const is_long = q.bytes >= q.ranks * program::least_exchanged;
  return is_long && has_one_reader(q) && (is_reduce_scatter || swaps_pieces(q.what) || gathers_for_all(q.what));
}

/// Shorter copies lie in few lines, which are back before a call needs them, and a second store of each costs more.
bool is_returned(question const& q) {
  return has_one_reader(q) && !is_exchanged(q) &&
         q.bytes > q.ranks * (gathers_at_root(q.what) ? most_kept_by_root : most_kept);
}

/// Every rank gives a vector and gets one, so that results can be folded where they shall be. In an exclusive scan of more than
/// two, a result would overwrite what others have not read yet.
bool goes_through_outputs(question const& q) {
  bool const is_overwritten = is_exclusive(q.what) && q.ranks > 2;
  return !q.in_place && (folds_for_all(q.what) || (is_scan(q.what) && !is_overwritten && !q.crowded));
}

std::uint64_t own_cache(question const& q) {
  return q.memory.own_cache_bytes != 0 ? q.memory.own_cache_bytes : usual_own_cache_bytes;
}

bool root_alone_has_all(question const& q) { return is_rooted(q.what) && is_of_pieces(q.what); }

/// What a rank fetches from others of their arrays, on average.
double fetched_by_each(question const& q) {
  double const moved = static_cast<double>(q.bytes) * (q.ranks - 1) / q.ranks;
  return root_alone_has_all(q) ? moved / q.ranks : moved;
}

/// What goes through a rank's own cache from one call to the next, on average: what it gives, gets and fetches, and staging. Of
/// that a rank writes and reads two parities, and by measurement it weighs half more than its bytes.
double touched_by_each(question const& q, policy const& p) {
  double const bytes = static_cast<double>(q.bytes), part = bytes / q.ranks, fetched = fetched_by_each(q);
  double const through = fetched * (p.first == area::staging ? 6 : 1);
  if (root_alone_has_all(q)) return 2 * part + through;
  if (is_from_root(q.what)) return bytes + through;
  bool const has_one_whole = is_to_root(q.what) || is_half(q.what);
  return bytes + (has_one_whole ? part : bytes) + through;
}

/// The share of these lines that is still in the own cache when its owner comes back to it. What has left is fetched from further
/// away, whichever core wrote it last, and nobody has to be asked for it.
double at_hand(question const& q, policy const& p) {
  double const caches = touched_by_each(q, p) / static_cast<double>(own_cache(q));
  return std::clamp((most_caches_at_hand - caches) / (most_caches_at_hand - caches_at_hand), 0.0, 1.0);
}

/// Up to so many bytes lines that move between ranks cost more than copies whose lines do not go back. Measured with 2 to 4 ranks on
/// Zen 4, cycles.
std::size_t most_staged(question const& q) {
  if (folds_for_all(q.what)) return 128 * kibibyte;
  if (gathers_for_all(q.what)) return 64 * kibibyte;
  if (is_scan(q.what)) return goes_through_outputs(q) ? most_staged_apart : 512 * kibibyte;
  // Each line of pieces has one reader, and would have one in staging; of a gather see is_stored_by_owners.
  if (!is_rooted(q.what) || is_of_pieces(q.what)) return 0;
  return is_from_root(q.what) ? 512 * kibibyte : 2 * mebibyte;
}

/// Of sizes at which arrays would stay in the own caches, and staging does not: others fetch it from where nobody has to be asked.
/// Measured between two ranks.
bool staging_alone_leaves(question const& q) {
  return are_two(q) && at_hand(q, staged) < most_staging_at_hand && at_hand(q, zero_copy) > fewest_at_hand;
}

/// Who has something stores it into its reader's array: a root half of a broadcast, or a short scatter's pieces; each of two ranks
/// what the other gets and nobody folds.
bool is_stored_for_reader(question const& q) {
  if (!are_two(q) || !only_moves(q.what) || detail::is_barrier(q.what)) return false;
  if (!is_rooted(q.what)) return true;
  return is_from_root(q.what) && (!is_of_pieces(q.what) || q.bytes <= most_at_once);
}

/// The bytes that all ranks give and get.
std::uint64_t footprint(question const& q) {
  bool const all_get_all = folds_for_all(q.what) || is_scan(q.what);
  return std::uint64_t{all_get_all ? 2 * q.ranks : q.ranks + 1} * q.bytes;
}

/// Arrays that exceed the caches by this much come from memory every time.
bool exceeds_caches(question const& q) {
  std::uint64_t caches = q.memory.last_cache_bytes != 0 ? q.memory.last_cache_bytes : usual_cache_bytes;
  if (q.memory.most_reached != 0) caches = std::min(caches, q.ranks * q.memory.most_reached);
  return footprint(q) > caches / 2 * 5;
}

/// What joins ranks that nothing further in joins.
schedule::link link_of_all(question const& q) {
  return q.levels == nullptr ? link_of_l3(q.ranks) : q.levels->costs().links.back();
}

bool is_eager(policy const& p) { return p.how == copies::pull && p.first == area::staging; }

/// Of a gather: its root fetches all pieces one after the other, unless their owners store them, all at once.
bool is_stored_by_owners(question const& q, policy const& p) {
  return gathers_at_root(q.what) && p.first == area::input && p.how != copies::pull;
}
double fetched_by_root(question const& q, policy const& p) {
  if (!gathers_at_root(q.what) || is_stored_by_owners(q, p)) return 0;
  double const beyond = p.first == area::staging ? 0 : (1 - at_hand(q, p)) * q.memory.costs.copied_beyond;
  double const per_byte = priced_here({.transfer = link_of_all(q).per_byte}, q.memory.costs).transfer + beyond;
  return static_cast<double>(q.bytes) * (q.ranks - 1) / q.ranks * per_byte;
}

double copied(question const& q, policy const& p, double bytes) {
  auto const& costs = q.memory.costs;
  return costs.copy + bytes * std::lerp(costs.copied_beyond, costs.copied, at_hand(q, p));
}

/// What only moves has a piece that stays with its rank, and yet has to get into another array.
bool copies_own_piece(question const& q) { return only_moves(q.what) && is_of_pieces(q.what) && !q.in_place; }

/// What others fetch of a rank's array, the root's if there is one. A reduction's ranks hand over all that they have; so does who
/// broadcasts, and in an allreduce the part that others fold makes up for the results that they store.
double fetched_by_others(question const& q) {
  double const bytes = static_cast<double>(q.bytes), pieces = q.ranks;
  if (gives_pieces(q.what)) return bytes / pieces;
  return is_of_pieces(q.what) ? bytes * (pieces - 1) / pieces : bytes;
}

/// Whoever writes where others have fetched from has to fetch it back, which a call alone does not show. Beyond the own cache
/// that is much less, so that an allreduce of 1 MiB without copies adds no more to a cycle than one of 256 KiB: 32 and 39 us on two cores of Zen 4
/// (`coset why allreduce 1M --ranks 2 --measure`).
double regained(question const& q, policy const& p, double bytes) {
  auto const& costs = q.memory.costs;
  return bytes * std::lerp(costs.regained_beyond, costs.regained, at_hand(q, p));
}

/// The same for each who fetches it at once from staging, up to a few; in an allreduce and a scan ranks copy while others fetch.
/// What a root takes in costs the root's time instead. The factor of other pieces, which have one reader each, is measured.
double fetched_at_once(question const& q) {
  double const bytes = static_cast<double>(q.bytes), others = q.ranks - 1, moved = bytes * others / q.ranks;
  if (gives_pieces(q.what)) return moved;
  if (is_to_root(q.what)) return bytes;
  if (is_of_pieces(q.what)) return moved * std::min(others, most_at_a_line);
  return bytes * std::min(is_from_root(q.what) ? others : others + 1, most_at_a_line);
}

/// Staging, too, is written where others have fetched from two calls before, unless it has left their caches since.
double staging_regained(question const& q, policy const& p) {
  bool const is_written_by_readers = folds_for_all(q.what) && !is_eager(p);
  double const moved = fetched_by_others(q);
  // Whoever has read a line writes it next; what has left the caches comes from further away.
  if (is_exchanged(q) && q.memory.hands_over) return moved * (1 - at_hand(q, p)) * q.memory.costs.regained_beyond;
  if (p.returns && q.memory.hands_over) return regained(q, p, moved) * if_readers_write;
  if (is_returned(q) && q.memory.hands_over) return regained(q, p, moved);
  // Else readers store only to ask for the lines as often as their owners. What has left the caches is half as dear: copies by strings of bytes overwrite lines without fetching them.
  if (is_returned(q) || is_exchanged(q))
    return moved * (1 - at_hand(q, p)) * q.memory.costs.regained_beyond / 2 + (p.returns ? copied(q, p, moved) : 0);
  std::uint64_t const readers = is_to_root(q.what) && !is_of_pieces(q.what) ? 1 : q.ranks - 1;
  bool const is_back = readers * q.ranks * q.bytes <= most_staged_for_nothing;
  if (is_back || is_written_by_readers || q.crowded) return 0;
  bool const folds_meanwhile = !is_eager(p) && !is_of_pieces(q.what);
  return at_hand(q, p) * q.memory.costs.regained * moved / (folds_meanwhile ? 2 : 1);
}

double copies_of(question const& q, policy const& p) {
  double const bytes = static_cast<double>(q.bytes);
  auto const& costs = q.memory.costs;
  if (is_eager(p)) return costs.copy + fetched_at_once(q) * costs.copied_at_once;
  if (p == staged_in) return staging_alone_leaves(q) ? copied(q, p, fetched_by_each(q)) : 0;
  if (p.first == area::input) return copies_own_piece(q) ? copied(q, p, bytes / q.ranks) : 0;
  if (!is_of_pieces(q.what)) return (p.first == area::staging ? 2 : 1) * copied(q, p, bytes);
  bool const goes_both_ways = swaps_pieces(q.what) || (is_half(q.what) && gets_pieces(q.what));
  double const staged_bytes = goes_both_ways ? 2 * fetched_by_others(q) : bytes;
  return copied(q, p, staged_bytes) + (copies_own_piece(q) ? copied(q, p, bytes / q.ranks) : 0);
}

/// Lines that change hands beside those of the steps.
double owners_of(question const& q, policy const& p) {
  double const bytes = static_cast<double>(q.bytes), moved = fetched_by_others(q);
  if (q.ranks < 2 || exceeds_caches(q)) return 0;
  // Ranks that share a processor fetch no lines from each other. Arrays are priced as if no readers of theirs did: unmeasured.
  if (p.first == area::output)
    return q.crowded ? 0 : regained(q, p, folds_for_all(q.what) ? bytes * if_readers_write : bytes / 2);
  if (p == staged_in && staging_alone_leaves(q)) return regained(q, p, bytes / 2) + staging_regained(q, p);
  if (p == staged_in || has_view(q)) return regained(q, p, bytes);
  if (p.first == area::staging) return staging_regained(q, p);
  if (folds_for_all(q.what) && q.in_place) return 0;  // a rank has read the lines that it writes
  return regained(q, p, moved) * (is_stored_by_owners(q, p) ? if_owners_store : 1);
}

/// Both to fold and to store, where there is a view.
double reaching_of(question const& q, policy const& p) {
  if (p.first != area::input || q.ranks < 2) return 0;
  return (has_view(q) ? 2 : 1) * q.memory.costs.touched;
}

double memory_of(question const& q, policy const& p) {
  double const bytes = is_stored_by_owners(q, p) ? fetched_by_others(q) : static_cast<double>(q.bytes);
  auto const& costs = q.memory.costs;
  if (!exceeds_caches(q)) return p.streams ? bytes * costs.kept_out : 0;
  double const arrays = 1 + (p.first == area::input ? 0 : p.first == area::output ? 1 : 2);
  return bytes * (arrays * from_memory + (p.streams ? 0 : fetched_in_vain));
}

/// A flag round in which all ranks meet.
schedule::price round_of_all(question const& q) {
  schedule::link const by = link_of_all(q);
  return {.latency = by.latency + (q.crowded ? per_turn : 0), .peers = (q.ranks - 1) * by.per_peer};
}

}  // namespace

bool has_view(question const& q) { return shares_result(q.what); }

bool is_staged_at_length(question const& q) { return is_exchanged(q) || (is_returned(q) && !q.memory.hands_over); }

bool may_gather_in_rounds(question const& q) {
  return gathers_at_root(q.what) && q.ranks > 3 && q.ranks <= 64 && !q.crowded;
}

schedule::level_machine machine_of(question const& q) {
  auto on = q.levels == nullptr ? usual_levels(q.ranks) : *q.levels;
  if (!q.crowded && !may_gather_in_rounds(q)) return on;
  auto costs = on.costs();
  for (schedule::link& each : costs.links) {
    if (may_gather_in_rounds(q)) each.latency *= gather_round, each.per_peer += calibration::memory_costs{}.copy;
    if (q.crowded) each.latency += per_turn;
  }
  return {on.domains(), std::move(costs)};
}

schedule::price priced_here(schedule::price steps, calibration::memory_costs const& costs) {
  constexpr calibration::memory_costs usual;
  steps.latency *= costs.round / usual.round;
  steps.peers *= costs.peer / usual.peer;
  steps.transfer *= costs.fetched / usual.fetched;
  steps.combine *= costs.folded / usual.folded;
  return steps;
}

bool has_own_view(question const& q) {
  if (detail::row_of(q.what).in != detail::results::view) return false;
  bool const is_cheaper =
      q.pointers && !q.crowded && q.hosts.ranks.size() < 2 && q.ranks * class_end(q.bytes) <= most_own_views;
  return q.bytes <= private_view_bytes || is_cheaper;
}

std::vector<policy> storages_for(question const& q, schedule_kind kind) {
  bool const whole = kind == schedule_kind::whole_vector || kind == schedule_kind::whole_rounds;
  if (kind == schedule_kind::tree) return {staged_in};
  if (has_view(q) && whole) return {eager};
  if (has_view(q)) return staging_alone_leaves(q) ? std::vector{zero_copy, staged_in} : std::vector{zero_copy};
  std::vector<policy> all;
  bool const one_round = whole || (is_of_pieces(q.what) && kind != schedule_kind::folds);
  bool const is_kept = !(is_returned(q) || is_exchanged(q)) || (whole && q.ranks > 2);
  if (one_round && q.bytes <= most_at_once && (whole || q.ranks > 1) && is_kept) all.push_back(eager);
  // Longer copies of whole vectors have one reader; among more ranks a block each is folded sooner.
  if (whole && are_two(q) && is_returned(q) && !only_moves(q.what)) return {returning(staged), staged};
  if (whole) return all;
  // In place a piece that arrives lies where one that leaves is.
  bool const swaps = swaps_pieces(q.what) && q.in_place;
  if (!q.pointers || swaps) {
    all.push_back(is_returned(q) && q.memory.hands_over ? returning(staged) : staged);
    return all;
  }
  // Pieces that go through several ranks are awaited in each round, and arrays once more, which costs more than short copies.
  bool const passes_on = is_of_pieces(q.what) && kind == schedule_kind::folds && q.bytes <= most_at_once;
  bool const is_staged = q.bytes <= most_staged(q) || passes_on || staging_alone_leaves(q);
  bool const is_short = is_staged || !all.empty();
  if (is_returned(q)) all.push_back(returning(staged));
  if (is_staged || is_returned(q) || is_exchanged(q)) all.push_back(staged);
  if (kind == schedule_kind::other && is_short) return all;  // where no value can be lost
  if (goes_through_outputs(q)) all.push_back(through_outputs);
  if (is_stored_for_reader(q)) all.push_back(zero_copy_store);
  all.push_back(zero_copy);
  if (are_two(q) && is_from_root(q.what) && !is_stored_for_reader(q)) all.push_back(zero_copy_store);
  if (!folds_for_all(q.what) || !q.in_place) all.push_back(streaming(zero_copy));
  if (gathers_at_root(q.what)) all.push_back(zero_copy_pull);
  return all;
}

storage_price price_of(question const& q, policy const& p) {
  storage_price sum;
  sum.copies = copies_of(q, p) + fetched_by_root(q, p);
  sum.owners = owners_of(q, p);
  sum.reaching = reaching_of(q, p);
  sum.memory = memory_of(q, p);
  // Whoever reads others' arrays lets them go on only afterwards; of other verbs the second round does that.
  if (is_of_pieces(q.what) && p.first == area::input && q.ranks > 1)
    sum.meeting = priced_here(round_of_all(q), q.memory.costs).total();
  return sum;
}

}  // namespace coset::choice
