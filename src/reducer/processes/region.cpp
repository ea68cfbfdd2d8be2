// SPDX-License-Identifier: Apache-2.0
// Threads of a parallel region that meet as ranks, so that each of them hears of a failure while it waits.
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/text/format.hpp"
#include "base/text/log.hpp"
#include "coset/detail/collective.hpp"
#include "reducer/processes/ranks.hpp"
#include "runtime/failure/ranks_in_words.hpp"
#include "runtime/memory/waiting.hpp"
#include "team/team_state.hpp"

namespace coset::reducer_room {
namespace {

using detail::rank_state;
using detail::reducer_core;

/// Of a thread that polls for others of its region.
class long_wait {
 public:
  long_wait(reducer_core& core, rank_state& me) : core_(core), me_(me) {}

  /// Says once that it is stuck; throws timed_out, as all ranks do, when the time is over.
  [[gnu::cold]] void look(std::uint64_t round) {
    std::chrono::nanoseconds const waited(static_cast<std::int64_t>(runtime::now_of_waits() - since_));
    auto const& limits = me_.shared.patience.limits;
    auto const is_over = [&](std::chrono::nanoseconds limit) { return limit.count() != 0 && waited >= limit; };
    if (is_over(limits.until_told) && !std::exchange(is_told_, true)) text::complain("stuck? " + in_words(waited));
    if (is_over(limits.longest) && core_.arrivals().give_up(round))
      runtime::fail(me_, runtime::cause::timed_out, in_words(waited));
  }

 private:
  std::string in_words(std::chrono::nanoseconds waited) const {
    auto const& spread = me_.shared.part.spread;
    return text::format("process {}: {}\n{}", spread.processes.empty() ? 0 : spread.stretch_of(me_.number),
                        core_.arrivals().wait_in_words(waited), runtime::account_of(me_.shared));
  }

  reducer_core& core_;
  rank_state& me_;
  std::uint64_t const since_ = runtime::now_of_waits();
  bool is_told_ = false;
};

}  // namespace
}  // namespace coset::reducer_room

namespace coset::inline COSET_ABI::detail {

using namespace reducer_room;

[[gnu::cold]] void come_as_rank(reducer_core& core, std::uint32_t threads, rank_state& me) {
  try {
    if (me.shared.failed()) runtime::leave(me);
    arrival const mine = core.arrivals().add(threads, arriving::polls);
    runtime::backing_off wait(runtime::patience::of_polling());
    std::optional<long_wait> how_long;
    while (!mine.last && !core.arrivals().is_complete(mine.round)) {
      if (me.shared.failed() && core.arrivals().give_up(mine.round)) runtime::leave(me);
      if (!wait(false)) continue;
      if (!how_long) how_long.emplace(core, me);
      how_long->look(mine.round);
    }
  } catch (mismatch_error const& wrong) {
    if (me.shared.failed()) runtime::leave(me);
    refuse(me, wrong.what());
  }
}

[[gnu::cold]] std::string not_a_region_of(std::size_t threads, int level, std::size_t present) {
  if (level > 1) return "combine over processes: in a nested region";
  return text::format("combine over processes: a region of {} threads, where the process has {}", present, threads);
}

}  // namespace coset::detail
