// SPDX-License-Identifier: Apache-2.0
// Whether all ranks wait for one another: never believed while some rank goes on, and found out if none will.
#include <atomic>
#include <memory>
#include <vector>

#include "memory/scenarios/explored_team.hpp"
#include "memory/scenarios/scenarios.hpp"
#include "runtime/executor.hpp"
#include "runtime/failure/long_waits.hpp"

namespace coset::memory_test {
namespace {

/// Ranks wait for words of each other's, as for entries in different teams.
struct setting {
  explored_team ranks;
  detail::plan_pair plans;
  std::vector<runtime::flight> flights;
  std::array<std::atomic<int>, 3> words{};

  explicit setting(rank_t number)
      : ranks(number, waits::polling),
        plans(detail::make_plans(ranks.state(), verb::barrier, 0, detail::copy_of<char>(), {})) {
    for (rank_t r = 0; r < number; ++r) {
      runtime::prepare(flights.emplace_back(), *ranks.state().members[r], 0, *plans.apart, nullptr, nullptr, nullptr);
      flights.back().act = {};
    }
  }

  void wait_for(std::size_t word, member& me) {
    detail::rank_state& rank = me.state();
    while (words[word].load(std::memory_order_acquire) == 0) {
      if (rank.shared.failed()) throw aborted("told by another");
      runtime::note_waiting(rank, flights[me.rank()]);
    }
    runtime::note_moving(rank);
  }
  void give(std::size_t word) { words[word].store(1, std::memory_order_release); }
};

std::function<program()> waiting(std::vector<std::function<void(setting&, member&)>> const& bodies, bool stands) {
  auto const here = std::make_shared<setting>(static_cast<rank_t>(bodies.size()));
  return [=] {
    for (auto& each : here->words) each = 0;
    std::vector<explored_team::body> all;
    for (auto const& body : bodies) all.push_back([here, body](member& me) { body(*here, me); });
    return here->ranks.of(all, [here, stands] {
      bool const told = here->ranks.state().shared.failed();
      return std::string(told == stands ? "" : stands ? "nobody found out" : "believed of ranks that go on");
    });
  };
}

}  // namespace

std::vector<scenario> standing_still() {
  auto const give_then_wait = [](setting& s, member& me) {
    s.give(0);
    s.wait_for(1, me);
  };
  auto const wait_then_give = [](setting& s, member& me) {
    s.wait_for(0, me);
    s.give(1);
  };
  auto const wait_alone = [](setting& s, member& me) { s.wait_for(me.rank(), me); };
  auto const give_and_leave = [](setting& s, member&) { s.give(0); };
  auto const leave = [](setting&, member&) {};
  auto const wait_for_first = [](setting& s, member& me) { s.wait_for(0, me); };
  return {
      {"going on",
       [=] {
         return waiting({wait_then_give, give_then_wait}, false);
       },
       {.preemptions = 3}},
      {"going on before another leaves",
       [=] {
         return waiting({wait_for_first, give_and_leave}, false);
       },
       {.preemptions = 3}},
      {"standing still",
       [=] {
         return waiting({wait_alone, wait_alone}, true);
       },
       {.preemptions = 2}},
      {"standing still beside one that has left",
       [=] {
         return waiting({wait_alone, leave}, true);
       },
       {.preemptions = 2}},
      {"going on in a chain",
       [=] {
         return waiting({[](setting& s, member& me) { s.wait_for(1, me); }, wait_then_give, give_and_leave}, false);
       },
       {.random = 30'000}},
  };
}

}  // namespace coset::memory_test
