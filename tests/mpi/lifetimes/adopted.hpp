// SPDX-License-Identifier: Apache-2.0
// Teams over processes of threads that join and leave.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "mpi/processes.hpp"

namespace coset::mpi_test {

/// The threads of this process: thread 0 is the caller, as in an OpenMP region.
struct region {
  explicit region(rank_t threads) : size(threads) {}

  void run(std::function<void(rank_t)> const& body) const {
    std::vector<std::thread> others;
    for (rank_t t = 1; t < size; ++t) others.emplace_back(body, t);
    body(0);
    for (std::thread& t : others) t.join();
  }

  rank_t const size;
};

struct adopted {
  region threads;
  std::unique_ptr<team> here;
  std::unique_ptr<mpi::team> all;

  explicit adopted(std::uint64_t seed, mpi::options options = {})
      : threads(threads_of(process(), seed)),
        here(team::adopt(threads.size)),
        all(std::make_unique<mpi::team>(MPI_COMM_WORLD, *here, options)) {}

  /// Once on every thread; the first fault of this process.
  std::string faults(std::function<std::string(member&)> const& body) const {
    std::vector<std::string> found(threads.size);
    threads.run([&](rank_t t) {
      auto const thrown = outcome_of([&] {
        auto me = all->join(t);
        found[t] = body(*me);
      });
      if (!thrown.type.empty()) found[t] = "thread " + std::to_string(t) + " threw " + thrown.message;
    });
    for (auto const& fault : found) {
      if (!fault.empty()) return fault;
    }
    return "";
  }

  void expect_no_faults(std::function<std::string(member&)> const& body) const {
    EXPECT_EQ(said_anywhere(faults(body)), "") << all->describe();
  }

  void expect_works() const { expect_no_faults(sums); }

  static std::string sums(member& me) {
    for (std::size_t const count : {1u, 100u, 30'000u}) {
      std::vector<std::int64_t> in(count, me.rank() + 1), out(count);
      allreduce(me, in, out);
      auto const expected = static_cast<std::int64_t>(me.size()) * (me.size() + 1) / 2;
      if (std::ranges::count(out, expected) != static_cast<std::ptrdiff_t>(count)) return "a sum is wrong";
    }
    return "";
  }
};

}  // namespace coset::mpi_test
