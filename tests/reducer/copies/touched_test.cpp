// SPDX-License-Identifier: Apache-2.0
// Sparse reducers of a team over processes: what was touched travels.
#include <array>
#include <cctype>
#include <string>
#include <thread>

#include "coset/reducers/sparse_reducer.hpp"
#include "coset/verbs/barrier.hpp"
#include "reducer/copies/over_processes.hpp"
#include "reducer/processes/wire.hpp"

namespace coset::team_test {
namespace {

TEST(SparseReducersOverProcesses, SendOnlyWhatWasTouched) {
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

TEST(SparseReducersOverProcesses, SendTheLeastByCounts) {
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

TEST(SparseReducersOverProcesses, SendWhatThreadsOfOneProcessShareOnce) {
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

TEST(SparseReducersOverProcesses, KeepTheBitsOfOneLoopWhereUpdatesAreKept) {
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

TEST(SparseReducersOverProcesses, OfWhatWasTouchedStartToo) {
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

TEST(SparseReducersOverProcesses, ChooseTheirWayByWhatTheirOwnProcessTouched) {
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

TEST(SparseReducersOverProcesses, OfSparseArraysOfOtherLengthsTellBoth) {
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
