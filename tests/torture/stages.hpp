// SPDX-License-Identifier: Apache-2.0
// Teams of each kind, which run the same body.
#pragma once

#include <functional>
#include <memory>

#include "torture/deeds.hpp"

namespace coset::torture {

/// What a rank does in a round, between what befalls it.
struct script {
  /// Makes what the rank needs in a run, and meets the others.
  std::function<void(rank_t rank, rank_t ranks)> prepare;
  std::function<void(member&, std::uint32_t round)> befall;
  std::function<deed&(rank_t rank, std::uint32_t round)> of;
  /// The rank's deeds of the round have been done.
  std::function<void(rank_t rank, std::uint32_t round)> check;
};

/// All rounds of one rank that waits for others.
inline void play(script const& s, member& me) {
  rank_t const rank = me.rank();
  s.prepare(rank, me.size());
  barrier(me);
  for (std::uint32_t round = 0; round < trial::rounds; ++round) {
    s.befall(me, round);
    s.of(rank, round).go(me);
    s.check(rank, round);
  }
}

/// Throws, as its team does, whatever prevents that it is made.
class stage {
 public:
  virtual ~stage() = default;
  /// All rounds of one run. Throws what the team does; of several exceptions the first.
  virtual void run(script const&) = 0;
  /// Of an allreduce; none where plans cannot be made ahead.
  virtual std::optional<plan<int>> plan_of(std::size_t) { return {}; }
};

// A program has teams of threads, or teams over processes that a launcher starts.
std::vector<team_kind> kinds_here();
std::unique_ptr<stage> make_stage(trial&);
/// main() of what is launched: ACCOUNTS DEED FAULT SEED CASE.
int play_launched(int argc, char** argv);

}  // namespace coset::torture
