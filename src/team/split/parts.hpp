// SPDX-License-Identifier: Apache-2.0
// What a process keeps of the teams that were split from a team over processes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "coset/error.hpp"
#include "runtime/memory/lines.hpp"
#include "runtime/transport/messages.hpp"

namespace coset::inline COSET_ABI::detail {
struct team_state;
}

namespace coset::team_room {

/// What makes a team a part of another one. Only one that has ranks in several processes has a number.
struct part_identity {
  detail::team_state* origin = nullptr;  ///< null: it was not split from another
  std::uint32_t number = 0, span = 0;    ///< the numbers [number, number + span) are its own
  std::vector<rank_t> in_whole = {};     ///< [rank of the part]
  std::unique_ptr<runtime::transport> messages = {};
  std::shared_ptr<detail::team_state> kept = {};  ///< itself, see parts::keep()
};

/// Parts come and go in any thread, while others ask what their ranks do.
class parts {
 public:
  /// Of a process whose ranks are [first, first + threads) of the team.
  parts(rank_t first, rank_t threads) : first_(first), latest_(threads, 0) {}

  rank_t number_of(rank_t thread) const noexcept { return first_ + thread; }
  /// The highest number of any part to which a thread has belonged. Only that thread uses it.
  std::uint32_t& latest(rank_t thread) noexcept { return latest_[thread]; }

  /// By teams that were split from it, also of one process.
  void add(detail::team_state&);
  void remove(detail::team_state&) noexcept;

  /// By the thread that made it, for so many ranks of this process.
  void offer(rank_t thread, std::uint32_t number, std::shared_ptr<detail::team_state>, rank_t takers);
  std::shared_ptr<detail::team_state> take(rank_t thread, std::uint32_t number);

  /// After a failure, messages may be under way for a part whose members are gone: it is kept until the next round.
  void keep(std::shared_ptr<detail::team_state> const&) noexcept;
  /// Between rounds: lets go of what is kept, and of what nobody has taken.
  void begin_round();
  /// The team over processes ends: members that outlive it are of no use.
  void end() noexcept;

  /// Calls `of_part` with what a rank of this process, by its number in the team, tells of a part: its line if the part
  /// exists, or else the number of its latest operation there, if that is still known.
  void look_up(std::uint32_t number, rank_t in_whole,
               std::function<void(runtime::own_line const&)> const& while_it_exists,
               std::function<void(std::uint32_t latest)> const& after_its_end) const;

 private:
  struct ended {
    std::uint32_t number;
    std::vector<std::pair<rank_t, std::uint32_t>> latest;  ///< number in the team, of the latest operation
  };
  static constexpr std::size_t remembered = 256;

  rank_t const first_;
  std::vector<std::uint32_t> latest_;  ///< [thread]
  mutable std::mutex mutex_;           ///< guards these
  std::vector<detail::team_state*> alive_;
  std::deque<ended> ended_;
  std::map<std::pair<rank_t, std::uint32_t>, std::pair<std::shared_ptr<detail::team_state>, rank_t>> offers_;
};

}  // namespace coset::team_room
