// SPDX-License-Identifier: Apache-2.0
// Reducers of a team over processes: each process has one, and its threads' copies are the ranks' inputs.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/text/format.hpp"
#include "coset/detail/collective.hpp"
#include "reducer/chunks.hpp"
#include "reducer/core.hpp"
#include "reducer/processes/touched.hpp"
#include "runtime/memory/lines.hpp"
#include "team/team_state.hpp"

namespace coset::reducer_room {

using detail::call;
using detail::rank_state;
using detail::reducer_core;

[[gnu::cold]] std::vector<ranks_of_process> processes_of(rank_state const& me) {
  auto const& spread = me.shared.part.spread;
  std::size_t const all = spread.number_of_stretches();
  std::vector<ranks_of_process> found;
  for (std::size_t p = 0; p < all; ++p)
    found.push_back({spread.first_of_stretch(p), p + 1 < all ? spread.first_of_stretch(p + 1) : me.shared.size()});
  if (found.empty()) found.push_back({0, me.shared.size()});
  return found;
}

ranks_of_process process_of(rank_state const& me) {
  auto const& spread = me.shared.part.spread;
  if (spread.processes.empty()) return {0, me.shared.size()};
  std::size_t const number = spread.stretch_of(me.number);
  bool const is_last = number + 1 == spread.number_of_stretches();
  return {spread.first_of_stretch(number), is_last ? me.shared.size() : spread.first_of_stretch(number + 1)};
}

bool are_one_each(rank_state const& me) { return me.shared.part.spread.number_of_stretches() == me.shared.size(); }

[[gnu::cold]] void require_processes_in_order(rank_state& me) {
  if (me.shared.part.spread.scattered) [[unlikely]]
    refuse(me, "combine: ranks of one process have to follow each other, which in this part of the team they do not");
}

[[gnu::cold]] void agree_on(reducer_core const& core, rank_state& me, combining how, destination const& to,
                            bool in_place) {
  auto const same_everywhere = [&](std::uint64_t what) { me.acts.history = runtime::following(me.acts.history, what); };
  same_everywhere(std::uint64_t{to.process()} << 32 | std::uint64_t{in_place} << 8 | std::uint64_t(to.what()) << 1 |
                  std::uint64_t(how));
  if (core.tracking() != detail::tracking::none) same_everywhere(core.parts()[0].array.reduction->hash);
}

[[gnu::cold]] std::vector<owned_copy*> share_of_others(reducer_core& core, rank_state const& me, std::uint32_t own,
                                                       ranks_of_process here) {
  rank_t const ranks = here.number(), number = me.number - here.first;
  std::vector<owned_copy*> share, all = core.others_than(own - number, own - number + ranks);
  // Not one of those that are counted: in split phase it may have been taken between two ranks' looks.
  if (owned_copy* const total = number == 0 ? core.viewed_total() : nullptr) share.push_back(total);
  for (std::size_t k = number; k < all.size(); k += ranks) share.push_back(all[k]);
  return share;
}

void take_over(reducer_core& core, void* const* own, std::vector<owned_copy*> const& others) {
  if (others.empty()) return;
  chunks all(core, own, combining::add, others.size());
  for (std::size_t array = 0; array < core.parts().size(); ++array)
    all.fold(others, array, 0, core.parts()[array].array.count);
}
void take_over(reducer_core& core, owned_copy& mine, std::vector<owned_copy*> const& others) {
  std::vector<void*> own;
  for (part_of_copy const& part : core.parts()) own.push_back(mine.data + part.offset);
  take_over(core, own.data(), others);
}

owned_copy& unoccupied(reducer_core& core, std::uint32_t own) {
  auto& mine = static_cast<owned_copy&>(core.numbered(own));
  if (mine.is_under_way) throw argument_error("combine: this reducer is being combined already: wait for that first");
  return mine;
}

owned_copy& contribution(reducer_core& core, rank_state& me, std::uint32_t own, ranks_of_process here, lending which) {
  return guarded(me, [&]() -> owned_copy& {
    if (own == detail::just_the_total) return core.total();
    auto others = share_of_others(core, me, own, here);
    bool const borrows = which == lending::of_any && !others.empty() && !core.holds(own);
    owned_copy& mine = borrows ? *others.back() : unoccupied(core, own);
    if (borrows) others.pop_back();
    core.renew(mine);
    take_over(core, mine, others);
    if (which == lending::of_own_copies && me.number == here.first) core.total_is_taken();
    return mine;
  });
}

void note_exchange(reducer_core& core, rank_state& me, wire_choice const& chosen) {
  ranks_of_process const here = process_of(me);
  if (me.number == here.first) guarded(me, [&] { core.note_wire(chosen); });
  core.part_is_done(here.number(), false);
}

void meet(rank_state& me) { detail::run(me, detail::meeting()); }

[[gnu::cold]] void meet_with(reducer_core const& core, rank_state& me) {
  // With the history, as the first rank may have come to another combination by now if in this one nothing is waited for.
  std::uint64_t const history = me.acts.history,
                      mine = history << 32 | std::uint32_t(core.id() >> detail::key_bits_of_claims);
  me.lines.told.combines.store(mine, std::memory_order_relaxed);
  meet(me);
  rank_t const first = process_of(me).first;
  std::uint64_t const theirs =
      me.shared.arena.own(first - me.shared.part.first).combines.load(std::memory_order_relaxed);
  if (theirs >> 32 == history && theirs != mine) [[unlikely]]
    runtime::fail(me, runtime::cause::mismatch,
                  text::format("combine: rank {} has come with another reducer than rank {} of its process: a {}",
                               me.number, first, core.in_words()));
}

namespace {

/// One array that is combined, as one of the ranks sees it.
class combination {
 public:
  /// Without a copy the target itself is the rank's input.
  combination(reducer_core& core, part_of_copy const& part, owned_copy* mine, void* target, rank_state& me,
              combining how)
      : core_(core),
        part_(part),
        mine_(mine),
        target_(static_cast<std::byte*>(target)),
        me_(me),
        here_(process_of(me)),
        number_(me.number - here_.first),
        adds_(how == combining::add) {}

