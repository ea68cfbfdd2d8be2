// SPDX-License-Identifier: Apache-2.0
#include "memory/scenarios/explored_team.hpp"

#include <cstring>
#include <memory>

namespace coset::memory_test {

runtime::patience patience_of(waits how) noexcept {
  constexpr std::uint32_t for_ever = ~0u;
  if (how == waits::polling) return {0, for_ever, for_ever, 0, false};
  return {0, 0, 0, 0, true};
}

void clear(runtime::shared_memory& shared) {
  for (rank_t r = 0; r < shared.ranks; ++r) {
    for (std::uint32_t c = 0; c < runtime::channels; ++c)
      std::memset(static_cast<void*>(&shared.arena.lines(c, r)), 0, sizeof(runtime::channel_lines));
    std::memset(static_cast<void*>(&shared.arena.own(r)), 0, sizeof(runtime::own_line));
    std::memset(static_cast<void*>(&shared.arena.attention(r)), 0, sizeof(runtime::attention_line));
  }
  shared.question = 1;
  std::construct_at(&shared.marks);
}

explored_team::explored_team(rank_t ranks, waits how)
    : ranks_(std::make_unique<team>(team_options{.ranks = ranks, .place = placement::unbound})) {
  state().shared.patience = patience_of(how);
  if (how == waits::asking_without_membarrier) state().shared.kind.plain_signals = false;
}

void explored_team::run(std::vector<body> const& bodies) {
  constexpr int until_all_is_kept = 3;  // what repeats is resolved, which takes memory
  for (int k = 0; k < until_all_is_kept; ++k)
    ranks_->run([&](member& me) {
      try {
        bodies[me.rank()](me);
      } catch (std::exception const&) {
        // Only plans are wanted.
      }
    });
}

/// Where a team is before its first operation, but for what it knows of plans.
void explored_team::begin_anew() {
  open_.reset();
  clear(state().shared);
  open_ = std::make_unique<detail::task_run>(*ranks_);
  state().settle({});
}

program explored_team::of(std::vector<body> const& bodies, std::function<std::string()> const& fault) {
  begin_anew();
  program made;
  for (rank_t r = 0; r < bodies.size(); ++r) {
    made.threads.push_back([this, r, what = bodies[r]] {
      open_->start(
          r, [](void* context, member& me) { (*static_cast<body const*>(context))(me); }, const_cast<body*>(&what));
    });
  }
  made.fault = fault;
  return made;
}

}  // namespace coset::memory_test
