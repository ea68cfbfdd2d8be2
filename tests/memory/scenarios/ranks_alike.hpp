// SPDX-License-Identifier: Apache-2.0
// Scenarios in which every rank does the same.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "memory/scenarios/explored_team.hpp"

namespace coset::memory_test {

using bodies = std::vector<explored_team::body>;

/// What each rank gives and gets in a few operations; on no thread's stack, so that accesses by others are seen.
template <std::size_t Count>
struct arrays {
  std::array<std::array<long, Count>, most_threads> in{}, out{};

  void begin() {
    for (std::size_t r = 0; r < most_threads; ++r) {
      in[r].fill(1L << r);
      out[r].fill(-1);
    }
  }
};

template <class Data>
struct setting {
  explored_team ranks;
  Data data;
  setting(rank_t number, waits how) : ranks(number, how) {}
};

/// A scenario in which every rank does the same. Before, all make the plans that it takes, and come to an end.
template <class Data, class Body, class Fault, class Before>
std::function<std::function<program()>()> each(rank_t number, waits how, Body body, Fault fault, Before before) {
  return [=] {
    auto const here = std::make_shared<setting<Data>>(number, how);
    if constexpr (requires { here->data.make_plans(here->ranks.whole()); }) here->data.make_plans(here->ranks.whole());
    here->data.begin();
    here->ranks.run(bodies(number, [here, before](member& me) { before(me, here->data); }));
    bodies const all(number, [here, body](member& me) { body(me, here->data); });
    return [=] {
      here->data.begin();
      return here->ranks.of(all, [here, fault] { return std::string(fault(here->data)); });
    };
  };
}

template <class Data, class Body, class Fault>
auto each(rank_t number, waits how, Body body, Fault fault) {
  return each<Data>(number, how, body, fault, body);
}

inline auto sums_are(rank_t number, long sum) {
  return [=](arrays<1> const& with) {
    for (rank_t r = 0; r < number; ++r) {
      if (with.out[r][0] != sum) return "a wrong sum";
    }
    return "";
  };
}

}  // namespace coset::memory_test
