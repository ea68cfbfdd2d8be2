// SPDX-License-Identifier: Apache-2.0
// The public face of teams.
#include "coset/team.hpp"

#include <chrono>
#include <new>
#include <ratio>
#include <utility>
#include <vector>

#include "base/text/format.hpp"
#include "base/text/log.hpp"
#include "numa/affinity.hpp"
#include "numa/binding.hpp"
#include "numa/describe.hpp"
#include "numa/kinds.hpp"
#include "numa/process/fork.hpp"
#include "numa/share.hpp"
#include "planning/calibration/fit.hpp"
#include "planning/calibration/memory_facts.hpp"
#include "planning/calibration/profile.hpp"
#include "runtime/requests.hpp"
#include "team/team_state.hpp"
#include "team/threads/adopted_threads.hpp"
#include "team/threads/idle_teams.hpp"
#include "team/threads/lent_threads.hpp"
#include "team/threads/workers.hpp"

namespace coset::inline COSET_ABI {
namespace {

using namespace runtime;
using namespace team_room;

void tell_of_lines(topology const& machine) {
  if (!text::plans_are_logged()) return;
  if (auto const warning = numa::line_warning(machine); !warning.empty()) text::complain(warning);
}

void check(team_options const& options) {
  if (options.place > placement::unbound)
    throw argument_error(text::format("there is no placement {}", static_cast<int>(options.place)));
  if (options.wait > waiting::block)
    throw argument_error(text::format("there is no waiting {}", static_cast<int>(options.wait)));
  numa::require_kind(options.memory);
}

std::shared_ptr<detail::team_state> state_to_own(topology const& machine, team_options options) {
  numa::fork_waits const until_made;
  check(options);
  rank_t const ranks = options.processors.empty() ? (options.ranks != 0 ? options.ranks : machine.cores())
                                                  : static_cast<rank_t>(options.processors.size());
  if (options.ranks != 0 && options.ranks != ranks) {
    throw argument_error(text::format("a team of {} ranks on {} explicit processors", options.ranks, ranks));
  }
  bool const bound = numa::binding_wanted() && (options.place != placement::unbound || !options.processors.empty());
  if (!bound) options.place = placement::unbound;
  team_shape shape{ranks,
                   options.processors.empty() ? numa::place_or_share(machine, ranks, options.place)
                                              : machine.place(options.processors),
                   {},
                   bound && machine.this_system,
                   {}};
  shape.memory = calibration::told_of(machine);
  bool const share = ranks > machine.processors.size();
  if (shape.pinned && !share) {
    bool const in_any_order = options.processors.empty() && options.place == placement::compact;
    shape.choices = choice::choices_here(shape.places, in_any_order);
  } else {
    shape.choices = machine.this_system ? choice::table::of_this_machine() : choice::table::of_environment();
  }
  for (processor const& p : shape.places)
    shape.nodes.push_back(shape.pinned ? machine.nodes.at(p.node).os_index : anywhere);
  // Threads that nobody pins may come to run on any node.
  if (!bound && machine.this_system && machine.nodes.size() > 1) shape.places.clear();
  if (shape.pinned && share && text::plans_are_logged())
    text::complain(text::format("{} ranks share {} processors", ranks, machine.processors.size()));
  tell_of_lines(machine);
  return std::make_shared<detail::team_state>(std::move(shape), std::move(options));
}

std::shared_ptr<detail::team_state> owning_state(topology const& machine, team_options options) {
  auto state = state_to_own(machine, std::move(options));
  state->membership.workers = std::make_unique<workers>(*state);
  return state;
}

/// Threads that come with masks of their own.
team_shape shape_anywhere(rank_t ranks) {
  topology const& machine = calibration::machine_tuned_for();
  tell_of_lines(machine);
  return {
      ranks, {}, node_list(ranks, anywhere), false, calibration::told_of(machine), choice::table::of_this_machine()};
}

std::shared_ptr<detail::team_state> adopting_state(rank_t ranks, team_options options) {
  numa::fork_waits const until_made;
  check(options);
  if (ranks == 0) throw argument_error("a team of 0 ranks");
  auto state = std::make_shared<detail::team_state>(shape_anywhere(ranks), std::move(options));
  state->membership.adopted = std::make_unique<adopted_threads>(*state);
  return state;
}

}  // namespace

member_guard::member_guard(detail::rank_state& state) noexcept
    : team_(state.team.shared_from_this()), member_(state), exceptions_(std::uncaught_exceptions()) {}

member_guard::~member_guard() {
  detail::rank_state& state = member_.state();
  if (!state.shared.is_of_this_process()) {
    keep_for_good(std::move(team_));
    return;
  }
  if (std::uncaught_exceptions() > exceptions_) {
    state.shared.fail(cause::aborted, words("rank %u ended with an exception", state.number));
    state.shared.quiesce(state);
  }
  auto const& threads = state.team.membership;
  threads.lent ? abandon_requests_of_all(state) : abandon_requests(state);
  threads.lent ? threads.lent->leave(state) : threads.adopted->leave(state.rank);
}

namespace {

/// COSET_LOG=team: what the making of a team took.
class told_making {
 public:
  void machine_is_known() { machine_ = clock::now(); }
  void got_idle(rank_t ranks) const {
    if (is_told_) text::complain(text::format("a team of {} ranks: an idle one, in {:.0f} µs", ranks, since(begin_)));
  }
  void made(rank_t ranks) const {
    if (!is_told_) return;
    double const whole = since(begin_), made = since(machine_);
    text::complain(text::format("a team of {} ranks: made in {:.0f} µs, {:.0f} of them to learn the machine's topology",
                                ranks, whole, whole - made));
  }

