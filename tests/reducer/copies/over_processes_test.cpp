// SPDX-License-Identifier: Apache-2.0
// Reducers of a team over processes, without MPI: hosts and processes that are threads of this one, so that ThreadSanitizer
// sees all of them.
#include <array>
#include <numeric>
#include <string>

#include "coset/reducers/joint_reducer.hpp"
#include "coset/reducers/sparse_reducer.hpp"
#include "effort.hpp"
#include "support/hosts.hpp"

namespace coset::team_test {
namespace {

std::vector<std::vector<host_shape>> shapes() {
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

void expect_well(std::vector<outcome> const& left) {
  for (auto const& process : left) EXPECT_EQ(process.message, "");
}

double triangle(rank_t ranks) { return ranks * (ranks - 1.0) / 2; }

TEST(ReducersOverProcesses, HaveTheTotalInEachProcess) {
  for (auto const& shape : shapes())
    for (std::size_t const count : {std::size_t{3}, std::size_t{500}, std::size_t{30'000}}) {
      hosts on(shape, false);
      of_processes<reducer<double>> sums(on, count);
      of_processes<std::vector<double>> targets(on, count, 1.0);
      for (auto const how : {combining::assign, combining::add}) {
        expect_well(on.run([&](member& me) {
          auto mine = me.rank() % 2 == 0 ? sums(me).local(me) : sums(me).local();
          for (std::size_t i = 0; i < count; ++i) mine[i] += me.rank() + static_cast<double>(i);
          sums(me).combine_into(targets(me), me, how);
          double const before = how == combining::add ? triangle(me.size()) : 0, factor = how == combining::add ? 2 : 1;
          for (std::size_t i = 0; i < count; i += 1 + count / 7)
            EXPECT_EQ(targets(me)[i], before + triangle(me.size()) + factor * me.size() * static_cast<double>(i));
        }));
      }
    }
}

TEST(ReducersOverProcesses, GoToOneProcessOrByParts) {
  for (auto const& shape : shapes()) {
    hosts on(shape, true);
    std::size_t const count = 4'000, processes = on.processes();
    std::vector<std::size_t> parts(processes, 10);
    parts[0] = count - 10 * (processes - 1);
    of_processes<reducer<int>> sums(on, count);
    of_processes<std::vector<int>> targets(on, count, 7);
    int const total = static_cast<int>(on.size());
    expect_well(on.run([&](member& me) {
      std::ranges::fill(sums(me).local(me), 1);
      sums(me).combine_into(targets(me), me, combining::add,
                            destination::one_process(static_cast<rank_t>(processes - 1)));
    }));
    for (std::size_t p = 0; p < processes; ++p) EXPECT_EQ(targets[p][5], p + 1 == processes ? 7 + total : 7) << p;
    expect_well(on.run([&](member& me) {
      std::ranges::fill(sums(me).local(me), 1);
      sums(me).combine_into(targets(me), me, combining::assign, destination::parts(parts));
    }));
    std::size_t begin = 0;
    for (std::size_t p = 0; p < processes; begin += parts[p++])
      for (std::size_t i = begin; i < begin + parts[p]; ++i) ASSERT_EQ(targets[p][i], total) << p << " at " << i;
  }
}

TEST(ReducersOverProcesses, CombineSeveralArraysInSplitPhase) {
  for (auto const& shape : shapes()) {
    hosts on(shape, false);
    of_processes<std::vector<long>> sums(on, 2'000), others(on, 50);
    std::vector<std::unique_ptr<joint_reducer<long, long>>> joint;
    for (std::size_t p = 0; p < on.processes(); ++p)
      joint.push_back(std::make_unique<joint_reducer<long, long>>(sums[p], others[p]));
    for (int round = 0; round < 2; ++round) {
      expect_well(on.run([&](member& me) {
        auto& mine = *joint[sums.number(me)];
        auto&& [a, b] = mine.local(me);
        std::ranges::fill(a, me.rank());
        std::ranges::fill(b, 1);
        started_combination later = mine.start_combine(me);
        while (!later.test()) {
        }
        EXPECT_EQ(sums(me)[1'999], static_cast<long>(triangle(me.size())));
        EXPECT_EQ(others(me)[49], static_cast<long>(me.size()));
      }));
    }
  }
}

TEST(ReducersOverProcesses, SendOnlyWhatWasTouched) {
  std::size_t const length = 1 << 20;
  for (auto const by : {way::partition, way::private_copies})
    for (auto const& shape : shapes()) {
      hosts on(shape, false);
      sparse_options options;
      options.by = by;
      of_processes<sparse_reducer<float>> sums(on, length, options);
      of_processes<std::vector<float>> targets(on, length, 1.0f);
      std::size_t const before = on.network().bytes();
      for (int round = 1; round <= 2; ++round) {
        expect_well(on.run([&](member& me) {
          auto mine = sums(me).local(me);
          for (std::size_t i = 0; i < 50; ++i) mine[(me.rank() + i * 20'011) % length] += 2;
          sums(me).combine_into(targets(me), me);
          EXPECT_EQ(targets(me)[me.rank()], 1 + 2.0f * static_cast<float>(round));
          EXPECT_EQ(targets(me)[length - 1], 1);
        }));
      }
      EXPECT_LT(on.network().bytes() - before, length) << "bytes, where the array has four times as many";
    }
}

TEST(ReducersOverProcesses, ChooseTheirWayByWhatTheirOwnProcessTouched) {
  std::size_t const length = 1 << 17;
  hosts on({{1, 1}}, false);
  of_processes<sparse_reducer<double>> sums(on, length);
  of_processes<std::vector<double>> targets(on, length, 0.0);
  auto const round_of_copies_after = [&](std::size_t step) {
    expect_well(on.run([&](member& me) {
      auto mine = sums(me).local(me);
      for (int time = 0; time < 4; ++time)
        for (std::size_t i = 0; i < length; i += step) mine[i] += 1;
      sums(me).combine_into(targets(me), me);
    }));
    for (std::size_t process : {0u, 1u})
      if (sums[process].describe().find("updates are kept for later") != std::string::npos) return false;
    return true;
  };
  EXPECT_TRUE(round_of_copies_after(1)) << "four updates of each element";
  for (int round = 0; round < 3; ++round) EXPECT_TRUE(round_of_copies_after(1)) << "as many blocks as before";
  EXPECT_FALSE(round_of_copies_after(512)) << "an eighth of the blocks, so updates are counted anew";
}

TEST(ReducersOverProcesses, OfSparseArraysOfOtherLengthsTellBoth) {
  hosts on({{2, 1}}, false);
  sparse_reducer<double> longer(300'001), shorter(300'000);
  std::vector<double> a(300'001), b(300'000);
  auto const left = on.run([&](member& me) {
    if (&me.state().team == &on.state(0))
      longer.combine_into(a, me);
    else
      shorter.combine_into(b, me);
  });
  for (auto const& process : left) {
    EXPECT_NE(process.message.find("300000"), std::string::npos) << process.message;
    EXPECT_NE(process.message.find("300001"), std::string::npos) << process.message;
  }
}

}  // namespace
}  // namespace coset::team_test
