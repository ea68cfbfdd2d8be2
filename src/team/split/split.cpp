// SPDX-License-Identifier: Apache-2.0
// The teams that ranks split from theirs.

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <utility>

#include "base/text/format.hpp"
#include "coset/team.hpp"
#include "coset/verbs/allgather.hpp"
#include "coset/verbs/allreduce.hpp"
#include "coset/verbs/barrier.hpp"
#include "runtime/failure/argument_check.hpp"
#include "runtime/memory/shared_file.hpp"
#include "runtime/requests.hpp"
#include "team/split/layout.hpp"
#include "team/team_state.hpp"

namespace coset::inline COSET_ABI {

using namespace runtime;
using namespace team_room;

namespace {

using detail::rank_state;
using detail::team_state;

/// The least staging that makes sharing memory between processes worthwhile.
constexpr std::size_t least_staging = 16 * 1024;

rank_t place_of(rank_t self, std::vector<rank_t> const& ranks) {
  return static_cast<rank_t>(std::ranges::find(ranks, self) - ranks.begin());
}

std::vector<rank_t> in_root(team_state const& team, std::vector<rank_t> ranks) {
  for (rank_t& r : ranks) r = team.shared.root_ranks[r];
  return ranks;
}

/// The first rank of each colour makes the team and offers it to the others; no rank goes on before all have taken it.
/// Offers are kept in the team, not on a stack, as an abort may make a rank leave at any point.
member split_one_process(member& self, std::int64_t colour, int key) {
  rank_state& me = self.state();
  team_state& team = me.team;
  std::vector<wish> wishes(team.shared.ranks);
  allgather(self, std::array{wish{colour, key, me.rank, 0}}, wishes);
  std::vector<rank_t> const ranks = ranks_of(colour, wishes);

  bool const first = ranks.front() == me.rank;
  if (first) team.membership.offers.offer(me.rank, std::make_shared<team_state>(team, in_root(team, ranks)));
  barrier(self);
  std::shared_ptr<team_state> mine = team.membership.offers.offered_by(ranks.front());
  barrier(self);
  if (first) team.membership.offers.offer(me.rank, nullptr);

  rank_t const place = place_of(me.rank, ranks);
  mine->make_rank(place, &me.root);
  return member(std::move(mine), place);
}

/// What each rank tells when all know who belongs to which part.
struct preparation {
  shared_file::name memory = {};  ///< of the first rank of a domain of several processes
  std::int64_t staging = 0;       ///< that it has room for; 0: it has none
  bool number_is_taken = false;   ///< by a part to which its thread belongs
};

/// Three collectives of the whole: who wants to be where; what memory the hosts have; whether all parts could be made.
class split_of_processes {
 public:
  split_of_processes(member& self, std::int64_t colour, int key)
      : self_(self),
        me_(self.state()),
        origin_(me_.team.origin()),
        parts_(*origin_.membership.parts),
        whole_(origin_.shared.part),
        rules_(whole_.messages->rules()),
        thread_(me_.root.rank),
        colour_(colour),
        wishes_(me_.team.shared.size()) {
    allgather(self_, std::array{wish{colour, key, parts_.number_of(thread_), parts_.latest(thread_)}}, wishes_);
    ranks_ = ranks_of(colour_, wishes_);
    mine_ = laid_out(ranks_, true);
    place_ = place_of(me_.number, ranks_);
  }

  member run() && {
    prepare();
    require_senders();
    if (!has_memory(ranks_, mine_)) mine_ = laid_out(ranks_, false);
    auto const [maker, takers] = maker_here();
    std::exception_ptr thrown;
    try {
      if (maker == place_) parts_.offer(thread_, number_, made(), takers);
    } catch (std::bad_alloc const&) {
      throw;  // all are told
    } catch (std::exception const&) {
      thrown = std::current_exception();
    }
    rank_t const failed = allreduce(self_, thrown ? me_.number : UINT32_MAX, minimum{});
    if (thrown) std::rethrow_exception(thrown);
    if (failed != UINT32_MAX) throw mpi::error(text::format("split: rank {} could not make its part", failed));
    parts_.latest(thread_) = number_ + numbers() - 1;
    auto part = parts_.take(thread_of(maker), number_);
    rank_t const here = place_ - part->shared.part.first;
    part->make_rank(here, &me_.root);
    return member(std::move(part), here);
  }

