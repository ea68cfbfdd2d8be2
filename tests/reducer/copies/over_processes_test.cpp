// SPDX-License-Identifier: Apache-2.0
// Reducers of a team over processes, without MPI: hosts and processes that are threads of this one, so that ThreadSanitizer
// sees all of them.
#include <array>
#include <cctype>
#include <functional>
#include <numeric>
#include <string>
#include <thread>

#include "coset/reducers/joint_reducer.hpp"
#include "coset/reducers/sparse_reducer.hpp"
#include "coset/verbs/barrier.hpp"
#include "effort.hpp"
#include "reducer/processes/wire.hpp"
#include "support/hosts.hpp"
#include "team/team_state.hpp"

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

/// The wire's way, as describe() has it.
bool says(reducer_room::wire way, std::string const& described) {
  return described.find(std::string("; ") + name_of(way) + ":") != std::string::npos;
}

TEST(ReducersOverProcesses, SendTheLeastByCounts) {
  using reducer_room::wire;
  reducer_room::wire_counts counts{.processes = 3, .bytes = 64'000, .block_bytes = 64, .record_bytes = 12};
  auto const chosen = [&] { return choose_wire(counts); };
  counts.blocks = counts.united = 100;
  EXPECT_EQ(chosen().way, wire::each_rank) << "nothing overlaps";
  EXPECT_EQ(chosen().bytes, (std::array<std::uint64_t, 3>{16'000, 16'000, 256'000}));
  counts.united = 60;
  EXPECT_EQ(chosen().way, wire::each_process);
  EXPECT_EQ(chosen().least(), 9'600u);
  counts.blocks = 6'000, counts.united = 3'000;  // all of the array, in each process
  EXPECT_EQ(chosen().way, wire::whole_array);
  counts.may_be_whole = false;
  EXPECT_EQ(chosen().way, wire::each_process);
  counts = {
      .processes = 3, .bytes = 64'000, .block_bytes = 64, .record_bytes = 12, .updates = 300, .everywhere = false};
  EXPECT_EQ(chosen().bytes, (std::array<std::uint64_t, 3>{2'400, 2'400, 128'000})) << "a third is there already";
}

/// Threads that add to the same elements, to others, or to all: each rank its number to `touched` elements from `first` on.
struct touching {
  reducer_room::wire way;
  std::size_t step_of_ranks, touched;
};
class sparse_ways : public testing::TestWithParam<touching> {};

TEST_P(sparse_ways, HaveTheTotalWhereverItGoes) {
  auto const [way, step, touched] = GetParam();
  std::size_t const length = 1 << 15;
  for (auto const& shape : shapes()) {
    hosts on(shape, false);
    std::size_t const processes = on.processes();
    sparse_options options;
    options.by = way::private_copies;
    of_processes<sparse_reducer<double>> sums(on, length, options);
    of_processes<std::vector<double>> targets(on, length, 5.0);
    std::vector<std::size_t> parts(processes, 999);
    parts.back() = length - 999 * (processes - 1);
    auto const first_of = [step = step](std::size_t rank) { return rank * step; };
    std::vector<destination> const all{
        {}, destination::one_process(static_cast<rank_t>(processes - 1)), destination::parts(parts)};
    for (auto const& to : all)
      for (auto const how : {combining::assign, combining::add}) {
        for (std::size_t p = 0; p < processes; ++p) std::ranges::fill(targets[p], 5.0);
        expect_well(on.run([&, touched = touched](member& me) {
          auto mine = me.rank() % 3 == 2 ? sums(me).local() : sums(me).local(me);
          for (std::size_t i = 0; i < touched; ++i) mine[first_of(me.rank()) + i] += me.rank() + 1.0;
          sums(me).combine_into(targets(me), me, how, to);
        }));
        std::size_t begin = 0;
        for (std::size_t p = 0; p < processes; ++p) {
          bool const by_parts = to.what() == destination::kind::parts;
          bool const is_all = to.what() == destination::kind::every_process || p + 1 == processes;
          std::size_t const own = by_parts ? begin : 0, end = by_parts ? begin += parts[p] : is_all ? length : 0;
          for (std::size_t i = 0; i < length; ++i) {
            double right = how == combining::add || i < own || i >= end ? 5 : 0;
            for (std::size_t rank = 0; rank < on.size() && i >= own && i < end; ++rank)
              if (i >= first_of(rank) && i < first_of(rank) + touched) right += static_cast<double>(rank) + 1;
            ASSERT_EQ(targets[p][i], right) << "element " << i << " of process " << p;
          }
        }
      }
    if (shape == std::vector<host_shape>{{2, 2}} || shape == std::vector<host_shape>{{2}, {2}}) {
      EXPECT_TRUE(says(way, sums[0].describe())) << sums[0].describe();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Touching, sparse_ways,
                         testing::Values(touching{reducer_room::wire::each_rank, 4'096, 1'000},
                                         touching{reducer_room::wire::each_process, 0, 1'000},
                                         touching{reducer_room::wire::whole_array, 0, 1 << 15}),
                         [](auto const& of) {
                           std::string name = name_of(of.param.way);
                           std::erase_if(name, [](char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

TEST(ReducersOverProcesses, SendWhatThreadsOfOneProcessShareOnce) {
  std::size_t const length = 1 << 17, touched = 4'096;
  hosts on({{2}, {2}}, false);
  sparse_options options;
  options.by = way::private_copies;
  of_processes<sparse_reducer<double>> sums(on, length, options);
  of_processes<std::vector<double>> targets(on, length, 0.0);
  auto const sent = [&](std::size_t step) {
    std::size_t const before = on.network().bytes();
    expect_well(on.run([&](member& me) {
      auto mine = sums(me).local(me);
      for (std::size_t i = 0; i < touched; ++i) mine[me.rank() * step + i] += 1;
      sums(me).combine_into(targets(me), me);
    }));
    return on.network().bytes() - before;
  };
  std::size_t const apart = sent(touched), together = sent(0), blocks = touched * sizeof(double);
  EXPECT_GT(apart, 4 * blocks);
  EXPECT_LT(apart, 4 * blocks + blocks / 2);
  EXPECT_GT(together, 2 * blocks) << "one of each process";
  EXPECT_LT(together, 2 * blocks + blocks / 2);
}

TEST(ReducersOverProcesses, KeepTheBitsOfOneLoopWhereUpdatesAreKept) {
  std::size_t const length = 200'000, updates = 3'000;
  for (auto const& shape : shapes()) {
    hosts on(shape, false);
    sparse_options options;
    options.by = way::partition;
    of_processes<sparse_reducer<float>> sums(on, length, options);
    of_processes<std::vector<float>> targets(on, length, 1.0f);
    std::vector<std::size_t> parts(on.processes(), 5'001);
    parts.back() = length - 5'001 * (parts.size() - 1);
    auto const key = [](std::size_t i) { return i * i % 17 * 11'003 + 4'999 + i % 4; };  // all ranks the same
    auto const value = [](std::size_t rank, std::size_t i) { return 1.0f / static_cast<float>(3 + rank + i); };
    std::vector<float> right(length, 1.0f);
    for (std::size_t rank = 0; rank < on.size(); ++rank)
      for (std::size_t i = 0; i < updates; ++i) right[key(i)] += value(rank, i);
    for (bool const by_parts : {false, true}) {
      for (std::size_t p = 0; p < on.processes(); ++p) std::ranges::fill(targets[p], 1.0f);
      expect_well(on.run([&](member& me) {
        auto mine = sums(me).local(me);
        for (std::size_t i = 0; i < updates; ++i) mine[key(i)] += value(me.rank(), i);
        sums(me).combine_into(targets(me), me, combining::add, by_parts ? destination::parts(parts) : destination());
      }));
      std::size_t begin = 0;
      for (std::size_t p = 0; p < on.processes(); begin += parts[p++])
        for (std::size_t i = 0; i < length; ++i)
          ASSERT_EQ(targets[p][i], by_parts && (i < begin || i >= begin + parts[p]) ? 1 : right[i]) << i;
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

TEST(ReducersOverProcesses, OfWhatWasTouchedStartToo) {
  std::size_t const length = 1 << 15;
  for (auto const& shape : shapes())
    for (auto const by : {way::partition, way::private_copies})
      for (std::size_t const touched : {std::size_t{40}, length}) {
        hosts on(shape, false);
        sparse_options options;
        options.by = by;
        of_processes<sparse_reducer<int>> sums(on, length, options);
        of_processes<std::vector<int>> targets(on, length, 1);
        for (int round = 1; round <= 2; ++round) {
          expect_well(on.run([&](member& me) {
            auto mine = sums(me).local(me);
            for (std::size_t i = 0; i < touched; ++i) mine[i] += 2;
            auto later = sums(me).start_combine_into(targets(me), me, combining::add);
            if (round == 1)
              while (!later.test()) std::this_thread::yield();
            else
              later.wait();
            int const right = 1 + 2 * round * static_cast<int>(me.size());
            EXPECT_EQ(targets(me)[0], right);
            EXPECT_EQ(targets(me)[touched - 1], right);
            EXPECT_EQ(targets(me)[length - 1], touched == length ? right : 1);
            barrier(me);
          }));
        }
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
