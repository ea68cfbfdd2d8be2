// SPDX-License-Identifier: Apache-2.0
// Who is a rank, and of which team: threads that join, teams that are split, failed teams that go on, processes that
// share memory.
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "coset/detail/collective.hpp"
#include "memory/scenarios/ranks_alike.hpp"
#include "memory/scenarios/scenarios.hpp"
#include "runtime/rank_handle.hpp"
#include "team/domain_team.hpp"

namespace coset::memory_test {
namespace {

/// Threads that the team does not own are its ranks from the last one's joining to the last one's leaving.
struct adopted : arrays<1> {
  std::unique_ptr<team> ranks = team::adopt(2, {.place = placement::unbound});

  explicit adopted(waits how) {
    ranks->state().shared.patience = patience_of(how);
    begin();
    std::thread other([this] { join_and_sum(1); });
    join_and_sum(0);
    other.join();
  }
  void begin() {
    arrays::begin();
    clear(ranks->state().shared);
  }

  void join_and_sum(rank_t r) {
    for (int round = 0; round < 2; ++round) {
      auto me = ranks->join(r);
      allreduce(*me, in[r], out[r], added{});
      in[r] = out[r];
    }
  }
  /// Whoever still waits for one that has left is told.
  void leave_early(rank_t r) {
    auto me = ranks->join(r);
    allreduce(*me, in[r], out[r], added{});
    if (r == 1) return;
    try {
      allreduce(*me, in[r], out[r], added{});
    } catch (mismatch_error const&) {
      out[r] = out[r + 1];
    }
  }
};

std::function<program()> joining(waits how, void (adopted::*body)(rank_t), long sum) {
  auto const here = std::make_shared<adopted>(how);
  return [=] {
    here->begin();
    program made;
    for (rank_t r = 0; r < 2; ++r) made.threads.push_back([=] { (here.get()->*body)(r); });
    made.fault = [=] { return std::string(sums_are(2, sum)(*here)); };
    return made;
  };
}

/// Ranks take their handles from a pool that outlives executions: before each, the same ones lie in the same order.
struct split_arrays : arrays<1> {
  detail::rank_state* any = nullptr;

  void make_plans(team& of) { any = of.state().members[0].get(); }
  void begin() {
    arrays::begin();
    std::map<detail::rank_handle const*, std::unique_ptr<runtime::own_handle>> in_order;
    for (std::size_t k = 0; k < 2 * most_threads; ++k) {
      auto taken = std::make_unique<runtime::own_handle>(*any);
      auto const* const which = taken->reference().handle;
      in_order[which] = std::move(taken);
    }
  }
};

/// The first rank of a part makes it, and the others take it, in another order than they had.
void split_and_sum(member& me, split_arrays& with) {
  auto const r = me.rank();
  member part = me.split(0, -static_cast<int>(r));
  expect(part.rank() == part.size() - 1 - r, "a wrong place in the part");
  allreduce(part, with.in[r], with.out[r], added{});
}
void split_in_two(member& me, split_arrays& with) {
  auto const r = me.rank();
  member part = me.split(r == 1 ? 1 : 0, 0);
  allreduce(part, with.in[r], with.out[r], added{});
}
char const* are_of_two(split_arrays const& with) {
  return with.out[0][0] == 5 && with.out[1][0] == 2 && with.out[2][0] == 5 ? "" : "a wrong sum in a part";
}

/// After a failure the last one to come begins anew for all.
void fail_and_go_on(member& me, arrays<1>& with) {
  auto const r = me.rank();
  try {
    if (r == 1) detail::refuse(me.state(), "rank 1 has had enough");
    allreduce(me, with.in[r], with.out[r], added{});
    expect(false, "a sum without rank 1");
  } catch (std::exception const&) {
    with.in[r][0] = 1L << r;
  }
  me.reset(team::clock::time_point::max());
  allreduce(me, with.in[r], with.out[r], added{});
}
void sum_after_all(member& me, arrays<1>& with) { allreduce(me, with.in[me.rank()], with.out[me.rank()], added{}); }

/// Processes of a host, which have nothing in common but the arena. It lies at one address, so that accesses meet.
class processes {
 public:
  using body = std::function<void(member&)>;

  processes(rank_t number, waits how)
      : bytes_(runtime::arena::bytes_for(runtime::node_list(number, runtime::anywhere), 4096)), memory_(bytes_) {
    for (rank_t r = 0; r < number; ++r) {
      auto& made = all_.emplace_back(std::make_unique<process>());
      made->whole.emplace(made->threads.state(), runtime::domain{.total = number}, number, r,
                          numa::memory::borrowed(memory_.data(), bytes_));
      made->whole->state().shared.patience = patience_of(how);
    }
  }

