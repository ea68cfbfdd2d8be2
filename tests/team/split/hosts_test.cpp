// SPDX-License-Identifier: Apache-2.0
// Teams split from teams over hosts that are simulated in one process, so that sanitizers see all of it.
#include <random>

#include "support/hosts.hpp"

#include "coset/verbs/allgather.hpp"

namespace coset::team_test {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool sees_one_mapping_only = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool sees_one_mapping_only = true;
#else
constexpr bool sees_one_mapping_only = false;
#endif
#else
constexpr bool sees_one_mapping_only = false;
#endif

struct hosts_case {
  std::vector<host_shape> shapes;
  bool one_proxy;
};

class SplitOfHosts : public ::testing::TestWithParam<hosts_case> {
 protected:
  void SetUp() override {
    bool const maps_twice =
        std::ranges::any_of(GetParam().shapes, [](host_shape const& shape) { return shape.size() > 1; });
    if (maps_twice && sees_one_mapping_only) GTEST_SKIP() << "parts of a host's processes map a file, each for itself";
  }
  void expect_that_all_returned(std::vector<outcome> const& left) {
    for (outcome const& each : left) EXPECT_EQ(each.message, "");
  }
};

TEST_P(SplitOfHosts, PartsHaveTheirRanksInTheOrderOfKeys) {
  hosts on(GetParam().shapes, GetParam().one_proxy);
  std::mt19937 draw(1);
  for (int turn = 0; turn < 12; ++turn) {
    // With one proxy: all ranks, and themselves alone.
    std::vector<int> colours(on.size()), keys(on.size());
    for (rank_t r = 0; r < on.size(); ++r) {
      colours[r] = GetParam().one_proxy ? (turn % 2 == 0 ? 0 : static_cast<int>(r)) : static_cast<int>(draw() % 3) - 1;
      keys[r] = GetParam().one_proxy ? 0 : static_cast<int>(draw() % on.size());
    }
    std::atomic<rank_t> right = 0;
    expect_that_all_returned(on.run([&](member& me) {
      member part = me.split(colours[me.rank()], keys[me.rank()]);
      member again = part.split(0, 0);
      std::vector<rank_t> members(part.size());
      allgather(again, std::array{me.rank()}, members);
      bool fits = again.rank() == part.rank() && members[part.rank()] == me.rank();
      for (std::size_t k = 0; k < members.size(); ++k) {
        fits = fits && colours[members[k]] == colours[me.rank()];
        fits = fits &&
               (k == 0 || std::pair(keys[members[k - 1]], members[k - 1]) < std::pair(keys[members[k]], members[k]));
      }
      std::vector<double> long_one(20'000, 1.0), short_one(3, 1.0);
      request first = start_allreduce(part, long_one), second = start_allreduce(again, short_one);
      fits = fits && allreduce(me, 1u) == me.size();
      second.wait();
      first.wait();
      right += fits && long_one[19'999] == part.size() && short_one[0] == part.size();
    }));
    EXPECT_EQ(right, on.size());
  }
}

/// The network tells few numbers apart: each part gets one that none of its ranks has.
TEST_P(SplitOfHosts, LivePartsHaveNumbersOfTheirOwn) {
  hosts on(GetParam().shapes, GetParam().one_proxy);
  std::atomic<rank_t> right = 0;
  expect_that_all_returned(on.run([&](member& me) {
    member first = me.split(0), second = me.split(0);
    bool fits = true;
    for (int k = 0; k < 12; ++k) {
      std::vector<int> here(1000, 1), there(1000, 2), elsewhere(1000, 3);
      request in_first = start_allreduce(first, here);
      member third = me.split(0);
      request in_third = start_allreduce(third, elsewhere), in_second = start_allreduce(second, there);
      in_third.wait();
      in_second.wait();
      in_first.wait();
      int const size = static_cast<int>(me.size());
      fits = fits && here[999] == size && there[999] == 2 * size && elsewhere[999] == 3 * size;
    }
    right += fits;
  }));
  EXPECT_EQ(right, on.size());
}

TEST_P(SplitOfHosts, MorePartsThanTheNetworkTellsApartAreRefusedEverywhere) {
  hosts on(GetParam().shapes, GetParam().one_proxy);
  std::atomic<rank_t> refused = 0;
  expect_that_all_returned(on.run([&](member& me) {
    std::vector<member> parts;
    auto const thrown = outcome_of([&] {
      for (int k = 0; k < 8; ++k) parts.push_back(me.split(0));
    });
    refused += thrown.type == type_name<argument_error>();
    for (member& part : parts) barrier(part);
    parts.clear();
    barrier(*std::make_unique<member>(me.split(0)));
  }));
  EXPECT_EQ(refused, on.size());
}

TEST_P(SplitOfHosts, FailuresInAPartAreOfTheWhole) {
  hosts on(GetParam().shapes, GetParam().one_proxy);
  for (int turn = 0; turn < 3; ++turn) {
    auto const left = on.run([&](member& me) {
      member part = me.split(0);
      std::vector<double> values(50'000, 1.0);
      request under_way = start_allreduce(part, values);
      if (me.rank() == 1) throw std::domain_error("told so");
      under_way.wait();
      for (;;) barrier(part);
    });
    for (outcome const& each : left) EXPECT_NE(each.type, "");
    expect_that_all_returned(on.run([](member& me) {
      member part = me.split(0);
      barrier(part);
    }));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, SplitOfHosts,
                         ::testing::Values(hosts_case{{{2}, {2}}, false}, hosts_case{{{2}, {1}, {3}}, false},
                                           hosts_case{{{2}, {3}}, true}, hosts_case{{{1, 2}, {2}}, false},
                                           hosts_case{{{2, 1}, {1, 2}}, false}, hosts_case{{{2, 1}, {1, 2}}, true}));

}  // namespace
}  // namespace coset::team_test