  void run(destination const& to) {
    switch (to.what()) {
      case destination::kind::every_process:
        return adds_ ? add_to_every_process() : assign_to_every_process();
      case destination::kind::one_process:
        return to_one_process(processes_of(me_)[to.process()]);
      case destination::kind::parts:
        return to_parts(to.counts());
    }
  }
  /// The total replaces what targets held, of which those of first ranks are part.
  void run_in_place() {
    if (are_one_each(me_)) {
      call wanted = call_for(verb::allreduce);
      wanted.out = target_;
      return detail::run(me_, wanted);
    }
    view<&combination::replace_slice>();
  }

 private:
  call call_for(verb what) const {
    return {.what = what,
            .in = mine_ == nullptr ? target_ : mine_->data + part_.offset,
            .count = part_.array.count,
            .reduction = part_.array.reduction,
            .operation = part_.array.operation.get()};
  }
  std::size_t bytes() const { return part_.element_bytes(); }

  /// Nobody reads these elements of the copy any more, and they are still in its thread's cache.
  void empty(std::size_t begin, std::size_t count) {
    if (mine_ != nullptr) part_.fill(mine_->data, begin, count);
  }
  void empty() { empty(0, part_.array.count); }

  void assign_to_every_process() {
    call wanted = call_for(are_one_each(me_) ? verb::allreduce : verb::reduce_shared);
    wanted.out = target_;
    detail::run(me_, wanted,
                {[](void* self, void*, std::size_t begin, std::size_t count) {
                   static_cast<combination*>(self)->empty(begin, count);
                 },
                 this});
  }
  void add_to_every_process() { view<&combination::add_slice>(); }
  /// Once a slice of the result is there, all have read their inputs for it.
  template <auto use>
  void view() {
    detail::run_view(me_, call_for(verb::allreduce_view),
                     {[](void* self, void* result, std::size_t begin, std::size_t count) {
                        auto& mine = *static_cast<combination*>(self);
                        mine.use_share<use>(static_cast<std::byte*>(result), begin, count);
                        mine.empty(begin, count);
                      },
                      this});
  }
  [[gnu::cold]] void to_one_process(ranks_of_process root) {
    bool const is_here = root.first == here_.first;
    call wanted = call_for(verb::reduce);
    wanted.root = root.first;
    std::byte* const result = is_here && adds_ ? guarded(me_, [&] { return room(); }) : target_;
    if (me_.number == root.first) wanted.out = result;
    detail::run(me_, wanted);
    empty();
    if (!adds_) return;
    meet(me_);
    if (is_here) use_share<&combination::add_slice>(result, 0, part_.array.count);
  }
  /// Each rank gets its share of what its process gets.
  [[gnu::cold]] void to_parts(std::span<std::size_t const> of_processes) {
    std::size_t begin = 0;
    auto const counts = guarded(me_, [&] { return shares(of_processes, begin); });
    call wanted = call_for(verb::reduce_scatter);
    wanted.counts = counts;
    std::byte* const result = adds_ ? guarded(me_, [&] { return room(); }) : target_;
    wanted.out = result + begin * bytes();
    detail::run(me_, wanted);
    if (adds_) add_slice(result, begin, begin + counts[me_.number]);
    empty();
  }

