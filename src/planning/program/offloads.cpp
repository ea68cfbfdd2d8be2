// SPDX-License-Identifier: Apache-2.0
#include "planning/program/offloads.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/text/format.hpp"

namespace coset::program {
namespace {

using schedule::assignment;
using schedule::block_t;
using schedule::slot_t;
using schedule::source;

class taking_out {
 public:
  taking_out(schedule::schedule const& s, distribution const& d) : of_(d), domains_(d.domains.size() - 1) {
    made_.whole = s;
    made_.whole.steps.clear();
    for (auto const& step : s.steps) split(step);
  }

  offloaded_schedule result() && { return std::move(made_); }

 private:
  using slice_of_all = offloaded_schedule::slice_of_all;

  /// The domain of a fold of one value of each domain, in their order; nothing of any other one.
  std::optional<std::size_t> offloaded_in(assignment const& a) const {
    auto const from = made_.whole.from(a);
    if (a.count != domains_) return {};
    for (std::size_t d = 0; d < domains_; ++d) {
      if (of_.domain_of(from[d].rank) != d) return {};
    }
    return of_.domain_of(a.rank);
  }

  using sources_of_block = std::pair<block_t, std::vector<std::pair<rank_t, slot_t>>>;

  sources_of_block sources_of(assignment const& a) const {
    sources_of_block found{a.block, {}};
    for (source const& s : made_.whole.from(a)) found.second.emplace_back(s.rank, s.slot);
    return found;
  }

  /// Groups the folds of the same values, one in each domain. Folds with the same ranks and source ranks are one slice.
  std::vector<slice_of_all> slices_in(std::vector<assignment> const& step) const {
    std::map<sources_of_block, std::vector<std::vector<assignment>>> alike;
    for (assignment const& a : step) {
      auto const domain = offloaded_in(a);
      if (!domain) continue;
      auto& there = alike[sources_of(a)];
      there.resize(domains_);
      there[*domain].push_back(a);
    }
    std::map<std::vector<rank_t>, slice_of_all> by_ranks;
    for (auto const& [what, there] : alike) {
      if (std::ranges::any_of(there, [](auto const& folds) { return folds.size() != 1; })) continue;
      std::vector<rank_t> ranks;
      for (auto const& folds : there) ranks.push_back(folds.front().rank);
      for (auto const& from : what.second) ranks.push_back(from.first);
      slice_of_all& one = by_ranks[ranks];
      one.resize(domains_);
      for (std::size_t d = 0; d < domains_; ++d) one[d].push_back(there[d].front());
    }
    std::vector<slice_of_all> found;
    for (auto& [ranks, one] : by_ranks) found.push_back(std::move(one));
    return found;
  }

  void split(std::vector<assignment> step) {
    auto slices = slices_in(step);
    if (!slices.empty()) {
      std::vector<assignment> offloaded;
      for (slice_of_all const& one : slices) {
        for (auto const& folds : one) offloaded.insert(offloaded.end(), folds.begin(), folds.end());
      }
      std::erase_if(step, [&](assignment const& a) {
        return std::ranges::any_of(offloaded, [&](assignment const& c) {
          return std::tie(a.rank, a.block, a.slot) == std::tie(c.rank, c.block, c.slot);
        });
      });
      append(std::move(offloaded), std::move(slices));
    }
    append(std::move(step), {});
  }

  void append(std::vector<assignment> step, std::vector<slice_of_all> slices) {
    if (step.empty()) return;
    made_.whole.steps.push_back(std::move(step));
    made_.combined.push_back(!slices.empty());
    made_.slices.push_back(std::move(slices));
  }

  distribution const& of_;
  std::size_t const domains_;
  offloaded_schedule made_;
};

}  // namespace

offloaded_schedule with_offloads(schedule::schedule const& s, distribution const& d) {
  if (d.is_one_domain() || d.combiners.empty()) {
    throw schedule_error(d.is_one_domain()
                             ? "+library combines what several hosts have; all ranks of this team share memory"
                             : "+library needs a team made with mpi::options::library_leaders");
  }
  auto made = taking_out(s, d).result();
  std::size_t most = 0;
  for (auto const& slices : made.slices) most = std::max(most, slices.size());
  if (most == 0) {
    throw schedule_error(
        "+library needs a step in which one rank of each host folds one value of every host, as "
        "two_level(between=direct,saved_steps=1) has");
  }
  if (most > d.combiners.size()) {
    throw schedule_error(text::format("+library needs mpi::options::library_leaders = {} for this schedule, not {}",
                                      most, d.combiners.size()));
  }
  return made;
}

std::vector<std::vector<slice>> slices_of(offloaded_schedule const& all, schedule::part const& part,
                                          std::size_t domain) {
  std::vector<std::vector<slice>> found(all.slices.size());
  for (std::size_t i = 0; i < all.slices.size(); ++i) {
    for (auto const& one : all.slices[i]) {
      slice& here = found[i].emplace_back();
      for (assignment const& a : one[domain]) {
        auto const& step = part.own.steps[i];
        auto const own = std::ranges::find_if(step, [&](assignment const& each) {
          return part.first + each.rank == a.rank && each.block == a.block && each.slot == a.slot;
        });
        if (own == step.end())
          throw schedule_error(
              text::format("step {}: rank {} does not make slot {} of block {}, which MPI would combine", i, a.rank,
                           a.slot, a.block));
        here.push_back(*own);
      }
    }
  }
  return found;
}

void require_offloads(schedule::schedule const& s, distribution const& d) { with_offloads(s, d); }

}  // namespace coset::program
