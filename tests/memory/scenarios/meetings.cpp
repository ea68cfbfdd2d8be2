// SPDX-License-Identifier: Apache-2.0
// Threads that meet outside collectives: jobs of workers, threads that are lent, reducers, requests that outlive ranks.
#include <array>
#include <memory>
#include <optional>

#include "command/measure/machine/flag_barrier.hpp"
#include "memory/scenarios/explored_team.hpp"
#include "memory/scenarios/reduced_array.hpp"
#include "memory/scenarios/scenarios.hpp"
#include "planning/calibration/two_threads.hpp"
#include "reducer/core.hpp"
#include "runtime/rank_handle.hpp"
#include "team/threads/lent_threads.hpp"
#include "team/threads/workers.hpp"

namespace coset::memory_test {
namespace {

/// What the threads write and read; never atomic.
struct data {
  std::array<long, 4> values{};
};

/// A run: its maker tells the job, and takes what the worker has done.
std::function<program()> jobs(runtime::patience const& how) {
  struct setting {
    std::optional<team_room::job_signal> begun, ended;
    data with;
  };
  auto const here = std::make_shared<setting>();
  return [=] {
    here->begun.emplace();
    here->ended.emplace();
    here->with = {};
    program made;
    made.threads.push_back([=] {
      for (std::uint64_t job = 1; job <= 2; ++job) {
        here->with.values[0] = static_cast<long>(job);
        here->begun->add_one();
        here->ended->wait_for(job, how);
        expect(here->with.values[1] == static_cast<long>(job), "the job is not done");
      }
    });
    made.threads.push_back([=] {
      for (std::uint64_t job = 1; job <= 2; ++job) {
        here->begun->wait_for(job, how);
        here->with.values[1] = here->with.values[0];
        here->ended->add_one();
      }
    });
    return made;
  };
}

/// Threads come and go in a larger team; its maker uses it alone while it is closed.
std::function<program()> lending() {
  struct setting {
    explored_team ranks{2, waits::polling};
    team_room::lent_threads lent{ranks.state(), 0, 2, [](rank_t) {}};
    data with;
  };
  auto const here = std::make_shared<setting>();
  return [=] {
    program made;
    for (rank_t t = 0; t < 2; ++t) {
      made.threads.push_back([=] {
        for (int times = 0; times < 2; ++times) {
          detail::rank_state& mine = here->lent.join(t);
          ++here->with.values[t];
          here->lent.leave(mine);
        }
      });
    }
    made.threads.push_back([=] {
      if (!here->lent.close()) return;
      for (long& each : here->with.values) ++each;
      here->lent.open();
    });
    return made;
  };
}

struct reduced {
  static constexpr std::size_t count = 16;  // two lines
  std::shared_ptr<detail::reducer_core> core = detail::make_reducer({sums(count)});
  std::array<long, count> into{};

  explicit reduced(bool with_total) {
    for (std::uint32_t number : {0u, 1u}) detail::copy_numbered(*core, number);
    if (with_total) detail::total_of(*core);
  }
  void begin() {
    into.fill(1);
    detail::reset(*core);
    for (std::uint32_t number : {0u, 1u}) {
      auto* const mine = reinterpret_cast<long*>(detail::copy_numbered(*core, number).data);
      for (std::size_t k = 0; k < count; ++k) mine[k] = 2 + number;
    }
  }
  std::string fault() const {
    for (long const each : into) {
      if (each != 6) return "a wrong sum";
    }
    return "";
  }
};

/// Threads fold their copies into one array, part by part, each behind the other.
std::function<program()> folding_in_turns() {
  auto const here = std::make_shared<reduced>(false);
  return [=] {
    here->begin();
    for (auto* const copy : here->core->in_order()) copy->turn = 0;
    detail::begin_round(*here->core);
    program made;
    for (std::size_t t = 0; t < 2; ++t) {
      made.threads.push_back([=] {
        void* const to = here->into.data();
        detail::fold_round(*here->core, &to, t, 2);
      });
    }
    made.fault = [=] { return here->fault(); };
    return made;
  };
}

/// Whichever thread folds the last part of a total declares it full.
std::function<program()> folding_parts() {
  auto const here = std::make_shared<reduced>(true);
  return [=] {
    here->begin();
    program made;
    for (std::size_t t = 0; t < 2; ++t) {
      made.threads.push_back([=] { detail::fold_part(*here->core, nullptr, t, 2); });
    }
    return made;
  };
}

/// What measurements meet by: a barrier of flags, and two threads that pass a line to each other.
std::function<program()> flag_barrier() {
  struct setting {
    measure::flag_barrier barrier{2};
    data with;
  };
  auto const here = std::make_shared<setting>();
  return [=] {
    here->with = {};
    program made;
    for (rank_t r = 0; r < 2; ++r) {
      made.threads.push_back([=] {
        for (long round = 1; round <= 2; ++round) {
          here->with.values[r] = round;
          here->barrier.arrive_and_wait(r);
          expect(here->with.values[1 - r] == round, "a barrier that does not hold");
          here->barrier.arrive_and_wait(r);
        }
      });
    }
    return made;
  };
}

std::function<program()> passing() {
  struct setting {
    std::optional<calibration::turns> line;
    data with;
  };
  auto const here = std::make_shared<setting>();
  return [=] {
    here->line.emplace(calibration::turns::clock::time_point::max());
    here->with = {};
    program made;
    for (std::uint64_t t = 0; t < 2; ++t) {
      made.threads.push_back([=] {
        for (std::uint64_t turn = t; turn < 4; turn += 2) {
          here->line->come_to(turn);
          expect(here->with.values[0]++ == static_cast<long>(turn), "a turn before the other's end");
          here->line->pass(turn + 1);
        }
      });
    }
    return made;
  };
}

/// A request asks for its rank, which has ended; meanwhile others take its handle.
std::function<program()> references() {
  struct setting {
    explored_team ranks{2, waits::polling};
    std::optional<runtime::own_handle> own;
  };
  auto const here = std::make_shared<setting>();
  return [=] {
    here->own.emplace(*here->ranks.state().members[0]);
    auto const reference = here->own->reference();
    here->own.reset();
    program made;
    made.threads.push_back([=] {
      here->own.emplace(*here->ranks.state().members[1]);
      here->own.reset();
    });
    made.threads.push_back([=] { expect(reference.rank() == nullptr, "a request finds another's rank"); });
    return made;
  };
}

}  // namespace

std::vector<scenario> threads_that_meet() {
  runtime::sleepers_pay();  // asked for once
  constexpr std::uint32_t for_ever = ~0u;
  runtime::patience const polls{0, for_ever, for_ever, 0, false}, sleeps{0, 0, 0, 0, true};
  return {
      {"jobs", [=] { return jobs(polls); }},
      {"jobs slept for", [=] { return jobs(sleeps); }, {.preemptions = 3}},
      {"jobs slept for without membarrier", [=] { return jobs(sleeps); }, {.preemptions = 3, .membarrier = false}},
      {"lent threads", lending, {.preemptions = 2}},
      {"folding in turns", folding_in_turns},
      {"folding parts", folding_parts},
      {"references", references},
      {"flag barrier", flag_barrier, {.preemptions = 2}},
      {"passing", passing},
  };
}

}  // namespace coset::memory_test