 private:
  std::vector<rank_t> in_whole(std::vector<rank_t> ranks) const {
    for (rank_t& r : ranks) r = wishes_[r].in_origin;
    return ranks;
  }
  layout laid_out(std::vector<rank_t> const& ranks, bool by_domain) const {
    return lay_out(in_whole(ranks), whole_.spread, by_domain, rules_.any_rank_sends);
  }
  rank_t thread_of(rank_t place) const { return mine_.in_whole[place] - parts_.number_of(0); }
  std::size_t process_of(rank_t place) const { return whole_.spread.process_of(mine_.in_whole[place]); }

  /// How many numbers tell apart all ranks of one process that may receive.
  std::uint32_t numbers() const {
    if (!rules_.any_rank_sends) return 1;
    std::map<std::size_t, rank_t> of_process;
    rank_t most = 1;
    for (rank_t r = 0; r < ranks_.size(); ++r) most = std::max(most, ++of_process[process_of(r)]);
    return (most - 1) / rules_.receivers_apart + 1;
  }

  /// From one number on to another, as far as they are told apart.
  std::uint32_t steps(std::uint32_t from, std::uint32_t to) const {
    std::uint32_t const all = rules_.numbers_told_apart;
    return (to % all + all - from % all) % all;
  }

  bool is_taken(std::uint32_t number) const {
    return std::ranges::any_of(me_.root.requests.family, [&](rank_state const* each) {
      part_identity const& other = each->team.part;
      if (other.origin != &origin_ || other.number == 0) return false;
      return steps(other.number, number) < other.span || steps(number, other.number) < numbers();
    });
  }

  /// The same number for all colours: a thread belongs to one only. A number is hardly ever taken.
  void prepare() {
    number_ = std::ranges::max(wishes_, {}, &wish::latest).latest + 1;
    preparation own;
    if (is_first_of_shared_domain()) offer_memory(own);
    prepared_.resize(wishes_.size());
    for (std::uint32_t tried = 0; tried < rules_.numbers_told_apart; ++tried, ++number_) {
      own.number_is_taken = is_taken(number_);
      allgather(self_, std::array{own}, prepared_);
      if (std::ranges::none_of(prepared_, &preparation::number_is_taken)) return;
    }
    throw argument_error(text::format(
        "split: no more of the {} parts that messages are told apart for: destroy members", rules_.numbers_told_apart));
  }

  bool is_first_of_shared_domain() const {
    std::size_t const domain = mine_.spread.domain_of(place_);
    return mine_.of_several_processes[domain] != 0 && mine_.spread.domains[domain] == place_;
  }

  std::size_t memory_bytes(std::size_t domain, std::size_t staging) const {
    rank_t const ranks = mine_.spread.domains[domain + 1] - mine_.spread.domains[domain];
    return arena::bytes_for(node_list(ranks, anywhere), staging);
  }

  /// As much as the team itself has, or what there is room for.
  void offer_memory(preparation& own) {
    std::size_t const domain = mine_.spread.domain_of(place_);
    for (std::size_t staging = whole_.most_staging; staging >= least_staging; staging /= 2) {
      file_ = shared_file::make(memory_bytes(domain, staging), whole_.passed);
      if (file_.empty()) continue;
      own.memory = file_.called();
      own.staging = static_cast<std::int64_t>(staging);
      return;
    }
  }

  std::int64_t staging_of(std::vector<rank_t> const& ranks, layout const& of, std::size_t domain) const {
    return prepared_[ranks[of.spread.domains[domain]]].staging;
  }

  bool has_memory(std::vector<rank_t> const& ranks, layout const& of) const {
    for (std::size_t d = 0; d < of.of_several_processes.size(); ++d) {
      if (of.of_several_processes[d] != 0 && staging_of(ranks, of, d) == 0) return false;
    }
    return true;
  }

  /// Looks at all parts, so that all ranks are refused alike.
  void require_senders() const {
    if (rules_.any_rank_sends) return;
    for (auto const& [colour, ranks] : ranks_of_each_colour(wishes_)) {
      layout of = laid_out(ranks, true);
      if (!has_memory(ranks, of)) of = laid_out(ranks, false);
      if (!of.silent) continue;
      throw argument_error(text::format(
          "split: below MPI_THREAD_MULTIPLE only the first rank of each process sends and receives, and the part of "
          "colour "
          "{} has none of these for rank {} of the whole team: give the first rank of its process the same colour, or "
          "ask MPI_Init_thread for MPI_THREAD_MULTIPLE",
          colour, *of.silent));
    }
  }

