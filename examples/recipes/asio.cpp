// SPDX-License-Identifier: Apache-2.0
// A program around an event loop: a team at work beside it, requests that complete inside it, and a reduction of what the
// handlers of a thread pool add. docs/recipes.md explains them.
#include <coset/async/progress.hpp>
#include <coset/coset.hpp>

#include <asio.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

/// The event loop's thread is not a rank: a thread of a pool runs the team, and posts the end back.
bool team_beside_the_loop() {
  asio::io_context events;
  asio::thread_pool worker(1);  // before the team: run() is rank 0 here
  coset::team team({.ranks = 2, .place = coset::placement::unbound});
  auto work = asio::make_work_guard(events);
  double total = 0;
  asio::post(worker, [&] {
    double sum = 0;
    team.run([&](coset::member& me) {
      double const all = coset::allreduce(me, 1.0 + me.rank());
      if (me.rank() == 0) sum = all;
    });
    asio::post(events, [&, sum] {
      total = sum;
      work.reset();
    });
  });
  events.run();
  worker.join();
  return total == 3;
}

/// Each rank's thread has an event loop, which advances the rank's requests between other events.
bool requests_inside_the_loop() {
  coset::team team({.ranks = 2, .place = coset::placement::unbound});
  std::vector<int> right(2);
  team.run([&](coset::member& me) {
    asio::io_context events(1);
    coset::progress loop;
    std::function<void()> const advance = [&] {
      if (loop.poll()) asio::post(events, advance);
    };
    std::vector<float> x(100'000, 1);
    loop.then(coset::start_allreduce(me, x), [&] { right[me.rank()] = x.back() == 2 ? 1 : 0; });
    asio::post(events, advance);
    events.run();
  });
  return right == std::vector<int>(2, 1);
}

/// Handlers of a pool add to a reducer: they are no ranks, and none waits for another.
bool handlers_add() {
  coset::reducer<long> counts(1000);
  asio::thread_pool pool(2);
  for (int handler = 0; handler < 8; ++handler) {
    asio::post(pool, [&counts] {
      auto mine = counts.local();
      for (std::size_t i = 0; i < 100'000; ++i) ++mine[i * 7 % 1000];
    });
  }
  pool.join();
  std::vector<long> bins(1000);
  counts.combine_into(bins);
  return bins == std::vector<long>(1000, 800);
}

}  // namespace

int main() {
  bool const right = team_beside_the_loop() && requests_inside_the_loop() && handlers_add();
  std::puts(right ? "all three are right" : "wrong");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
