// SPDX-License-Identifier: Apache-2.0
// Kinds of objects of which a forked child finds its parent's.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "coset/detail/task_run.hpp"
#include "numa/process/fork.hpp"
#include "support/teams.hpp"

namespace coset::team_test {

/// An object, and what is done with it. use() throws what it is refused with.
struct held {
  virtual ~held() = default;
  virtual void use() = 0;
  /// In the parent, afterwards.
  virtual bool is_right() = 0;
};

struct own_team : held {
  team ranks{options_for(2)};
  void use() override {
    ranks.run([](member& me) { barrier(me); });
  }
  bool is_right() override {
    std::atomic<int> right = 0;
    ranks.run([&](member& me) { right += allreduce(me, 1) == 2; });
    return right == 2;
  }
};

struct reserving : own_team {
  void use() override { ranks.reserve(1 << 20); }
};

struct making_plans : own_team {
  void use() override { plan<int> const made(ranks, verb::allreduce, 10); }
};

struct combining_by_a_team : own_team {
  reducer<int> sums{1 << 20};  // worth several threads
  void use() override {
    sums.local()[3] += 1;
    std::vector<int> target(sums.size());
    sums.combine_into(target, ranks);
  }
};

struct joining : held {
  std::unique_ptr<team> ranks = team::adopt(1);
  void use() override { auto const me = ranks->join(0); }
  bool is_right() override {
    auto me = ranks->join(0);
    return allreduce(*me, 5) == 5;
  }
};

struct guard : held {
  std::unique_ptr<team> ranks = team::adopt(1);
  member_guard me{ranks->join(0)};
  void use() override { barrier(*me); }
  bool is_right() override { return allreduce(*me, 5) == 5; }
};

struct viewing : guard {
  std::array<int, 10> values{};
  void use() override { static_cast<void>(allreduce_view(*me, values)); }
};

struct resetting : guard {
  void use() override { me->reset(member::clock::now()); }
};

struct splitting : guard {
  void use() override { static_cast<void>(me->split(0, 0)); }
};

struct starting : guard {
  std::array<int, 10> values{};
  void use() override { start_allreduce(*me, values).wait(); }
};

struct part : guard {
  member mine{me->split(0, 0)};
  void use() override { barrier(mine); }
  bool is_right() override { return allreduce(mine, 5) == 5; }
};

struct node_part : guard {
  member mine{me->node_team()};
  void use() override { static_cast<void>(mine.node_team()); }
  bool is_right() override { return allreduce(mine, 5) == 5; }
};

struct planned : guard {
  plan<int> made{*ranks, verb::allreduce, 10};
  std::array<int, 10> values{};
  void use() override { made.execute(*me, values); }
  bool is_right() override {
    values.fill(5);
    made.execute(*me, values);
    return values[9] == 5;
  }
};

struct tasks : held {
  std::unique_ptr<team> ranks = detail::make_task_team(2);
  std::array<std::array<int, 10>, 2> values{};
  std::array<std::optional<request>, 2> started;
  void use() override {
    detail::task_run under_way(*ranks);
    for (rank_t r : {0U, 1U}) {
      auto begin = [](void* of, member& me) {
        auto& self = *static_cast<tasks*>(of);
        self.started[me.rank()] = start_allreduce(me, self.values[me.rank()]);
      };
      under_way.start(r, begin, this);
    }
    for (int sweeps = 0; sweeps < 10; ++sweeps) {
      for (rank_t r : {0U, 1U}) under_way.go_on(r);
    }
    under_way.end();
  }
  bool is_right() override {
    for (auto& each : values) each.fill(2);
    use();
    return values[0][9] == 4 && values[1][0] == 4;
  }
};

/// Another thread's call is missing until finish().
struct in_flight : held {
  std::unique_ptr<team> ranks = team::adopt(2);
  std::atomic<bool> may_come = false;
  std::optional<std::thread> other{[this] {
    auto second = ranks->join(1);
    std::array<int, 10> nothing{};
    while (!may_come) std::this_thread::yield();
    start_allreduce(*second, nothing).wait();
  }};
  member_guard me{ranks->join(0)};
  std::array<int, 10> values = [] {
    std::array<int, 10> all;
    all.fill(3);
    return all;
  }();
  request under_way{start_allreduce(*me, values)};
  std::uint32_t const process = numa::process_number();

  void use() override { static_cast<void>(under_way.test()); }
  bool is_right() override {
    may_come = true;
    under_way.wait();
    return values[9] == 3;
  }
  ~in_flight() override {
    if (numa::process_number() == process)
      other->join();
    else
      new (&other) std::optional<std::thread>();  // the thread is not there to be joined
  }
};

struct waiting_for_it : in_flight {
  void use() override { under_way.wait(); }
};

struct keeping_reducer : held {
  reducer<int> sums{10};
  keeping_reducer() {
    std::thread([&] { sums.local()[3] += 1; }).join();  // a copy of a thread that is not there any more
    sums.local()[3] += 1;
  }
  void use() override {
    if (!is_right()) throw std::runtime_error("a wrong sum");
  }
  bool is_right() override {
    std::array<int, 10> target{};
    sums.combine_into(target);
    bool const right = target[3] == 2;
    sums.local()[3] += 2;
    return right;
  }
};

struct keeping_sparse : keeping_reducer {
  sparse_reducer<int> sparse{1000};
  keeping_sparse() { sparse.local()[7] += 2; }
  bool is_right() override {
    std::vector<int> target(1000);
    sparse.combine_into(target);
    sparse.local()[7] += 2;
    return target[7] == 2 && keeping_reducer::is_right();
  }
};

struct keeping_joint : keeping_reducer {
  std::array<int, 10> one{};
  double other = 0;
  joint_reducer<int, value_of<double>> joint{one, other};
  void add() {
    auto [mine, single] = joint.local();
    mine[7] += 2;
    single += 1;
  }
  keeping_joint() { add(); }
  bool is_right() override {
    joint.combine(combining::assign);
    add();
    return one[7] == 2 && other == 1 && keeping_reducer::is_right();
  }
};

struct keeping_buffer : guard {
  buffer<int> numbers{*me, 1000};
  void use() override { numbers[999] = 7; }
  bool is_right() override { return numbers[999] == 0 && guard::is_right(); }
};

}  // namespace coset::team_test
