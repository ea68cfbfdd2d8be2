// SPDX-License-Identifier: Apache-2.0
#include "runtime/rank_state.hpp"

#include <vector>

#include "runtime/memory/use_staging.hpp"
#include "runtime/recording.hpp"

namespace coset::inline COSET_ABI::detail {

using namespace runtime;

rank_state::rank_state(team_state& of, planning::plan_store& of_team, shared_memory& memory_of_all, rank_t number_here,
                       unsigned node, unsigned memory_node, rank_state* in_root)
    : team(of),
      shared(memory_of_all),
      root(in_root != nullptr ? *in_root : *this),
      rank(number_here),
      number(shared.part.first + number_here),
      lines{shared.root.arena.own(shared.root_ranks[number_here]), shared.arena.own(number_here),
            shared.arena.attention(number_here).sleepers},
      here{{}, node, memory_node},
      plans(of_team),
      requests(*this) {
  acts.history = shared.marks.salt;
  open_channel(*this, 0);  // by the rank's own thread, on its node
  if (in_root != nullptr) here = {root.here.thread, root.here.node, memory_node};
  begin_recording(*this);
  root.requests.family.push_back(this);
}

rank_state::~rank_state() {
  close_recording(*this);
  if (&root != this) std::erase(root.requests.family, this);
}

}  // namespace coset::detail
