// SPDX-License-Identifier: Apache-2.0
// A team whose ranks are threads of an explored program.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coset/coset.hpp"
#include "coset/detail/task_run.hpp"
#include "memory/explorer/explorer.hpp"
#include "team/team_state.hpp"

namespace coset::memory_test {

/// Sums whose folds are compiled here, so that the explorer sees what they touch.
struct added {
  long operator()(long a, long b) const noexcept { return a + b; }
};

/// How ranks wait: they poll for ever, or sleep after the first look in vain, which takes them through all that a rank
/// asks when it waits for long; also where the system has no membarrier.
enum class waits : std::uint8_t { polling, asking, asking_without_membarrier };

runtime::patience patience_of(waits) noexcept;

/// Lines and marks are as before the first operation.
void clear(runtime::shared_memory&);

class explored_team {
 public:
  using body = std::function<void(member&)>;

  explored_team(rank_t ranks, waits);

  /// The bodies as a program that begins as a new team does, wherever an earlier execution ended. Each has been run once
  /// before, so that plans are there.
  program of(
      std::vector<body> const&, std::function<std::string()> const& fault = [] { return std::string(); });
  /// By threads of the system, unexplored.
  void run(std::vector<body> const&);

  team& whole() noexcept { return *ranks_; }
  detail::team_state& state() noexcept { return ranks_->state(); }

 private:
  void begin_anew();

  /// An idle team's threads would end it later, in the middle of another scenario, whose handles of ranks would not be the same.
  struct ending {
    ~ending() { end_idle_teams(); }
  } comes_last_;
  std::unique_ptr<team> ranks_;
  std::unique_ptr<detail::task_run> open_;
};

}  // namespace coset::memory_test
