// SPDX-License-Identifier: Apache-2.0
// Random sequences of combinations over processes that are threads of this one, against what each rank computes by itself.
#include <numeric>
#include <random>

#include "effort.hpp"
#include "reducer/copies/walk.hpp"
#include "support/hosts.hpp"

namespace coset::team_test {
namespace {

using host_shapes = std::vector<host_shape>;

std::vector<host_shapes> shapes_of_walks() {
  std::vector<host_shapes> const few{{{2, 1}, {2}}, {{1}, {3}}};
  std::vector<host_shapes> more{few};
  more.insert(more.end(), {{{2, 3, 1}}, {{1}, {2, 1}, {1}}});
  std::vector<host_shapes> all{more};
  all.insert(
      all.end(),
      {{{4}}, {{1, 1}}, {{1, 1, 1, 1, 1}}, {{2, 1, 3}, {1, 1}, {2}}, {{1, 2, 1}, {3, 1}, {1, 1, 2, 1}}, {{4, 4}, {4}}});
  return test::by_effort(few, more, all);
}

/// [process] how many ranks come before, and all.
std::vector<rank_t> firsts_of(host_shapes const& shapes) {
  std::vector<rank_t> first{0};
  for (host_shape const& host : shapes)
    for (rank_t const threads : host) first.push_back(first.back() + threads);
  return first;
}

std::size_t process_of(hosts& on, member& me) {
  std::size_t process = 0;
  while (&on.state(process) != &me.state().team) ++process;
  return process;
}

void expect_no_fault(std::vector<outcome> const& left) {
  for (auto const& process : left) EXPECT_EQ(process.message, "");
}

TEST(ReducersOverProcessesAtRandom, LeaveWhatALoopWould) {
  std::mt19937_64 seeds(test::seed());
  for (auto const& shape : shapes_of_walks())
    for (bool const one_proxy : {false, true}) {
      std::uint64_t const seed = seeds();
      SCOPED_TRACE("seed " + std::to_string(seed) + " of COSET_TEST_SEED=" + std::to_string(test::seed()));
      hosts on(shape, one_proxy);
      std::vector<std::unique_ptr<reducer_walk>> walks;
      for (std::size_t p = 0; p < on.processes(); ++p)
        walks.push_back(std::make_unique<reducer_walk>(seed, ranks_by_process{firsts_of(shape), p}));
      expect_no_fault(on.run([&](member& me) { walks[process_of(on, me)]->take(me, test::by_effort(8, 12, 150)); }));
      if (::testing::Test::HasFailure()) return;
    }
}

/// Sums that depend on the order, in all ways to combine them.
class sums_of_any_bits {
 public:
  void add_up(member& me) {
    for (int round = 0; round < 3; ++round) {
      add(dense_.local(me), me, round);
      dense_.combine_into(assigned_, me, combining::assign);
      add(dense_.local(me), me, round + 10);
      dense_.combine_into(added_, me);
      add(dense_.local(me), me, round + 20);
      started_combination later = dense_.start_combine_into(started_, me);
      add(copies_.local(me), me, round + 30);
      copies_.combine_into(of_copies_, me);
      later.wait();
      add(kept_.local(me), me, round + 40);
      kept_.combine_into(of_kept_, me);
    }
  }
  bool operator==(sums_of_any_bits const& other) const {
    return assigned_ == other.assigned_ && added_ == other.added_ && started_ == other.started_ &&
           of_copies_ == other.of_copies_ && of_kept_ == other.of_kept_;
  }

 private:
  static constexpr std::size_t length = 9'000;  // of several segments