  /// [rank]: how many elements it gets. `begin`: where this rank's are.
  [[gnu::cold]] std::vector<std::size_t> shares(std::span<std::size_t const> of_processes, std::size_t& begin) const {
    std::vector<std::size_t> counts;
    auto const processes = processes_of(me_);
    for (std::size_t p = 0; p < of_processes.size(); ++p) {
      rank_t const ranks = processes[p].number();
      for (rank_t r = 0; r < ranks; ++r)
        counts.push_back(of_processes[p] * (r + 1) / ranks - of_processes[p] * r / ranks);
    }
    for (rank_t r = 0; r < me_.number; ++r) begin += counts[r];
    return counts;
  }

  /// Of the process, for a result that is added later.
  std::byte* room() const {
    rank_t const leader = here_.first - me_.shared.part.first;
    return me_.shared.arena.view_for(leader, runtime::arena::readers::node,
                                     std::max<std::size_t>(part_.array.count * bytes(), 1));
  }

  /// Each rank a share of what all see; where each has a view of its own the first one everything.
  template <auto use>
  void use_share(std::byte const* result, std::size_t begin, std::size_t count) {
    rank_t const sharing = part_.array.count * bytes() <= sizeof(runtime::small_view) ? 1 : here_.number();
    if (number_ < sharing)
      (this->*use)(result, begin + count * number_ / sharing, begin + count * (number_ + 1) / sharing);
  }
  void replace_slice(std::byte const* result, std::size_t begin, std::size_t end) {
    std::copy(result + begin * bytes(), result + end * bytes(), target_ + begin * bytes());
  }
  void add_slice(std::byte const* result, std::size_t begin, std::size_t end) {
    if (begin == end) return;
    runtime::computing_in const mode(core_.mode(), core_.computes());
    void* const to = target_ + begin * bytes();
    std::array<void const*, 2> sources{to, result + begin * bytes()};
    auto const& array = part_.array;
    guarded(me_, [&] {
      array.reduction->folds->for_sources(2)(array.operation.get(), &to, 1, sources.data(), 2, end - begin);
    });
  }

