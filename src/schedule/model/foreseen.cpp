// SPDX-License-Identifier: Apache-2.0
#include "schedule/model/foreseen.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "schedule/registry/least_steps.hpp"

namespace coset::schedule {
namespace {

/// Ranks whose numbers differ in one digit, of `size` values and this weight, read from each other.
struct exchange {
  rank_t weight, size;
  double volume;  ///< from each peer, in vectors
  bool combines;
  bool from_one;     ///< of a broadcast: from the one peer that has it
  bool by_one_rank;  ///< of a reduction: only the root needs it
};

/// Every unsaved dimension scatters what the ones before left and is gathered in the end; saved ones fold that whole.
std::vector<exchange> exchanges_of(std::vector<rank_t> const& dimensions, std::uint32_t saved_steps, collective verb) {
  bool const to_one = verb == collective::reduce || verb == collective::gather;
  bool const gathers_only = verb == collective::allgather || verb == collective::gather;
  bool const scatters_only =
      verb == collective::reduce_scatter || verb == collective::scatter || verb == collective::all_to_all;
  bool const spreads = verb == collective::broadcast || verb == collective::scatter;
  bool const combines = !detail::only_moves(verb) || verb == collective::barrier;
  std::size_t const saved = gathers_only || scatters_only ? 0 : std::min<std::size_t>(saved_steps, dimensions.size());
  std::vector<exchange> all, gathered;
  double piece = 1;
  rank_t weight = 1;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    rank_t const size = dimensions[i];
    bool const whole = i + saved >= dimensions.size();
    double const volume = whole ? piece : piece / size;
    if (!gathers_only) all.push_back({weight, size, volume, combines, spreads, false});
    if (!whole) {
      gathered.push_back({weight, size, volume, false, false, to_one});
      piece = volume;
    }
    weight *= size;
  }
  if (!scatters_only) all.insert(all.end(), gathered.rbegin(), gathered.rend());
  return all;
}

/// The ranks of a domain if all are consecutive and of one size; else 0.
rank_t even_group(rank_levels const& levels, std::size_t level) {
  rank_t size = 1;
  while (size < levels.ranks() && levels.domain(size, level) == levels.domain(0, level)) ++size;
  std::vector<unsigned> seen;
  for (rank_t r = 0; r < levels.ranks(); ++r) {
    bool const begins = r % size == 0;
    if (!begins && levels.domain(r, level) != levels.domain(r - 1, level)) return 0;
    if (begins) seen.push_back(levels.domain(r, level));
  }
  std::ranges::sort(seen);
  return levels.ranks() % size == 0 && std::ranges::adjacent_find(seen) == seen.end() ? size : 0;
}

/// By level, if domains are even and each size divides the next; else nothing. The last level joins all.
std::vector<rank_t> even_groups(rank_levels const& levels) {
  std::vector<rank_t> groups;
  for (std::size_t l = 0; l < levels.count(); ++l) {
    rank_t const size = l + 1 == levels.count() ? levels.ranks() : even_group(levels, l);
    if (size == 0 || (!groups.empty() && size % groups.back() != 0)) return {};
    groups.push_back(size);
  }
  return groups;
}

bool nests(rank_t a, rank_t b) { return a % b == 0 || b % a == 0; }

/// What rank 0 reads is then what every rank reads.
bool is_even(exchange const& e, std::span<rank_t const> groups) {
  return !groups.empty() &&
         std::ranges::all_of(groups, [&](rank_t g) { return nests(g, e.weight) && nests(g, e.weight * e.size); });
}

/// Where a rank sends no more than it reads, what it sends is left out: it makes no step longer.
work read_by(rank_t rank, exchange const& e, rank_levels const& levels) {
  port all(levels.count());
  rank_t const digit = rank / e.weight % e.size, first = rank - digit * e.weight;
  std::size_t farthest = 0;
  for (rank_t j = 0; j < e.size; ++j) {
    if (j == digit) continue;
    std::size_t const l = levels.joining(rank, first + j * e.weight);
    farthest = std::max(farthest, l);
    all[l].volume += e.volume;
    all[l].largest = e.volume;
    ++all[l].peers;
  }
  work done{std::move(all), e.combines ? (e.size - 1) * e.volume : 0};
  if (e.from_one && e.size > 1) {
    done.sent = std::exchange(done.received, port(levels.count()));
    done.received[farthest] = {e.volume, e.volume, 0, 1};
  }
  return done;
}

double from_outside(work const& done, std::size_t level) {
  double sum = 0;
  for (std::size_t l = level; l < done.received.size(); ++l) sum += done.received[l].volume;
  return sum;
}

std::vector<work> works_of(exchange const& e, rank_levels const& levels, std::vector<rank_t> const& groups) {
  if (is_even(e, groups)) {
    work done = read_by(0, e, levels);
    for (std::size_t l = 1; l < levels.count(); ++l)
      done.received[l].of_group = from_outside(done, l) * (e.by_one_rank ? 1 : groups[l - 1]);
    return {std::move(done)};
  }
  std::vector<work> all;
  for (rank_t r = 0; r < levels.ranks(); ++r) all.push_back(read_by(r, e, levels));
  for (std::size_t l = 1; l < levels.count() && !e.by_one_rank; ++l) {
    std::vector<double> groups_read;
    for (rank_t r = 0; r < levels.ranks(); ++r) {
      unsigned const group = levels.domain(r, l - 1);
      if (group >= groups_read.size()) groups_read.resize(group + 1);
      groups_read[group] += from_outside(all[r], l);
    }
    for (rank_t r = 0; r < levels.ranks(); ++r) all[r].received[l].of_group = groups_read[levels.domain(r, l - 1)];
  }
  std::vector<work> different;
  for (work& one : all)
    if (std::ranges::find(different, one) == different.end()) different.push_back(std::move(one));
  return different;
}

/// The sum of f, over so many steps of f peers, is least where all are equal, with (1 + f)^steps = P.
double least_peers(double steps, double ranks) { return std::max(steps, steps * (std::pow(ranks, 1 / steps) - 1)); }

/// The number of domains below the last level, which have to hear of each other over its link; 1 of a single level.
rank_t outermost_groups(rank_levels const& levels) {
  if (levels.count() < 2) return 1;
  std::vector<unsigned> domains(levels.ranks());
  for (rank_t r = 0; r < levels.ranks(); ++r) domains[r] = levels.domain(r, levels.count() - 2);
  std::ranges::sort(domains);
  return static_cast<rank_t>(std::unique(domains.begin(), domains.end()) - domains.begin());
}

/// Rounds and peers of one phase of so many steps. Some of them, the number of which is chosen best, cross the last link,
/// and there some rank of each domain hears of all other domains.
double least_rounds(std::uint32_t steps, rank_t ranks, rank_t domains, cost_model const& model) {
  auto const least = [&](double link::*what) { return std::ranges::min(model.links, {}, what).*what; };
  double const latency = least(&link::latency), per_peer = least(&link::per_peer);
  double const inside = steps * latency + least_peers(steps, ranks) * per_peer;
  if (domains < 2) return inside;
  link const& last = model.links.back();
  double found = 0;
  for (std::uint32_t crossing = 1; crossing <= steps; ++crossing) {
    double const seconds = crossing * last.latency + (steps - crossing) * latency +
                           least_peers(crossing, domains) * last.per_peer + (steps - crossing) * per_peer;
    if (found == 0 || seconds < found) found = seconds;
  }
  return std::max(inside, found);
}

/// The same of as many steps or more, which may have fewer peers.
double least_rounds_from(std::uint32_t steps, rank_t ranks, rank_t domains, cost_model const& model) {
  double found = least_rounds(steps, ranks, domains, model);
  for (std::uint32_t more = steps + 1; more <= ceil_log(ranks, 2); ++more)
    found = std::min(found, least_rounds(more, ranks, domains, model));
  return found;
}

/// Somebody hears of everybody, in all verbs but broadcast and scatter, where everybody hears of one.
double one_phase(collective verb, std::uint32_t steps, rank_t ranks, rank_t domains, cost_model const& model) {
  if (verb != collective::broadcast && verb != collective::scatter)
    return least_rounds_from(steps, ranks, domains, model);
  return steps * std::ranges::min(model.links, {}, &link::latency).latency;
}

bool saves_steps(algorithm const& a) { return a.parameters.contains("saved_steps") && a.number("saved_steps") > 0; }

bool has_both_phases(collective verb) { return verb == collective::allreduce || verb == collective::barrier; }

/// Everybody's part has to get out, and of an allreduce the result has to come back: (P − 1)/P of a vector for the busiest
/// rank, or both. The same holds for domains, whose share each of their ranks reads over the last link.
double least_bytes(collective verb, rank_t ranks, rank_t domains, cost_model const& model) {
  if (verb == collective::barrier) return 0;
  double const both = verb == collective::allreduce ? 2 : 1;
  double const per_byte = std::ranges::min(model.links, {}, &link::per_byte).per_byte / model.ports;
  double const all = verb == collective::scatter ? 1.0 / ranks : both * (ranks - 1) / ranks;
  bool const folds = verb == collective::allreduce || verb == collective::reduce_scatter;
  double const combining = folds ? model.combine_per_byte * (ranks - 1) / ranks : 0;
  if (domains < 2 || !folds) return all * per_byte + combining;
  double const crossing = both * (domains - 1) / ranks;
  return (all - crossing) * per_byte + crossing * model.links.back().per_byte / model.ports + combining;
}

}  // namespace

