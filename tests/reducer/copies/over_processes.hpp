// SPDX-License-Identifier: Apache-2.0
// What tests of reducers over processes share: hosts and processes that are threads of this one.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "effort.hpp"
#include "support/hosts.hpp"
#include "team/team_state.hpp"

namespace coset::team_test {

inline std::vector<std::vector<host_shape>> shapes() {
  std::vector<std::vector<host_shape>> const few{{{2, 1}, {2}}, {{2, 2}}, {{1}, {3}}};
  std::vector<std::vector<host_shape>> more{few};
  more.insert(more.end(), {{{1, 1}}, {{4}}, {{3, 1, 2}}, {{1}, {2, 1}, {1}}, {{2}, {2}}});
  return test::by_effort(few, more, more);
}

/// One of what each process has.
template <class Thing>
class of_processes {
 public:
  template <class... Arguments>
  explicit of_processes(hosts& on, Arguments const&... arguments) : on_(on) {
    for (std::size_t p = 0; p < on.processes(); ++p) things_.push_back(std::make_unique<Thing>(arguments...));
  }
  std::size_t number(member& me) const {
    std::size_t process = 0;
    while (&on_.state(process) != &me.state().team) ++process;
    return process;
  }
  Thing& operator()(member& me) const { return *things_[number(me)]; }
  Thing& operator[](std::size_t process) const { return *things_[process]; }

 private:
  hosts& on_;
  std::vector<std::unique_ptr<Thing>> things_;
};

inline void expect_well(std::vector<outcome> const& left) {
  for (auto const& process : left) EXPECT_EQ(process.message, "");
}

/// The sum of all ranks' numbers.
inline double triangle(rank_t ranks) { return ranks * (ranks - 1.0) / 2; }

}  // namespace coset::team_test
