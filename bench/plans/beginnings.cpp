// SPDX-License-Identifier: Apache-2.0
// What begins with a call: a run after its team has idled, beside a thread that a bare futex wakes; lengths that are new; reductions
// that are made for one loop.
#include <benchmark/benchmark.h>
#include <linux/futex.h>
#include <omp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <coset/coset.hpp>
#include <coset/omp.hpp>
#include <thread>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

void idle() {
  for (auto const until = clock_type::now() + std::chrono::milliseconds(2); clock_type::now() < until;) {
  }
}

/// Each time after two milliseconds in which the caller alone has worked.
template <class Action>
void measure_after_idling(benchmark::State& state, Action action) {
  for (auto _ : state) {
    idle();
    auto const begin = clock_type::now();
    action();
    state.SetIterationTime(std::chrono::duration<double>(clock_type::now() - begin).count());
  }
}

void run_after_idling(benchmark::State& state) {
  coset::team two({.ranks = 2});
  measure_after_idling(state, [&] { two.run([](coset::member&) {}); });
}

/// There and back, as a run that returns when all bodies have ended.
class woken {
 public:
  explicit woken(bool is_pinned) : is_pinned_(is_pinned) {}
  ~woken() {
    ends_ = true;
    send(there_);
  }
  void there_and_back() {
    std::uint32_t const now = send(there_);
    while (back_.load(std::memory_order_acquire) != now) {
    }
  }

 private:
  static std::uint32_t send(std::atomic<std::uint32_t>& word) {
    std::uint32_t const now = word.fetch_add(1, std::memory_order_release) + 1;
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    return now;
  }
  void answer() {
    if (is_pinned_) {
      cpu_set_t second;
      CPU_ZERO(&second);
      CPU_SET(1, &second);
      sched_setaffinity(0, sizeof second, &second);
    }
    for (std::uint32_t seen = 0; !ends_; ++seen) {
      while (there_.load(std::memory_order_acquire) == seen)
        syscall(SYS_futex, &there_, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
      back_.store(seen + 1, std::memory_order_release);
    }
  }

  bool const is_pinned_;
  std::atomic<bool> ends_ = false;
  alignas(128) std::atomic<std::uint32_t> there_ = 0;
  alignas(128) std::atomic<std::uint32_t> back_ = 0;
  std::jthread thread_{[this] { answer(); }};
};

void futex_after_idling(benchmark::State& state) {
  woken other(std::thread::hardware_concurrency() > 1);
  measure_after_idling(state, [&] { other.there_and_back(); });
}

constexpr std::size_t lengths = 200, first_length = 5000;  // one class

/// 200 lengths of one class, each once, on a team that has met another one of it; or one length as often.
template <class Length>
void measure_lengths(benchmark::State& state, Length length) {
  setenv("COSET_IDLE", "0", 1);  // an idle team knows them
  for (auto _ : state) {
    coset::team two({.ranks = 2});
    two.run([&](coset::member& me) {
      std::vector<float> values(first_length + lengths, 1.0f);
      auto const sum = [&](std::size_t n) { coset::allreduce(me, std::span(values).first(n)); };
      for (std::size_t n : {first_length - 8, first_length - 8, first_length}) sum(n);
      coset::barrier(me);
      auto const begin = clock_type::now();
      for (std::size_t k = 0; k < lengths; ++k) sum(length(k));
      if (me.rank() == 0)
        state.SetIterationTime(std::chrono::duration<double>(clock_type::now() - begin).count() / lengths);
    });
  }
  unsetenv("COSET_IDLE");
}

/// Sixteen lengths of as many classes, 64 B to 2 MiB, each for the first time on a team that has met none of them.
void first_of_a_class(benchmark::State& state) {
  setenv("COSET_IDLE", "0", 1);  // an idle team knows them
  constexpr std::size_t classes = 16, first = 16;
  for (auto _ : state) {
    coset::team two({.ranks = 2});
    two.reserve(first << classes << 3);
    std::vector<float> values[2];
    two.run([&](coset::member& me) {
      auto& mine = values[me.rank()];
      mine.assign(first << classes, 1.0f);
      double spent = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        coset::barrier(me);
        auto const begin = clock_type::now();
        coset::allreduce(me, std::span(mine).first(first << k));
        double const once = std::chrono::duration<double>(clock_type::now() - begin).count();
        coset::barrier(me);
        auto const again = clock_type::now();
        coset::allreduce(me, std::span(mine).first(first << k));
        spent += once - std::chrono::duration<double>(clock_type::now() - again).count();
      }
      if (me.rank() == 0) state.SetIterationTime(spent / classes);
    });
  }
  unsetenv("COSET_IDLE");
}

void new_length(benchmark::State& state) {
  measure_lengths(state, [](std::size_t k) { return first_length + 1 + k; });
}
void length_again(benchmark::State& state) {
  measure_lengths(state, [](std::size_t) { return first_length; });
}

void add_in_a_region(coset::omp::reduction<double>& sum, std::size_t at) {
#pragma omp parallel num_threads(2)
  {
    auto mine = sum.local();
    mine[at] += 1;
    sum.combine();
  }
}

void reduction_kept(benchmark::State& state) {
  std::vector<double> bins(static_cast<std::size_t>(state.range(0)));
  coset::omp::reduction<double> sum(bins);
  for (auto _ : state) add_in_a_region(sum, bins.size() / 2);
}

void reduction_made_anew(benchmark::State& state) {
  std::vector<double> bins(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    coset::omp::reduction<double> sum(bins);
    add_in_a_region(sum, bins.size() / 2);
  }
}

void clause(benchmark::State& state) {
  std::vector<double> bins(static_cast<std::size_t>(state.range(0)));
  std::size_t const n = bins.size();
  double* const data = bins.data();
  for (auto _ : state) {
#pragma omp parallel num_threads(2) reduction(+ : data[:n])
    data[n / 2] += 1;
  }
}

BENCHMARK(run_after_idling)->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(300);
BENCHMARK(futex_after_idling)->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(300);
BENCHMARK(first_of_a_class)->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(50);
BENCHMARK(new_length)->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(50);
BENCHMARK(length_again)->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(50);
BENCHMARK(reduction_kept)->Arg(16)->Arg(256)->Arg(4096)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(reduction_made_anew)->Arg(16)->Arg(256)->Arg(4096)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(clause)->Arg(16)->Arg(256)->Arg(4096)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