std::vector<std::vector<work>> works_of_product(std::vector<rank_t> const& dimensions, std::uint32_t saved_steps,
                                                collective verb, rank_levels const& levels) {
  auto const groups = even_groups(levels);
  std::vector<std::vector<work>> steps;
  for (exchange const& e : exchanges_of(dimensions, saved_steps, verb))
    if (e.size > 1) steps.push_back(works_of(e, levels, groups));
  return steps;
}

double least_seconds(algorithm const& how, collective verb, rank_levels const& levels, cost_model const& model,
                     double bytes) {
  rank_t const ranks = levels.ranks(), domains = outermost_groups(levels);
  if (ranks < 2) return 0;
  least_steps const least = find_algorithm(how.name).least;
  std::uint32_t const steps = least.of(how, ranks);
  double const transfer = bytes * least_bytes(verb, ranks, domains, model);
  bool const two_phases = !least.whole_vectors && !saves_steps(how) && steps % 2 == 0;
  // What folds blocks and spreads them does both for a root, too.
  bool const does_both = has_both_phases(verb) || (verb == collective::reduce && two_phases);
  if (!does_both) return one_phase(verb, std::max(1u, steps / 2), ranks, domains, model) + transfer;
  if (two_phases) {
    double const both =
        verb == collective::reduce ? bytes * least_bytes(collective::allreduce, ranks, 1, model) : transfer;
    return 2 * least_rounds_from(steps / 2, ranks, domains, model) + both;
  }
  bool const moves_wholes = least.whole_vectors && verb == collective::allreduce;
  return least_rounds_from(steps, ranks, domains, model) + (moves_wholes ? std::max(1.0, steps / 2.0) : 1.0) * transfer;
}

double least_seconds(collective verb, rank_levels const& levels, cost_model const& model, double bytes) {
  rank_t const ranks = levels.ranks(), domains = outermost_groups(levels);
  double least = 0;
  for (std::uint32_t steps = 2; ranks > 1 && steps <= 2 * ceil_log(ranks, 2) + 2; ++steps) {
    double const seconds = one_phase(verb, steps, ranks, domains, model);
    if (least == 0 || seconds < least) least = seconds;
  }
  return least + bytes * least_bytes(verb, ranks, domains, model);
}

}  // namespace coset::schedule
