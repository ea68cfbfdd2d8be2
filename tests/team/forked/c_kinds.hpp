// SPDX-License-Identifier: Apache-2.0
// The same of C's handles.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>

#include "coset/coset.h"
#include "team/forked/kinds.hpp"

namespace coset::team_test {

constexpr std::int64_t minute = 60'000'000'000;  ///< in nanoseconds

inline void require(coset_status status) {
  if (status == COSET_ARGUMENT_ERROR) throw argument_error(coset_error_message());
  if (status != COSET_SUCCESS) throw std::runtime_error(coset_error_message());
}

struct c_team : held {
  coset_team* ranks = nullptr;
  c_team() {
    coset_team_options options = COSET_TEAM_OPTIONS;
    options.ranks = 2;
    options.placement = COSET_UNBOUND;
    require(coset_team_create(&options, &ranks));
  }
  ~c_team() override { require(coset_team_free(ranks)); }
  void use() override {
    require(coset_team_run(
        ranks, [](coset_member* me, void*) -> int { return coset_barrier(me); }, nullptr));
  }
  bool is_right() override {
    use();
    return true;
  }
};

struct c_member : held {
  coset_team* ranks = nullptr;
  coset_member* me = nullptr;
  int value = 5;
  c_member() {
    require(coset_team_adopt(1, nullptr, &ranks));
    require(coset_team_join(ranks, 0, minute, &me));
  }
  ~c_member() override {
    require(coset_team_leave(me));
    require(coset_team_free(ranks));
  }
  void use() override { require(coset_barrier(me)); }
  bool is_right() override {
    require(coset_allreduce(me, &value, &value, 1, COSET_INT32, COSET_PLUS));
    return value == 5;
  }
};

struct c_part : c_member {
  coset_member* part = nullptr;
  c_part() { require(coset_member_split(me, 0, 0, &part)); }
  ~c_part() override { require(coset_member_free(part)); }
  void use() override { require(coset_barrier(part)); }
};

struct c_plan : c_member {
  coset_plan* made = nullptr;
  c_plan() { require(coset_plan_create(ranks, COSET_VERB_ALLREDUCE, 1, COSET_INT32, COSET_PLUS, nullptr, &made)); }
  ~c_plan() override { require(coset_plan_free(made)); }
  void use() override { require(coset_plan_execute(made, me, &value, &value)); }
};

/// A request that is not complete, as another rank has not come.
struct c_request : held {
  coset_team* ranks = nullptr;
  std::atomic<bool> may_come = false;
  std::optional<std::thread> other;
  coset_member* me = nullptr;
  coset_request under_way{};
  std::uint32_t const process = numa::process_number();

  c_request() {
    require(coset_team_adopt(2, nullptr, &ranks));
    other.emplace([this] {
      coset_member* second = nullptr;
      require(coset_team_join(ranks, 1, minute, &second));
      while (!may_come) std::this_thread::yield();
      coset_request its{};
      require(coset_start_barrier(second, &its));
      require(coset_request_wait(&its));
      require(coset_team_leave(second));
    });
    require(coset_team_join(ranks, 0, minute, &me));
    require(coset_start_barrier(me, &under_way));
  }
  ~c_request() override {
    require(coset_request_free(&under_way));
    require(coset_team_leave(me));
    if (numa::process_number() == process)
      other->join();
    else
      new (&other) std::optional<std::thread>();  // the thread is not there to be joined
    require(coset_team_free(ranks));
  }
  void use() override {
    bool complete = false;
    require(coset_request_test(&under_way, &complete));
  }
  bool is_right() override {
    may_come = true;
    require(coset_request_wait(&under_way));
    return true;
  }
};

struct c_reducer : held {
  coset_reducer* sums = nullptr;
  void add() {
    void* at = nullptr;
    require(coset_reducer_local(sums, 0, 10, &at));
    static_cast<int*>(at)[3] += 1;
  }
  c_reducer() {
    require(coset_reducer_create(10, COSET_INT32, COSET_PLUS, nullptr, nullptr, &sums));
    add();
  }
  ~c_reducer() override { require(coset_reducer_free(sums)); }
  void use() override {
    if (!is_right()) throw std::runtime_error("a wrong sum");
  }
  bool is_right() override {
    std::array<int, 10> target{};
    require(coset_reducer_combine(sums, target.data(), nullptr));
    add();
    return target[3] == 1;
  }
};

}  // namespace coset::team_test
