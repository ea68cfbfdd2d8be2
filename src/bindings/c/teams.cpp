// SPDX-License-Identifier: Apache-2.0
// Teams and members.

#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/text/format.hpp"
#include "bindings/c/handles.hpp"
#include "bindings/c/options.hpp"
#include "bindings/c/status.hpp"
#include "coset/detail/collective.hpp"
#include "runtime/failure/ranks_in_words.hpp"
#include "team/team_state.hpp"

using namespace coset::capi;

namespace {

coset::team_options options_from(coset_team_options const* given) {
  auto const c = options_of(given, coset_team_options COSET_TEAM_OPTIONS, "COSET_TEAM_OPTIONS");
  coset::team_options options;
  options.ranks = c.ranks;
  options.place = choice_of(c.placement, coset::placement::unbound, "placement");
  options.wait = choice_of(c.waiting, coset::waiting::block, "waiting");
  if (c.processor_count != 0) {
    require(c.processors, "processors");
    options.processors.assign(c.processors, c.processors + c.processor_count);
  }
  return options;
}

coset::team& in(coset_team* team) {
  require(team, "the team");
  return *team->of;
}

coset::member& in(coset_member* me) {
  require(me, "the member");
  return *me->of;
}

void require_origin(coset_member const* me, coset_member::origin wanted, char const* otherwise) {
  if (me->from != wanted) throw coset::argument_error(otherwise);
}

}  // namespace

void coset::capi::run_body(member& me, coset_body* body, void* context) {
  coset_member self{&me, coset_member::origin::run};
  forget_failure();
  int const result = body(&self, context);
  if (result == 0) return;
  if (result == latest_failure()) throw_latest_failure();
  throw body_failed(text::format("rank {}: the body returned {}", me.rank(), result));
}

coset_status coset_team_create(coset_team_options const* options, coset_team** made) {
  return guarded([&] {
    require(made, "the place for a team");
    *made = new coset_team{std::make_unique<coset::team>(options_from(options))};
  });
}

coset_status coset_team_adopt(uint32_t ranks, coset_team_options const* options, coset_team** made) {
  return guarded([&] {
    require(made, "the place for a team");
    *made = new coset_team{coset::team::adopt(ranks, options_from(options))};
  });
}

coset_status coset_team_free(coset_team* team) {
  return guarded([&] { delete team; });
}

uint32_t coset_team_size(coset_team const* team) { return team != nullptr ? team->of->size() : 0; }

coset_status coset_team_run(coset_team* team, coset_body* body, void* context) {
  return guarded([&] {
    require(reinterpret_cast<void const*>(body), "the body");
    in(team).run([&](coset::member& me) { run_body(me, body, context); });
  });
}

coset_status coset_team_join(coset_team* team, uint32_t rank, int64_t nanoseconds, coset_member** me) {
  return guarded([&] {
    require(me, "the place for a member");
    *me = nullptr;
    auto const deadline = coset::team::clock::now() + span_of(nanoseconds);
    *me = new joined_member([&] { return in(team).join(rank, deadline); });
  });
}

coset_status coset_team_leave(coset_member* me) {
  return guarded([&] {
    if (me == nullptr) return;
    require_origin(me, coset_member::origin::join, "leave: this member has not joined");
    delete static_cast<joined_member*>(me);
  });
}

coset_status coset_team_abort(coset_team* team, char const* reason) {
  return guarded([&] { in(team).abort(reason != nullptr ? reason : "aborted"); });
}

void coset::capi::write_to(std::int32_t descriptor, std::string const& account) {
  for (std::string_view left = account; !left.empty();) {  // pipes take part of it, signals interrupt
    ssize_t const written = write(descriptor, left.data(), left.size());
    if (written >= 0)
      left.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      throw argument_error(text::format("dump: file descriptor {} takes no text", descriptor));
  }
}

coset_status coset_dump(coset_team* team, int32_t descriptor) {
  return guarded([&] { write_to(descriptor, coset::runtime::account_of(in(team).state().shared)); });
}

coset_status coset_team_reserve(coset_team* team, size_t bytes) {
  return guarded([&] { in(team).reserve(bytes); });
}

void coset_end_idle_teams(void) { coset::end_idle_teams(); }

uint32_t coset_member_rank(coset_member const* me) { return me != nullptr ? me->of->rank() : 0; }
uint32_t coset_member_size(coset_member const* me) { return me != nullptr ? me->of->size() : 0; }
uint32_t coset_member_node(coset_member const* me) { return me != nullptr ? me->of->node() : COSET_UNKNOWN_NODE; }

coset_status coset_member_split(coset_member* me, int32_t colour, int32_t key, coset_member** part) {
  return guarded([&] {
    require(part, "the place for a member");
    *part = new split_member(in(me).split(colour, key));
  });
}

coset_status coset_member_node_team(coset_member* me, coset_member** part) {
  return guarded([&] {
    require(part, "the place for a member");
    *part = new split_member(in(me).node_team());
  });
}

coset_status coset_member_free(coset_member* me) {
  return guarded([&] {
    if (me == nullptr) return;
    require_origin(me, coset_member::origin::split, "free: this member was not split from another");
    delete static_cast<split_member*>(me);
  });
}

coset_status coset_member_refuse(coset_member* me, char const* reason) {
  if (reason == nullptr) reason = "called wrongly";
  return guarded([&] {
    if (me == nullptr) throw coset::argument_error(reason);
    coset::detail::refuse(in(me).state(), reason);
  });
}

coset_status coset_member_reset(coset_member* me, int64_t nanoseconds) {
  return guarded([&] { in(me).reset(coset::member::clock::now() + span_of(nanoseconds)); });
}
