// SPDX-License-Identifier: Apache-2.0
// Teams of any size on any machine, and what every rank did or threw.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <typeinfo>
#include <vector>

#include "coset/coset.hpp"
#include "effort.hpp"

namespace coset::team_test {

/// Pinned where every rank gets a core of its own, unbound where ranks share them.
inline team_options options_for(rank_t ranks, waiting wait = waiting::automatic) {
  bool const fits = ranks <= topology::machine().cores();
  return {.ranks = ranks, .place = fits ? placement::compact : placement::unbound, .wait = wait};
}

inline std::vector<rank_t> team_sizes() {
  std::vector<rank_t> all;
  for (rank_t p = 1; p <= 17; ++p) all.push_back(p);
  all.push_back(32);
  // Every second of the large ones: teams of random sizes try the others.
  return test::by_effort<std::vector<rank_t>>({1, 2, 3, 6}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 17, 32}, all);
}

inline std::string size_name(::testing::TestParamInfo<rank_t> const& info) { return "P" + std::to_string(info.param); }

/// Which type of exception left a rank, and what it said; empty where none did.
struct outcome {
  std::string type;
  std::string message;
};

template <class Error>
std::string type_name() {
  return typeid(Error).name();
}

template <class Body>
outcome outcome_of(Body&& body) {
  try {
    body();
  } catch (std::exception const& thrown) {
    return {typeid(thrown).name(), thrown.what()};
  } catch (int) {  // what has no message
    return {typeid(int).name(), ""};
  }
  return {};
}

/// Runs `body` on every rank and tells what left it; run() itself sees no exception.
inline std::vector<outcome> outcomes(team& ranks, std::function<void(member&)> const& body) {
  std::vector<outcome> all(ranks.size());
  ranks.run([&](member& me) { all[me.rank()] = outcome_of([&] { body(me); }); });
  return all;
}

template <class Error>
void expect_everybody_threw(std::vector<outcome> const& all, std::vector<std::string> const& words = {}) {
  for (std::size_t r = 0; r < all.size(); ++r) {
    EXPECT_EQ(all[r].type, type_name<Error>()) << "rank " << r << ": " << all[r].message;
    for (std::string const& word : words) {
      EXPECT_NE(all[r].message.find(word), std::string::npos)
          << "rank " << r << ": '" << word << "' is not in: " << all[r].message;
    }
  }
}

/// What a team that works does.
inline void expect_works(team& ranks) {
  std::atomic<rank_t> right = 0;
  ranks.run([&](member& me) {
    std::vector<int> sums(100, static_cast<int>(me.rank()) + 1);
    allreduce(me, sums);
    int const expected = static_cast<int>(me.size() * (me.size() + 1) / 2);
    right += std::count(sums.begin(), sums.end(), expected) == 100 ? 1 : 0;
  });
  EXPECT_EQ(right, ranks.size());
}

}  // namespace coset::team_test
