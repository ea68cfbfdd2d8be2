// SPDX-License-Identifier: Apache-2.0
// Combinations in split phase.
#include <array>
#include <exception>
#include <utility>

#include "coset/detail/collective.hpp"
#include "reducer/processes/touched.hpp"
#include "runtime/memory/waiting.hpp"
#include "runtime/requests.hpp"
#include "team/team_state.hpp"

namespace coset::inline COSET_ABI::detail {

using namespace reducer_room;

/// A rank's part of one. What is added to targets comes to memory of the process first, and each rank adds its share as soon as
/// the request is complete: in whichever call of its member that is, so that nobody waits for a rank which waits elsewhere.
struct combination_under_way {
  struct one_array {
    combination_under_way* of;
    part_of_copy const* part;
    std::byte* target;
    std::byte* sum;  ///< null if targets are assigned
    bool is_done = false;
  };

  std::shared_ptr<reducer_core> core;
  owned_copy* mine;
  rank_reference member;
  rank_t number, ranks;       ///< of this process
  std::uint64_t shares_then;  ///< that all ranks of the process have added, ever, once targets are complete
  std::exception_ptr thrown = nullptr;
  std::vector<one_array> arrays = {};
  std::vector<request> parts = {};  ///< end first

  rank_state& me() const {
    rank_state* const rank = member.rank();
    if (rank == nullptr)
      throw argument_error("a combination is used after the membership in which it was started has ended");
    return *rank;
  }
  bool is_sparse() const { return core->tracking() != tracking::none; }
  void share_is_done() noexcept { core->shares_added().fetch_add(1, std::memory_order_acq_rel); }
};

namespace {

using under_way = combination_under_way;

void add_share(under_way::one_array const& of) {
  under_way const& all = *of.of;
  std::size_t const count = of.part->array.count, begin = count * all.number / all.ranks,
                    end = count * (all.number + 1) / all.ranks, bytes = of.part->element_bytes();
  if (begin == end) return;
  runtime::computing_in const mode(all.core->mode(), all.core->computes());
  void* const to = of.target + begin * bytes;
  std::array<void const*, 2> sources{to, of.sum + begin * bytes};
  auto const& array = of.part->array;
  array.reduction->folds->for_sources(2)(array.operation.get(), &to, 1, sources.data(), 2, end - begin);
}

/// The sum of all ranks is there. Others hear of it only if nothing was thrown; this rank will tell them what.
void finish(under_way::one_array& of) noexcept {
  under_way& all = *of.of;
  if (std::exchange(of.is_done, true)) return;
  try {
    if (of.sum != nullptr) add_share(of);
    // Blocks, too, that only copies which it took over had touched.
    of.part->fill(all.mine->data, 0, of.part->array.count);
    if (all.is_sparse()) {
      all.core->count_and_empty(*all.mine);
      all.core->part_is_done(all.ranks, false);
    }
    if (of.sum != nullptr || all.is_sparse()) all.share_is_done();
  } catch (...) {
    all.thrown = std::current_exception();
  }
}

void start_arrays(under_way& all, rank_state& me, void* const* into, combining how) {
  auto const& parts = all.core->parts();
  guarded(me, [&] {
    std::byte* const sums = how == combining::add ? all.core->room_for_sums() : nullptr;
    for (std::size_t array = 0; array < parts.size(); ++array)
      all.arrays.push_back({&all, &parts[array], static_cast<std::byte*>(into[array]),
                            sums == nullptr ? nullptr : sums + parts[array].offset});
    all.parts.reserve(parts.size());
  });
  for (under_way::one_array& each : all.arrays) {
    part_of_copy const& part = *each.part;
    call const wanted{
        .what = each.sum == nullptr && are_one_each(me) ? verb::allreduce : verb::reduce_shared,
        .in = all.mine->data + part.offset,
        .out = each.sum != nullptr ? each.sum : each.target,
        .count = part.array.count,
        .reduction = part.array.reduction,
        .operation = part.array.operation.get(),
        .deliver = [](void const*, void* array) noexcept { finish(*static_cast<under_way::one_array*>(array)); },
        .delivered_to = &each};
    all.parts.push_back(start(me, wanted, part.array.operation));
    if (all.parts.back().test()) finish(each);  // at once where staging has no room for all of it
  }
}

}  // namespace

[[gnu::cold]] started_combination start_combination(reducer_core& core, void* const* into, std::size_t const* lengths,
                                                    rank_state& me, std::uint32_t own, combining how) {
  require_arguments(core, into, lengths, me, how);
  require_processes_in_order(me);
  agree_on(core, me, how, {});
  ranks_of_process const here = process_of(me);
  bool const waits_for_shares = core.tracking() != tracking::none || how == combining::add;
  auto const all = guarded(me, [&] {
    // Nobody adds a share before this rank has come.
    std::uint64_t const now = core.shares_added().load(std::memory_order_acquire);
    return std::make_shared<under_way>(under_way{core.shared_from_this(), nullptr, me.requests.handle.reference(),
                                                 me.number - here.first, here.number(),
                                                 now + (waits_for_shares ? here.number() * core.parts().size() : 0)});
  });
  if (!all->is_sparse()) {
    all->mine = &contribution(core, me, own, here, lending::of_own_copies);
    start_arrays(*all, me, into, how);
  } else {
    meet_with(*all->core, me);  // until then others may still add to their copies
    touched_copies const seen = guarded(me, [&] { return see_copies(core, me, own, {}); });
    all->mine = seen.mine;
    wire_choice const chosen = agreed_wire(core, me, seen, {});
    if (me.number == here.first) guarded(me, [&] { core.note_wire(chosen); });
    if (chosen.way == wire::whole_array) {
      guarded(me, [&] { whole_copy(core, seen); });
      start_arrays(*all, me, into, how);
    } else {
      exchange_touched(core, into[0], me, how, seen, chosen.way);
      core.part_is_done(here.number(), false);
      all->share_is_done();
    }
  }
  all->mine->is_under_way = true;
  return started_combination(all);
}

}  // namespace coset::detail

namespace coset::inline COSET_ABI {

namespace {

/// Whether all ranks of the process have added their shares.
bool is_shared_out(detail::combination_under_way& all, detail::rank_state& me) {
  if (all.thrown != nullptr)
    reducer_room::guarded(me, [&] { std::rethrow_exception(std::exchange(all.thrown, nullptr)); });
  if (static_cast<std::int64_t>(all.shares_then - all.core->shares_added().load(std::memory_order_acquire)) <= 0)
    return true;
  if (me.shared.failed()) [[unlikely]]
    runtime::leave(me);
  return false;
}

}  // namespace

bool started_combination::test() {
  if (rest_ == nullptr) return true;
  for (request& part : rest_->parts)
    if (!part.test()) return false;
  detail::rank_state& me = rest_->me();
  if (!is_shared_out(*rest_, me)) {
    runtime::advance_all(me.root);
    return false;
  }
  finish();
  return true;
}

void started_combination::wait() {
  if (rest_ == nullptr) return;
  for (request& part : rest_->parts) part.wait();
  detail::rank_state& me = rest_->me();
  for (runtime::backing_off pause(me.shared.patience); !is_shared_out(*rest_, me);)
    pause(runtime::advance_all(me.root));
  finish();
}

void started_combination::finish() noexcept {
  rest_->mine->is_under_way = false;
  if (!rest_->is_sparse()) rest_->core->part_is_done(rest_->ranks, false);
  rest_.reset();
}

}  // namespace coset
