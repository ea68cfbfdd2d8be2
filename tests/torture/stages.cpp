// SPDX-License-Identifier: Apache-2.0
#include "torture/stages.hpp"

#include <omp.h>
#include <oneapi/tbb/parallel_for.h>

#include <exception>
#include <future>
#include <mutex>
#include <thread>

#include "coset/omp.hpp"
#include "coset/tbb.hpp"

namespace coset::torture {
namespace {

/// Keeps the first exception of several threads.
class first_thrown {
 public:
  template <class Body>
  void guard(Body&& body) noexcept {
    try {
      body();
    } catch (...) {
      std::lock_guard const lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr thrown_;
};

class own : public stage {
 public:
  explicit own(trial& t)
      : team_({.ranks = t.ranks,
               .place = t.draw(2) == 0 ? placement::compact : placement::unbound,
               .wait = waiting(t.draw(4) == 0 ? 3 : 0)}) {}
  void run(script const& s) override {
    team_.run([&](member& me) { play(s, me); });
  }
  std::optional<plan<int>> plan_of(std::size_t count) override { return plan<int>(team_, verb::allreduce, count); }

 private:
  team team_;
};

/// Threads join once all of them are there: what the system refuses must not be a wait for the deadline.
class adopted : public stage {
 public:
  explicit adopted(trial& t) : team_(team::adopt(t.ranks)) {}
  void run(script const& s) override {
    first_thrown all;
    std::promise<bool> are_there;
    std::shared_future<bool> const may_join = are_there.get_future().share();
    auto const work = [&](rank_t r) {
      if (!may_join.get()) return;
      auto me = team_->join(r, team::clock::now() + std::chrono::seconds(4));  // before the judge's patience ends
      play(s, *me);
    };
    {
      std::vector<std::jthread> threads;
      threads.reserve(team_->size());
      bool started = false;
      all.guard([&] {
        for (rank_t r = 1; r < team_->size(); ++r) threads.emplace_back([&, r] { all.guard([&] { work(r); }); });
        started = true;
      });
      are_there.set_value(started);
      all.guard([&] { work(0); });
    }
    all.rethrow();
  }
  std::optional<plan<int>> plan_of(std::size_t count) override { return plan<int>(*team_, verb::allreduce, count); }

 private:
  std::unique_ptr<team> team_;
};

class openmp : public stage {
 public:
  explicit openmp(trial& t) : ranks_(static_cast<int>(t.ranks)) { omp_set_dynamic(0); }
  void run(script const& s) override {
    first_thrown all;
#pragma omp parallel num_threads(ranks_)
    all.guard([&] {
      omp::member_here me;
      play(s, me);
    });
    all.rethrow();
  }

 private:
  int const ranks_;
};

class tasks : public stage {
 public:
  explicit tasks(trial& t) : team_(t.ranks), ranks_(t.ranks) {}
  void run(script const& s) override {
    for (rank_t r = 0; r < ranks_; ++r) s.prepare(r, ranks_);
    for (std::uint32_t round = 0; round < trial::rounds; ++round) {
      run_round(s, round);
      s.of(0, round).combine();
      for (rank_t r = 0; r < ranks_; ++r) s.check(r, round);
    }
  }
  std::optional<plan<int>> plan_of(std::size_t count) override {
    return plan<int>(static_cast<team&>(team_), verb::allreduce, count);
  }

 private:
  /// Of a run that fails between two tasks a reducer has what the first one added; who goes on has to take it out.
  void run_round(script const& s, std::uint32_t round) try {
    team_.run([&](member& me) {
      s.befall(me, round);
      return s.of(me.rank(), round).start(me);
    });
  } catch (...) {
    s.of(0, round).combine();
    throw;
  }

  tbb::team team_;
  rank_t const ranks_;
};

}  // namespace

std::vector<team_kind> kinds_here() {
  return {team_kind::own, team_kind::adopted, team_kind::openmp, team_kind::tasks};
}

int play_launched(int, char**) { return 2; }

std::unique_ptr<stage> make_stage(trial& t) {
  switch (t.where.team) {
    case team_kind::own:
      return std::make_unique<own>(t);
    case team_kind::adopted:
      return std::make_unique<adopted>(t);
    case team_kind::openmp:
      return std::make_unique<openmp>(t);
    default:
      return std::make_unique<tasks>(t);
  }
}

}  // namespace coset::torture
