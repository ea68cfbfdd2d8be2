// SPDX-License-Identifier: Apache-2.0
#include "team/split/layout.hpp"

#include <algorithm>
#include <utility>

namespace coset::team_room {
namespace {

using program::distribution;

void sort_by_key(std::vector<rank_t>& ranks, std::span<wish const> wishes) {
  std::ranges::stable_sort(ranks, {}, [&](rank_t r) { return wishes[r].key; });
}

/// Whether the first rank of a process is among its ranks from `from` on.
[[gnu::cold]] bool sends_for_stretch(layout const& of, distribution const& whole, rank_t from) {
  std::size_t const process = whole.process_of(of.in_whole[from]);
  for (rank_t r = from; r < of.in_whole.size() && whole.process_of(of.in_whole[r]) == process; ++r)
    if (of.in_whole[r] == whole.processes[process].first) return true;
  return false;
}

/// Where no rank has to send, somebody is named all the same.
void name_a_proxy(distribution::process& run, bool has_to_send, layout& of) {
  if (run.carriers != 0) return;
  run.carriers = 1;
  if (has_to_send && !of.silent) of.silent = of.in_whole[run.first];
}

}  // namespace

std::vector<rank_t> ranks_of(std::int64_t colour, std::span<wish const> wishes) {
  std::vector<rank_t> ranks;
  for (rank_t r = 0; r < wishes.size(); ++r) {
    if (wishes[r].colour == colour) ranks.push_back(r);
  }
  sort_by_key(ranks, wishes);
  return ranks;
}

std::map<std::int64_t, std::vector<rank_t>> ranks_of_each_colour(std::span<wish const> wishes) {
  std::map<std::int64_t, std::vector<rank_t>> all;
  for (rank_t r = 0; r < wishes.size(); ++r) all[wishes[r].colour].push_back(r);
  for (auto& [colour, ranks] : all) sort_by_key(ranks, wishes);
  return all;
}

bool layout::shares_memory_between_processes() const {
  return std::ranges::any_of(of_several_processes, [](char several) { return several != 0; });
}

layout lay_out(std::vector<rank_t> in_whole, distribution const& whole, bool by_domain, bool any_rank_sends) {
  layout made;
  made.in_whole = std::move(in_whole);
  std::vector<rank_t>& domains = made.spread.domains;
  std::vector<distribution::process>& runs = made.spread.processes;
  std::vector<char> met(whole.processes.size());
  struct place {
    std::size_t domain, process;
  } before{};
  for (rank_t r = 0; r < made.in_whole.size(); ++r) {
    rank_t const number = made.in_whole[r];
    std::size_t const process = whole.process_of(number);
    place const here{by_domain ? whole.domain_of(number) : process, process};
    bool const begins_domain = r == 0 || here.domain != before.domain;
    bool const changes_process = r != 0 && here.process != before.process;
    if (begins_domain) {
      domains.push_back(r);
      made.of_several_processes.push_back(0);
    } else if (changes_process) {
      made.of_several_processes.back() = 1;
    }
    bool const has_proxy =
        changes_process && (any_rank_sends || (runs.back().carriers != 0 && sends_for_stretch(made, whole, r)));
    if (begins_domain || has_proxy) runs.push_back({r, 0});
    if (begins_domain || changes_process) made.spread.stretches.push_back(r);
    if (r == 0 || changes_process) made.spread.scattered |= std::exchange(met[process], 1) != 0;
    distribution::process& run = runs.back();
    if (any_rank_sends) {
      run.carriers = std::min(run.carriers + 1, whole.processes[process].carriers);
    } else if (run.carriers == 0 && number == whole.processes[process].first) {
      run = {run.first, 1, r - run.first};
    }
    before = here;
  }
  domains.push_back(static_cast<rank_t>(made.in_whole.size()));
  if (!made.spread.is_one_domain()) made.spread.network = whole.network;
  for (distribution::process& run : runs) name_a_proxy(run, !made.spread.is_one_domain(), made);
  return made;
}

bool is_one_process(std::span<rank_t const> in_whole, distribution const& whole) {
  std::size_t const first = whole.process_of(in_whole.front());
  return std::ranges::all_of(in_whole, [&](rank_t number) { return whole.process_of(number) == first; });
}

}  // namespace coset::team_room
