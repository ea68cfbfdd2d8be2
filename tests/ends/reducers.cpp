// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "coset/coset.hpp"
#include "uses.hpp"

namespace coset::ends {
namespace {

constexpr std::size_t length = 64;
using numbers = std::vector<long>;

bool adds(auto& sum) {
  numbers total(length);
  for (int round = 0; round < 2; ++round) {
    sum.local()[1] += 1;
    std::thread([&] { sum.local()[1] += 1; }).join();
    sum.combine_into(total);
  }
  return total[1] == 4;
}

bool dense() {
  reducer<long> sum(length);
  return adds(sum);
}

bool sparse() {
  sparse_reducer<long> sum(length);
  return adds(sum);
}

bool capped() {
  sparse_reducer<long> sum(length, {.block_bytes = 0, .most_bytes = 1 << 20});
  return adds(sum);
}

bool joint() {
  numbers x(length);
  long y = 0;
  joint_reducer sums(x, y);
  for (int round = 0; round < 2; ++round) {
    auto [mine, one] = sums.local();
    mine[1] += 1;
    one += 1;
    sums.combine();
  }
  return x[1] == 2 && y == 2;
}

bool by_ranks() {
  team ranks({.ranks = 2, .place = placement::unbound});
  reducer<long> sum(length);
  numbers total(length);
  ranks.run([&](member& me) {
    sum.local()[1] += 1;
    sum.local(me)[2] += 1;
    sum.combine_into(total, me);
  });
  return total[1] == 2 && total[2] == 2;
}

/// The thread has a copy of it from before, if it was here before, which no other thread gets.
bool one_that_is_kept() {
  static auto& sum = *new reducer<long>(length);
  bool right = true;
  for (int round = 0; round < 2; ++round) {
    long* const mine = sum.local().data();
    mine[1] += 1;
    std::thread([&] {
      right = right && sum.local().data() != mine;
      sum.local()[1] += 1;
    }).join();
    numbers total(length);
    sum.combine_into(total);
    right = right && total[1] == 2;
  }
  return right;
}

constexpr std::array all = {
    use{"dense reducer", dense}, use{"sparse reducer", sparse},     use{"sparse reducer with a limit", capped},
    use{"joint reducer", joint}, use{"reducer of ranks", by_ranks}, use{"reducer that is kept", one_that_is_kept}};

}  // namespace

std::span<use const> of_reducers() { return all; }

}  // namespace coset::ends