  void begin() {
    ++round_;
    for (auto& each : all_) {
      runtime::shared_memory& shared = each->whole->state().shared;
      clear(shared);
      shared.failure.clear();
      each->whole->begin(round_, {});
      each->threads.state().begin_generation();
    }
  }
  void run(rank_t r, body& what) {
    member thread(*all_[r]->threads.state().members[0]);
    auto const call = [](void* context, member& me) { (*static_cast<body*>(context))(me); };
    try {
      all_[r]->whole->run_rank(thread, call, &what);
    } catch (std::exception const&) {
      // Each process is told.
    }
  }

 private:
  struct process {
    team threads{team_options{.ranks = 1, .place = placement::unbound}};
    std::optional<team_room::domain_team> whole;
  };

  std::size_t const bytes_;
  numa::memory const memory_;
  std::vector<std::unique_ptr<process>> all_;
  std::uint32_t round_ = 0;
};

template <class Data, class Body, class Fault, class Before>
std::function<std::function<program()>()> in_processes(waits how, Body body, Fault fault, Before before) {
  struct setting {
    processes ranks;
    Data data;
    std::vector<processes::body> bodies;
    explicit setting(waits w) : ranks(2, w) {}

    void begin(std::function<void(member&, Data&)> const& what) {
      data.begin();
      ranks.begin();
      bodies.assign(2, [this, what](member& me) { what(me, data); });
    }
  };
  return [=] {
    auto const here = std::make_shared<setting>(how);
    here->begin(before);
    std::thread other([=] { here->ranks.run(1, here->bodies[1]); });
    here->ranks.run(0, here->bodies[0]);
    other.join();
    return [=] {
      here->begin(body);
      program made;
      for (rank_t r = 0; r < 2; ++r) made.threads.push_back([=] { here->ranks.run(r, here->bodies[r]); });
      made.fault = [=] { return std::string(fault(here->data)); };
      return made;
    };
  };
}

void sum_twice(member& me, arrays<1>& with) {
  auto const r = me.rank();
  allreduce(me, with.in[r], with.out[r], added{});
  with.in[r] = with.out[r];
  allreduce(me, with.in[r], with.out[r], added{});
}

void sum_arrays(member& me, arrays<40>& with) {
  auto const r = me.rank();
  allreduce(me, with.in[r], with.out[r], added{});
  with.in[r].fill(0);
  allreduce(me, with.out[r], added{});
}
char const* arrays_are_six(arrays<40> const& with) {
  for (rank_t r = 0; r < 2; ++r) {
    for (long const each : with.out[r]) {
      if (each != 6) return "a wrong sum";
    }
  }
  return "";
}

/// The reason lies in the arena, too: who hears of the failure reads it there.
void fail_in_one(member& me, arrays<1>& with) {
  auto const r = me.rank();
  if (r == 1) detail::refuse(me.state(), "rank 1 has had enough");
  try {
    allreduce(me, with.in[r], with.out[r], added{});
    expect(false, "a sum without rank 1");
  } catch (std::exception const& told) {
    expect(std::string_view(told.what()).find("enough") != std::string_view::npos, "a failure without its reason");
  }
}

void leave_one(member& me, arrays<1>& with) {
  auto const r = me.rank();
  allreduce(me, with.in[r], with.out[r], added{});
  expect(with.out[r][0] == 3, "a wrong sum");
  if (r == 1) return;
  try {
    allreduce(me, with.in[r], with.out[r], added{});
    expect(false, "a sum without the process that has left");
  } catch (mismatch_error const&) {
  }
}
char const* nothing(arrays<1> const&) { return ""; }

constexpr bounds few{.preemptions = 2, .membarrier = false};
constexpr bounds few_with_naps{.preemptions = 2, .membarrier = false, .naps = 30};

}  // namespace

std::vector<scenario> memberships() {
  using enum waits;
  return {
      {"adopted threads", [] { return joining(polling, &adopted::join_and_sum, 6); }, {.preemptions = 2}},
      {"adopted threads that leave",
       [] { return joining(asking, &adopted::leave_early, 3); },
       {.preemptions = 1, .naps = 30}},
      {"splitting", each<split_arrays>(2, polling, split_and_sum, sums_are(2, 3)), {.preemptions = 1}},
      {"splitting in two", each<split_arrays>(3, polling, split_in_two, are_of_two), {.random = 300}},
      {"going on after a failure",
       each<arrays<1>>(2, polling, fail_and_go_on, sums_are(2, 3), sum_after_all),
       {.preemptions = 2}},
      {"processes", in_processes<arrays<1>>(polling, sum_twice, sums_are(2, 6), sum_twice)},
      {"processes that sleep", in_processes<arrays<1>>(asking, sum_twice, sums_are(2, 6), sum_twice), few},
      {"arrays of processes", in_processes<arrays<40>>(polling, sum_arrays, arrays_are_six, sum_arrays)},
      {"failure in a process", in_processes<arrays<1>>(polling, fail_in_one, nothing, sum_twice)},
      {"leaving of a process", in_processes<arrays<1>>(asking, leave_one, nothing, sum_twice), few_with_naps},
  };
}

}  // namespace coset::memory_test
