// SPDX-License-Identifier: Apache-2.0
// Reducers of a team over processes, without MPI: hosts and processes that are threads of this one, so that ThreadSanitizer
// sees all of them.
#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "coset/reducers/joint_reducer.hpp"
#include "coset/reducers/sparse_reducer.hpp"
#include "coset/verbs/barrier.hpp"
#include "reducer/copies/over_processes.hpp"
#include "runtime/requests.hpp"

namespace coset::team_test {
namespace {

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

/// First ranks have worked on the targets themselves, or, outside of regions, on their copies.
TEST(ReducersOverProcesses, InPlaceSumTheTargetsOfAll) {
  for (auto const& shape : shapes())
    for (std::size_t const count : {std::size_t{3}, std::size_t{30'000}}) {
      hosts on(shape, false);
      of_processes<reducer<double>> sums(on, count);
      of_processes<std::vector<double>> targets(on, count);
      std::vector<rank_t> firsts{0};
      for (auto const& host : shape)
        for (rank_t const ranks : host) firsts.push_back(firsts.back() + ranks);
      for (bool const outside : {false, true}) {
        for (std::size_t p = 0; p < on.processes(); ++p) std::ranges::fill(targets[p], 100.0);
        expect_well(on.run([&](member& me) {
          auto& target = targets(me);
          bool const is_first = std::ranges::count(firsts, me.rank()) > 0;
          auto const mine = is_first && !outside ? std::span(target) : std::span(sums(me).local(me));
          for (std::size_t i = 0; i < count; ++i) mine[i] += me.rank() + 1;
          barrier(me);
          void* into = target.data();
          detail::combine_in_place_over_processes(sums(me).core(), &into, me.state(), me.rank(), {});
          double const expected = 100.0 * static_cast<double>(on.processes()) + triangle(me.size()) + me.size();
          for (std::size_t i = 0; i < count; i += 1 + count / 7) EXPECT_EQ(target[i], expected);
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
        while (!later.test()) std::this_thread::yield();
        EXPECT_EQ(sums(me)[1'999], static_cast<long>(triangle(me.size())));
        EXPECT_EQ(others(me)[49], static_cast<long>(me.size()));
      }));
    }
  }
}

TEST(ReducersOverProcesses, AddInSplitPhaseWhileRanksWaitElsewhere) {
  for (auto const& shape : shapes())
    for (std::size_t const count : {std::size_t{3}, std::size_t{40'000}}) {
      hosts on(shape, false);
      of_processes<reducer<double>> sums(on, count);
      of_processes<std::vector<double>> targets(on, count, 1.0);
      for (int round = 1; round <= 3; ++round) {
        expect_well(on.run([&](member& me) {
          for (auto& each : sums(me).local(me)) each += 1 + me.rank();
          auto later = sums(me).start_combine_into(targets(me), me, combining::add);
          // Some complete it before they come here, others are here before they complete it.
          bool const first = me.rank() % 2 == 0;
          if (first) later.wait();
          barrier(me);
          later.wait();
          double const right = 1 + round * (triangle(me.size()) + me.size());
          for (std::size_t i = 0; i < count; i += 1 + count / 5) EXPECT_EQ(targets(me)[i], right) << i;
          barrier(me);
        }));
      }
    }
}

/// All processes hear of both sides, in words of the call that the program has made.
void expect_told(hosts& on, std::vector<std::string> const& words,
                 std::function<void(member&, bool first)> const& call) {
  auto const left = on.run([&](member& me) { call(me, &me.state().team == &on.state(0)); });
  for (auto const& process : left) {
    EXPECT_EQ(process.type, type_name<mismatch_error>()) << process.message;
    for (auto const& each : words)
      EXPECT_NE(process.message.find(each), std::string::npos) << each << " in: " << process.message;
    for (char const* const internal : {"reduce_shared", "allreduce_view", "barrier", "calls reduce"})
      EXPECT_EQ(process.message.find(internal), std::string::npos) << process.message;
  }
}

TEST(ReducersOverProcesses, ThatDisagreeTellWhatEachSideCombines) {
  for (auto const& shape : std::vector<std::vector<host_shape>>{{{2, 1}}, {{1}, {2}}}) {
    hosts on(shape, false);
    std::size_t const count = 2'000;
    of_processes<reducer<int>> sums(on, count), longer(on, count + 1);
    of_processes<reducer<float>> others(on, count);
    of_processes<std::vector<int>> targets(on, count), longer_targets(on, count + 1);
    of_processes<std::vector<float>> other_targets(on, count);
    std::vector<std::size_t> const some{500, 1'500}, more{600, 1'400};
    using enum combining;
    using to = destination;
    auto const combine = [&](member& me, combining how, destination const& where = {}) {
      sums(me).combine_into(targets(me), me, how, where);
    };
    expect_told(on, {"combine(add) of 2000 int", "combine(assign) of 2000 int"},
                [&](member& me, bool first) { combine(me, first ? add : assign); });
    expect_told(on, {"combine(add) of 2000 int", "combine(assign) of 2000 int"},
                [&](member& me, bool first) { combine(me, first ? add : assign, to::one_process(1)); });
    expect_told(on, {"of 2000 int", "of 2001 int"}, [&](member& me, bool first) {
      first ? sums(me).combine_into(targets(me), me) : longer(me).combine_into(longer_targets(me), me);
    });
    expect_told(on, {"of 2000 int", "of 2000 float"}, [&](member& me, bool first) {
      first ? sums(me).combine_into(targets(me), me) : others(me).combine_into(other_targets(me), me);
    });
    if (shape.size() == 1) {  // of what sends nothing to whom the other waits for MPI tells, see tests/mpi
      expect_told(on, {"to the process of rank 0", "to the process of rank "},
                  [&](member& me, bool first) { combine(me, add, to::one_process(first ? 0 : 1)); });
      expect_told(on, {"combine(add) of 2000 int (coset::plus)", "in parts of its ranks"},
                  [&](member& me, bool first) { combine(me, add, first ? to() : to::parts(some)); });
      expect_told(on, {"in parts of its ranks"},
                  [&](member& me, bool first) { combine(me, add, to::parts(first ? some : more)); });
    }
    for (std::size_t process : {0u, 1u}) sums[process].reset();
    expect_well(on.run([&](member& me) { combine(me, assign); }));
  }
}

/// By ranks as they are, as long as there are ranks for them.
TEST(ReducersOverProcesses, TakeTheCopiesOfThreadsThatAreNoRanks) {
  for (auto const& shape : shapes())
    for (bool const sparse : {false, true})
      for (int const helpers : {1, 2, 5}) {
        hosts on(shape, false);
        std::size_t const count = 3'000;
        of_processes<reducer<int>> sums(on, count);
        of_processes<sparse_reducer<int>> touched(on, count);
        of_processes<std::vector<int>> targets(on, count);
        for (int round = 0; round < 2; ++round) {
          for (std::size_t p = 0; p < on.processes(); ++p) {
            std::vector<std::thread> adding;
            for (int h = 0; h < helpers; ++h)
              adding.emplace_back([&, h] {
                auto const index = static_cast<std::size_t>(h);
                sparse ? void(touched[p].local()[index] += h + 1) : void(sums[p].local()[index] += h + 1);
              });
            for (auto& each : adding) each.join();
          }
          expect_well(on.run([&](member& me) {
            if (me.rank() == 0) sparse ? void(touched(me).local(me)[7] += 1) : void(sums(me).local(me)[7] += 1);
            sparse ? touched(me).combine_into(targets(me), me, combining::assign)
                   : sums(me).combine_into(targets(me), me, combining::assign);
          }));
          for (std::size_t p = 0; p < on.processes(); ++p) {
            for (int h = 0; h < helpers; ++h)
              EXPECT_EQ(targets[p][static_cast<std::size_t>(h)], (h + 1) * static_cast<int>(on.processes()));
            EXPECT_EQ(targets[p][7], 1);
          }
        }
      }
}

TEST(ReducersOverProcesses, BorrowACopyRatherThanFoldIt) {
  hosts on({{2, 1}}, false);
  of_processes<reducer<int>> sums(on, std::size_t{100});
  of_processes<std::vector<int>> targets(on, std::size_t{100});
  for (std::size_t p : {0u, 1u}) {
    std::thread one([&] { sums[p].local()[3] = 1; });
    one.join();
  }
  expect_well(on.run([&](member& me) { sums(me).combine_into(targets(me), me); }));
  EXPECT_EQ(targets[1][3], 2);
  EXPECT_NE(sums[0].describe().find(": 2 private copies"), std::string::npos) << "the other rank's, and the thread's";
  EXPECT_NE(sums[1].describe().find(": 1 private copies"), std::string::npos) << "the thread's";
}

TEST(ReducersOverProcesses, MadeForATeamRefuseOthersAndWhoHasNoMember) {
  hosts on({{2, 1}}, false), others({{2, 1}}, false);
  detail::any_team first(on.state(0)), second(on.state(1));
  reducer<int> sum(first, 100), sum_of_second(second, 100);
  std::vector<int> got(100), got_by_second(100), other(50);
  sparse_reducer<int> touched(first, 100);
  joint_reducer sums(first, got, into(other, maximum()));
  other.resize(60);
  sums.fit();
  auto const refusal = [](auto const& call) { return outcome_of(call).message; };
  for (std::string const& said :
       {refusal([&] { sum.combine_into(got); }), refusal([&] { sum.view(); }), refusal([&] { sums.combine(); }),
        refusal([&] { sums.combine_part(0, 2); }), refusal([&] { touched.combine_into(got); })})
    EXPECT_EQ(said, "combine: this reducer is for a team of 2 processes, so each of its ranks passes its member");
  auto const combine = [&](member& me) {
    bool const is_first = me.rank() < 2;
    is_first ? sum.combine_into(got, me) : sum_of_second.combine_into(got_by_second, me);
  };
  for (auto const& process : others.run(combine))
    EXPECT_NE(process.message.find("is a member of another team than that of the reducer"), std::string::npos)
        << process.message;
  sum.reset();
  sum_of_second.reset();
  expect_well(on.run([&](member& me) {
    bool const is_first = me.rank() < 2;
    std::ranges::fill(is_first ? sum.local(me) : sum_of_second.local(me), 1);
    is_first ? sum.combine_into(got, me) : sum_of_second.combine_into(got_by_second, me);
  }));
  EXPECT_EQ(got, std::vector<int>(100, 3));
  EXPECT_EQ(got_by_second, got);
}

/// Copies of two threads that are no ranks.
void add_by_two_threads(reducer<int>& sum, int value) {
  std::thread([&] {
    sum.local()[0] += value;
    std::thread([&] { sum.local()[1] += value; }).join();
  }).join();
}

/// Red if ranks count a total that was viewed among copies: it is empty as soon as all have waited.
TEST(ReducersOverProcesses, StartAnewBeforeAllOfTheProcessHaveWaited) {
  for (auto const& shape : std::vector<std::vector<host_shape>>{{{2, 1}}, {{2}, {2}}}) {
    hosts on(shape, false);
    of_processes<reducer<int>> sums(on, 100);
    of_processes<std::vector<int>> targets(on, 100), later_targets(on, 100);
    of_processes<std::atomic<bool>> begun(on);
    for (std::size_t p = 0; p < on.processes(); ++p) {
      add_by_two_threads(sums[p], 1);
      sums[p].view();
    }
    expect_well(on.run([&](member& me) {
      auto first = sums(me).start_combine_into(targets(me), me);
      bool const waits = me.rank() % 2 == 0;  // the first of its process
      if (waits) {
        first.wait();
        add_by_two_threads(sums(me), 10);
      }
      while (!waits && !begun(me) && !me.state().shared.failed()) runtime::advance_all(me.state().root);
      if (!waits) first.wait();
      auto later = sums(me).start_combine_into(later_targets(me), me);
      begun(me) = true;
      later.wait();
    }));
    int const processes = static_cast<int>(on.processes());
    for (std::size_t p = 0; p < on.processes(); ++p)
      for (std::size_t i : {0u, 1u}) {
        EXPECT_EQ(targets[p][i], processes);
        EXPECT_EQ(later_targets[p][i], 10 * processes);
      }
  }
}

TEST(ReducersOverProcesses, OfOneRankEachStartAnAllreduce) {
  hosts on({{1, 1}}, false);
  std::vector<reducer<int>> sums;
  sums.emplace_back(100);
  sums.emplace_back(101);
  for (auto const& process : on.run([&](member& me) {
         std::vector<int> target(sums[me.rank()].size());
         sums[me.rank()].start_combine_into(target, me).wait();
       }))
    EXPECT_NE(process.message.find("starts allreduce of 100 int"), std::string::npos) << process.message;
}

TEST(ReducersOverProcesses, ThatRanksOfOneProcessCombineInAnotherOrderAreToldApart) {
  for (bool const sparse : {false, true}) {
    hosts on({{2, 1}}, false);
    of_processes<reducer<int>> a(on, 100), b(on, 100);
    of_processes<sparse_reducer<int>> sparse_a(on, 100), sparse_b(on, 100);
    of_processes<std::vector<int>> targets(on, 100);
    auto const combine = [&](auto const& first, auto const& second, member& me, bool in_order) {
      (in_order ? first : second)(me).combine_into(targets(me), me);
      (in_order ? second : first)(me).combine_into(targets(me), me);
    };
    auto const combine_both = [&](member& me, bool in_order) {
      sparse ? combine(sparse_a, sparse_b, me, in_order) : combine(a, b, me, in_order);
    };
    for (auto const& process : on.run([&](member& me) { combine_both(me, me.rank() != 1); })) {
      EXPECT_EQ(process.type, type_name<mismatch_error>());
      EXPECT_NE(process.message.find("rank 1 has come with another reducer than rank 0 of its process"),
                std::string::npos)
          << process.message;
    }
    expect_well(on.run([&](member& me) { combine_both(me, true); }));
  }
}

}  // namespace
}  // namespace coset::team_test