  template <class Copy>
  static void add(Copy&& mine, member& me, int round) {
    for (std::size_t k = 0; k < length; ++k)
      mine[(k * k + me.rank()) % length] += 1.0 / static_cast<double>(1 + drawn(me.rank() + 100 * round, k) % 10'000);
  }

  std::vector<double> assigned_ = std::vector<double>(length), added_ = assigned_, started_ = assigned_,
                      of_copies_ = assigned_, of_kept_ = assigned_;
  reducer<double> dense_{length};
  sparse_reducer<double> copies_{length, {.by = way::private_copies}}, kept_{length, {.by = way::partition}};
};

TEST(ReducersOverProcessesAtRandom, LeaveTheSameBitsInEachProcessAndRun) {
  for (auto const& shape : shapes_of_walks()) {
    std::vector<std::unique_ptr<sums_of_any_bits>> all;
    for (int run = 0; run < 2; ++run) {
      hosts on(shape, false);
      std::size_t const before = all.size();
      for (std::size_t p = 0; p < on.processes(); ++p) all.push_back(std::make_unique<sums_of_any_bits>());
      expect_no_fault(on.run([&](member& me) { all[before + process_of(on, me)]->add_up(me); }));
    }
    for (std::size_t k = 1; k < all.size(); ++k) EXPECT_TRUE(*all[k] == *all[0]) << k << " of " << all.size();
  }
}

/// Parts of a host's processes map a file, each for itself.
bool maps_twice(host_shapes const& shapes) {
  return std::ranges::any_of(shapes, [](host_shape const& host) { return host.size() > 1; });
}
#if defined(__SANITIZE_THREAD__)
constexpr bool sees_one_mapping_only = true;
#elif defined(__has_feature)
constexpr bool sees_one_mapping_only = __has_feature(thread_sanitizer);
#else
constexpr bool sees_one_mapping_only = false;
#endif

/// Ranks of parts in the order of these keys.
struct part_order {
  char const* name;
  int (*colour)(rank_t);
  int (*key)(rank_t);
  bool needs_more_senders = false;
};

class PartsOfProcesses : public ::testing::TestWithParam<part_order> {};

TEST_P(PartsOfProcesses, HaveReducersOfTheirOwn) {
  std::mt19937_64 seeds(test::seed() + 1);
  for (auto const& shape : shapes_of_walks())
    for (bool const one_proxy : {false, true}) {
      if (one_proxy && GetParam().needs_more_senders) continue;
      if (sees_one_mapping_only && maps_twice(shape)) continue;
      std::uint64_t const seed = seeds();
      SCOPED_TRACE(std::string("seed ") + std::to_string(seed) + (one_proxy ? ", one proxy" : "") + ", " +
                   std::to_string(shape.size()) + " hosts, the first of " + std::to_string(shape[0].size()));
      auto const first = firsts_of(shape);
      hosts on(shape, one_proxy);
      // [process][colour], made by whoever comes first.
      std::vector<std::array<std::unique_ptr<reducer_walk>, 2>> walks(on.processes());
      auto const process = [&](rank_t rank) {
        return static_cast<std::size_t>(std::ranges::upper_bound(first, rank) - first.begin()) - 1;
      };
      for (int colour : {0, 1}) {
        std::vector<rank_t> ranks;
        for (rank_t r = 0; r < on.size(); ++r)
          if (GetParam().colour(r) == colour) ranks.push_back(r);
        std::ranges::stable_sort(ranks, {}, GetParam().key);
        std::vector<std::size_t> order;  // of processes
        ranks_by_process part{{0}, 0};
        for (rank_t k = 0; k < ranks.size(); ++k) {
          if (!order.empty() && order.back() == process(ranks[k])) {
            part.first.back() = k + 1;
          } else {
            order.push_back(process(ranks[k]));
            part.first.push_back(k + 1);
          }
        }
        for (std::size_t p = 0; p < order.size(); ++p) {
          part.own = p;
          walks[order[p]][static_cast<std::size_t>(colour)] = std::make_unique<reducer_walk>(seed, part);
        }
      }
      auto const left = on.run([&](member& me) {
        member mine = me.split(GetParam().colour(me.rank()), GetParam().key(me.rank()));
        walks[process_of(on, me)][static_cast<std::size_t>(GetParam().colour(me.rank()))]->take(
            mine, test::by_effort(4, 6, 60));
      });
      expect_no_fault(left);
      if (::testing::Test::HasFailure()) return;
    }
}

TEST(PartsInAnotherOrder, WhoseRanksDoNotFollowEachOtherAreRefused) {
  for (auto const& shape : {host_shapes{{2, 2}}, host_shapes{{2}, {2}}}) {
    if (sees_one_mapping_only && maps_twice(shape)) continue;
    hosts on(shape, false);
    std::vector<std::vector<double>> targets(2, std::vector<double>(100));
    std::vector<reducer<double>> sums;
    for (int process = 0; process < 2; ++process) sums.emplace_back(100);
    for (bool const starts : {false, true}) {
      auto const left = on.run([&](member& me) {
        auto const process = process_of(on, me);
        member mixed = me.split(0, static_cast<int>(me.rank() % 2));
        if (starts)
          sums[process].start_combine_into(targets[process], mixed).wait();
        else
          sums[process].combine_into(targets[process], mixed);
      });
      for (auto const& each : left)
        EXPECT_NE(each.message.find("follow each other"), std::string::npos) << each.message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Orders, PartsOfProcesses,
    ::testing::Values(
        part_order{"whole", [](rank_t) { return 0; }, [](rank_t) { return 0; }},
        part_order{"backwards", [](rank_t) { return 0; }, [](rank_t r) { return -static_cast<int>(r); }},
        // Whose first ranks are elsewhere: if only they send, not all reducers can be combined.
        part_order{"halves", [](rank_t r) { return static_cast<int>(r % 2); }, [](rank_t) { return 0; }, true},
        part_order{"without_the_first", [](rank_t r) { return r == 0 ? 1 : 0; }, [](rank_t) { return 0; }, true}),
    [](auto const& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace coset::team_test