  reducer_core& core_;
  part_of_copy const& part_;
  owned_copy* const mine_;
  std::byte* const target_;
  rank_state& me_;
  ranks_of_process const here_;
  rank_t const number_;  ///< among these
  bool const adds_;
};

[[gnu::cold]] void require_destination(reducer_core const& core, rank_state& me, destination const& to) {
  std::size_t const processes = std::max<std::size_t>(me.shared.part.spread.number_of_stretches(), 1);
  if (to.what() == destination::kind::one_process && to.process() >= processes)
    refuse(me, text::format("combine: there is no process {} of {}", to.process(), processes));
  if (to.what() != destination::kind::parts) return;
  if (core.parts().size() != 1)
    refuse(me, text::format("combine: counts divide one array, and this reducer has {}", core.parts().size()));
  if (to.counts().size() != processes)
    refuse(me, text::format("combine: {} counts for {} processes", to.counts().size(), processes));
  std::size_t const count = core.parts()[0].array.count;
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  std::size_t const all = std::accumulate(to.counts().begin(), to.counts().end(), std::size_t{0},
                                          [](std::size_t a, std::size_t b) { return b > most - a ? most : a + b; });
  if (all != count)
    refuse(me,
           text::format("combine: counts [{}] add up to {}, not to {}", text::joined(to.counts(), ", "), all, count));
}

void combine_touched(reducer_core& core, void* target, rank_state& me, std::uint32_t own, combining how,
                     destination const& to) {
  touched_copies const seen = guarded(me, [&] { return see_copies(core, me, own, to); });
  wire_choice const chosen = agreed_wire(core, me, seen, to);
  if (chosen.way == wire::whole_array) {
    owned_copy& mine = guarded(me, [&]() -> owned_copy& { return whole_copy(core, seen); });
    combination(core, core.parts()[0], &mine, target, me, how).run(to);
    guarded(me, [&] { core.count_and_empty(mine); });
  } else {
    exchange_touched(core, target, me, how, seen, chosen.way);
  }
  note_exchange(core, me, chosen);
  meet(me);
}

}  // namespace
}  // namespace coset::reducer_room

namespace coset::inline COSET_ABI::detail {

using namespace reducer_room;

[[gnu::cold]] void combine_over_processes(reducer_core& core, void* const* into, rank_state& me, std::uint32_t own,
                                          combining how, destination const& to) {
  require_processes_in_order(me);
  require_destination(core, me, to);
  told_as_combine const told(me, how);
  agree_on(core, me, how, to);
  if (core.tracking() != tracking::none) return combine_touched(core, into[0], me, own, how, to);
  ranks_of_process const here = process_of(me);
  // One result for all ranks of a process is complete for each of them when it leaves; what some have added is not. Without
  // a meeting a rank may still empty its copy when another's program goes on: only its own, then.
  bool const meets = how == combining::add || to.what() != destination::kind::every_process;
  owned_copy& mine = contribution(core, me, own, here, meets ? lending::of_any : lending::of_own_copies);
  for (std::size_t array = 0; array < core.parts().size(); ++array)
    combination(core, core.parts()[array], &mine, into[array], me, how).run(to);
  core.part_is_done(here.number(), false);
  if (meets) meet(me);
}

[[gnu::cold]] void combine_in_place_over_processes(reducer_core& core, void* const* into, rank_state& me,
                                                   std::uint32_t own, destination const& to) {
  require_processes_in_order(me);
  told_as_combine const told(me, combining::add);
  agree_on(core, me, combining::add, to, true);
  if (to.what() != destination::kind::every_process) refuse(me, "combine in place: all processes have the result");
  ranks_of_process const here = process_of(me);
  bool const is_first = me.number == here.first;
  owned_copy* const mine = is_first ? nullptr : &contribution(core, me, own, here, lending::of_any);
  if (is_first)
    guarded(me, [&] {
      auto others = share_of_others(core, me, own, here);
      if (core.holds(own))
        others.push_back(static_cast<owned_copy*>(&core.numbered(own)));  // was reduced outside of regions
      take_over(core, into, others);
    });
  for (std::size_t array = 0; array < core.parts().size(); ++array)
    combination(core, core.parts()[array], mine, into[array], me, combining::add).run_in_place();
  core.part_is_done(here.number(), false);
  meet(me);
}

[[gnu::cold]] void serve(reducer_core& core, team_state const& team) noexcept {
  core.serve(team, std::max<std::size_t>(team.shared.part.spread.processes.size(), 1));
}

[[gnu::cold]] void reducer_core::refuse_one_process() const {
  throw argument_error(
      text::format("combine: this reducer is for a team of {} processes, so each of its ranks passes its member",
                   processes_served_));
}

void require_not_under_way(reducer_core& core, rank_state& me, std::uint32_t own) {
  guarded(me, [&] {
    if (static_cast<owned_copy&>(core.numbered(own)).is_under_way)
      throw argument_error("combine: both sets of copies are being combined: wait for the first");
  });
}

}  // namespace coset::detail