 private:
  using clock = std::chrono::steady_clock;
  static double since(clock::time_point time) {
    return std::chrono::duration<double, std::micro>(clock::now() - time).count();
  }

  bool is_told_ = text::teams_are_logged();
  clock::time_point begin_ = clock::now(), machine_ = begin_;
};

topology machine_for(team_options const& options) {
  numa::fork_waits const until_found;
  if (text::plans_are_logged())
    if (auto const confined = numa::affinity_of_process().warning; !confined.empty()) text::complain(confined);
  return options.processors.empty() ? numa::machine_for(options.ranks) : topology::machine();
}

}  // namespace

team::team(team_options options) {
  told_making making;
  circumstances asked_in(std::move(options));
  if ((state_ = idle_teams::take(asked_in))) {
    making.got_idle(size());
    return;
  }
  state_ = idle_teams::made_with_their_room<std::bad_alloc>([&] {
    topology const machine = machine_for(asked_in.asked);
    making.machine_is_known();
    return owning_state(machine, asked_in.asked);
  });
  state_->membership.asked_in.emplace(std::move(asked_in));
  making.made(size());
}
team::team(topology const& machine, team_options options) : state_(owning_state(machine, std::move(options))) {}
team::team(std::shared_ptr<detail::team_state> state) : state_(std::move(state)) {}

team::~team() {
  bool const is_here = state_->shared.process() == numa::process_number_by_the_system();
  if (!is_here || (state_->membership.workers && !state_->membership.workers->can_stop())) {
    keep_for_good(std::move(state_));
    return;
  }
  state_->membership.offers.withdraw();
  if (state_->membership.workers) {
    idle_teams::keep(std::move(state_));
    return;
  }
  if (state_->membership.adopted && state_->membership.adopted->is_attended())
    state_->shared.fail(cause::aborted, "the team has been destroyed while ranks were in it");
}

std::unique_ptr<team> team::adopt(rank_t ranks, team_options options) {
  return std::unique_ptr<team>(new team(adopting_state(ranks, std::move(options))));
}

rank_t team::size() const noexcept { return state_->shared.ranks; }

void team::run_erased(void (*body)(void*, member&), void* context) {
  if (!state_->shared.kind.ranks_may_wait) throw argument_error("run() of threads on a team of tasks");
  if (!state_->membership.workers) throw argument_error("run() on an adopted team: its threads call join()");
  state_->membership.workers->run(body, context);
}

member_guard team::join(rank_t rank, clock::time_point deadline) {
  require_this_process(state_->shared, "join()");
  if (!state_->shared.kind.ranks_may_wait) throw argument_error("join() on a team of tasks");
  if (!state_->membership.adopted) throw argument_error("join() on a team that has threads of its own: call run()");
  return member_guard(state_->membership.adopted->join(rank, deadline));
}

void team::abort(std::string const& reason) noexcept { state_->shared.fail(cause::aborted, reason); }

void end_idle_teams() noexcept { idle_teams::end(); }

/// The memory is made at once, so that what cannot be had is refused here and not to the ranks of the next run.
void team::reserve(std::size_t bytes) {
  require_this_process(state_->shared, "reserve()");
  if (bytes <= state_->reserved_bytes) return;
  try {
    idle_teams::made_with_their_room<std::bad_alloc>([&] { (void)state_->shared.arena.staging_for(0, bytes); });
  } catch (std::bad_alloc const&) {
    throw argument_error(text::format("reserve: staging of {} bytes for each of {} ranks exceeds the available memory",
                                      bytes, state_->shared.ranks));
  }
  state_->reserved_bytes = bytes;
}

}  // namespace coset