  /// The first rank of this process in this domain of the part, and how many there are.
  std::pair<rank_t, rank_t> maker_here() const {
    std::size_t const domain = mine_.spread.domain_of(place_), process = process_of(place_);
    rank_t first = place_, ranks = 0;
    for (rank_t r = mine_.spread.domains[domain]; r < mine_.spread.domains[domain + 1]; ++r) {
      if (process_of(r) != process) continue;
      first = std::min(first, r);
      ++ranks;
    }
    return {first, ranks};
  }

  std::shared_ptr<team_state> made() {
    if (is_one_process(mine_.in_whole, whole_.spread)) return std::make_shared<team_state>(me_.team, threads());
    domain part;
    part.spread = mine_.spread;
    std::size_t const own = part.spread.own = mine_.spread.domain_of(place_);
    part.total = static_cast<rank_t>(ranks_.size());
    part.first = part.spread.domains[own];
    part.pointers = !mine_.shares_memory_between_processes();
    part.crowded = whole_.crowded;
    part.most_staging = most_staging();
    part.own_cache_bytes = whole_.own_cache_bytes;
    part_identity identity{.number = number_,
                           .span = numbers(),
                           .in_whole = mine_.in_whole,
                           .messages = whole_.messages->open_part({number_, mine_.in_whole, mine_.spread})};
    part.messages = identity.messages.get();
    return std::make_shared<team_state>(me_.team, part, threads(), in_domain(), memory(own), std::move(identity));
  }

  std::size_t most_staging() const {
    std::size_t least = rules_.longest_message;
    for (std::size_t d = 0; d < mine_.of_several_processes.size(); ++d) {
      if (mine_.of_several_processes[d] != 0)
        least = std::min(least, static_cast<std::size_t>(staging_of(ranks_, mine_, d)));
    }
    return least;
  }

  numa::memory memory(std::size_t domain) const {
    if (mine_.of_several_processes[domain] == 0) return {};
    preparation const& of = prepared_[ranks_[mine_.spread.domains[domain]]];
    auto mapped = shared_file::mapped(of.memory, memory_bytes(domain, static_cast<std::size_t>(of.staging)));
    if (mapped.size() == 0)
      throw mpi::error("split: the memory that ranks of several processes share cannot be mapped");
    return mapped;
  }

  /// [rank of the domain]: which thread of this process it is; of others', 0, which is not used.
  std::vector<rank_t> threads() const {
    std::vector<rank_t> all;
    for (rank_t const number : own_domain()) {
      bool const here = whole_.spread.process_of(number) == process_of(place_);
      all.push_back(here ? number - parts_.number_of(0) : 0);
    }
    return all;
  }

  std::vector<rank_t> in_domain() const {
    std::vector<rank_t> all;
    for (rank_t const number : own_domain()) all.push_back(number - whole_.first);
    return all;
  }

  std::span<rank_t const> own_domain() const {
    std::size_t const own = mine_.spread.domain_of(place_);
    return std::span(mine_.in_whole)
        .subspan(mine_.spread.domains[own], mine_.spread.domains[own + 1] - mine_.spread.domains[own]);
  }

  member& self_;
  rank_state& me_;
  team_state& origin_;
  parts& parts_;
  domain const& whole_;
  rules_of_parts const rules_;
  rank_t const thread_;
  std::int64_t const colour_;
  std::vector<wish> wishes_;  ///< [rank of the team that is split]
  std::vector<preparation> prepared_;
  std::vector<rank_t> ranks_;  ///< of this part, as wishes count
  layout mine_;
  rank_t place_ = 0;  ///< in the part
  std::uint32_t number_ = 0;
  shared_file file_;  ///< cannot be found any more once all have mapped it
};

member split_by(member& self, std::int64_t colour, int key) try {
  require_current(self.state());
  return self.state().shared.kind.one_memory() ? split_one_process(self, colour, key)
                                               : split_of_processes(self, colour, key).run();
} catch (std::bad_alloc const&) {
  fail_for_memory(self.state(), "split");
}

}  // namespace

member member::split(int colour, int key) { return split_by(*this, colour, key); }

/// Hosts number their nodes for themselves.
member member::node_team() {
  if (state_->shared.kind.one_memory()) return split_by(*this, node(), 0);
  team_state& origin = state_->team.origin();
  rank_t const number = origin.membership.parts->number_of(state_->root.rank);
  auto const domain = static_cast<std::int64_t>(origin.shared.part.spread.domain_of(number));
  return split_by(*this, domain << 32 | node(), 0);
}

}  // namespace coset
