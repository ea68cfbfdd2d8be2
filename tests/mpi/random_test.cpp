// SPDX-License-Identifier: Apache-2.0
// Random collectives of all threads of all processes against a serial reference, and the bits of sums.
#include "coset/updates/scatter_add.hpp"
#include "mpi/random_tasks.hpp"

namespace coset::mpi_test {
namespace {

mpi::options random_options(engine& choices) {
  mpi::options options = usual_options();
  if (options.library_leaders != 0) options.library_leaders = static_cast<rank_t>(1 + below(choices, 4));
  options.leaders = static_cast<rank_t>(below(choices, 4));
  constexpr std::size_t staging[]{0, 4096, 64 * 1024, 256 * 1024};
  options.staging_bytes = staging[below(choices, std::size(staging))];
  return options;
}

TEST(Random, CollectivesOfUnequalProcessesAreRight) {
  std::size_t const teams = test::by_effort<std::size_t>(2, 3, 40);
  // Ranks that outnumber the processors take turns to wait for each other.
  std::size_t const each = test::by_effort<std::size_t>(50, 100, 2000) / static_cast<std::size_t>(processes());
  engine choices(test::seed());
  for (std::size_t t = 0; t < teams; ++t) {
    hybrid on(t, random_options(choices));
    for (int runs = 0; runs < 2; ++runs) {
      std::vector<erased_task> tasks;
      std::vector<bool> in_split_phase;
      for (std::size_t k = 0; k < each; ++k) {
        tasks.push_back(random_task(choices, on.all.size()));
        in_split_phase.push_back(below(choices, 8) == 0);
      }
      std::uint64_t const seed = choices();
      on.expect_no_faults([&](member& me) { return walk(me, seed).run(tasks, in_split_phase); });
      if (HasFailure()) return;
    }
  }
}

/// Numbers of which no sum is exact.
template <class T>
T rough(rank_t rank, std::size_t i) {
  std::uint64_t x = (rank * 7919 + i) * 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 31) * 0xBF58476D1CE4E5B9u;
  return static_cast<T>(static_cast<double>(x >> 11) * 0x1p-53 * (x % 3 == 0 ? 1e6 : -1));
}

template <class T>
std::string hex(T value) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", static_cast<double>(value));
  return text;
}

/// Element 0 of all processes' ranks, item by item: whether all have the bits of process 0.
template <class T>
std::string unlike_process_0(std::vector<T> const& mine) {
  std::vector<T> first(mine);
  MPI_Bcast(first.data(), static_cast<int>(first.size() * sizeof(T)), MPI_BYTE, 0, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (std::memcmp(&mine[i], &first[i], sizeof(T)) != 0)
      return "element " + std::to_string(i) + " is " + hex(mine[i]) + ", not " + hex(first[i]);
  }
  return {};
}

/// The sums of every rank of this process, which are to be the same.
template <class T, class Op>
std::vector<T> sums(hybrid& on, std::size_t count, Op op, std::string& fault) {
  std::vector<std::vector<T>> got(on.all.threads());
  fault = on.faults([&](member& me) -> std::string {
    auto& mine = got[me.rank() - on.all.first()];
    for (std::size_t i = 0; i < count; ++i) mine.push_back(rough<T>(me.rank(), i));
    allreduce(me, mine, op);
    return {};
  });
  for (auto const& other : got) {
    if (fault.empty() && std::memcmp(other.data(), got[0].data(), count * sizeof(T)) != 0)
      fault = "threads have other bits";
  }
  return got[0];
}

template <class T>
void expect_same_bits() {
  for (std::uint64_t seed = 0; seed < (processes() < 4 ? 2 : 1); ++seed) {
    hybrid on(seed);
    for (std::size_t const count : {1u, 50u, 3000u, 100'000u}) {
      std::string fault, again;
      auto const plain = sums<T>(on, count, plus{}, fault);
      EXPECT_EQ(said_anywhere(fault), "");
      EXPECT_EQ(said_anywhere(unlike_process_0(plain)), "") << count << " of plus";
      EXPECT_EQ(said_anywhere(sums<T>(on, count, plus{}, again) == plain ? again : "another run, other bits"), "");
      auto const reproducible = sums<T>(on, count, reproducible_plus{}, fault);
      std::string wrong = fault;
      for (std::size_t i = 0; i < count && wrong.empty(); i += 1 + count / 1000) {
        binned<T> serial(rough<T>(0, i));
        for (rank_t r = 1; r < on.all.size(); ++r) serial += rough<T>(r, i);
        T const expected = serial.value();
        if (reproducible[i] != expected) wrong = "reproducible sum " + hex(reproducible[i]) + ", not " + hex(expected);
        double const room = 1e6 * on.all.size() * (sizeof(T) == 4 ? 0x1p-20 : 0x1p-48);
        if (std::abs(double(plain[i]) - double(expected)) > room)
          wrong = "sum " + hex(plain[i]) + ", far from " + hex(expected);
      }
      EXPECT_EQ(said_anywhere(wrong), "") << count << " of " << sizeof(T) << " bytes";
    }
  }
}

TEST(Bits, OfSumsOfFloatsAreTheSameOnEveryRank) { expect_same_bits<float>(); }
TEST(Bits, OfSumsOfDoublesAreTheSameOnEveryRank) { expect_same_bits<double>(); }

TEST(Single, ValuesAndTypedVerbsServeProcesses) {
  hybrid on(1);
  on.expect_no_faults([](member& me) -> std::string {
    rank_t const p = me.size();
    std::vector<int> all(p), one{static_cast<int>(me.rank())};
    allgather(me, one, all);
    for (rank_t r = 0; r < p; ++r) {
      if (all[r] != static_cast<int>(r)) return "allgather is wrong";
    }
    request later = start_allreduce(me, all);
    if (allreduce(me, 1.5) != 1.5 * p) return "allreduce of one value is wrong";
    if (scan(me, 1) != static_cast<int>(me.rank()) + 1) return "scan of one value is wrong";
    later.wait();
    barrier(me);
    return all[p - 1] == static_cast<int>(p * (p - 1)) ? "" : "start_allreduce is wrong";
  });
}

template <class Call>
std::string refused(Call&& call) {
  auto const thrown = outcome_of(call);
  return thrown.type == type_name<argument_error>() ? "" : "not refused: " + thrown.message;
}

TEST(Single, TargetsThatProcessesCannotShareAreRefused) {
  if (processes() == 1) GTEST_SKIP() << "one process shares all";
  hybrid on(2);
  std::vector<int> shared(10);
  on.expect_no_faults([&](member& me) { return refused([&] { scatter_add(me, shared, std::vector<int>(5)); }); });
  on.expect_works();
}

TEST(Single, PiecesOfAnyLengthReachRanksOfOtherProcesses) {
  hybrid on(3);
  on.expect_no_faults([](member& me) -> std::string {
    std::vector<std::size_t> to, from;
    std::vector<int> in, right;
    // One pair needs several messages, which are not all of one length.
    auto const length = [&](rank_t o, rank_t d) {
      return d == 0 && o + 1 == me.size() ? std::size_t{300'001} : (3 * o + 5 * d) % 7;
    };
    for (rank_t q = 0, r = me.rank(); q < me.size(); ++q) {
      to.push_back(length(r, q));
      from.push_back(length(q, r));
      for (std::size_t i = 0; i < to[q]; ++i) in.push_back(static_cast<int>(1000 * r + 10 * q + i));
      for (std::size_t i = 0; i < from[q]; ++i) right.push_back(static_cast<int>(1000 * q + 10 * r + i));
    }
    std::vector<int> out(right.size());
    all_to_all(me, in, out, to, from);
    return out == right ? "" : "all_to_all with counts is wrong";
  });
  on.expect_no_faults([](member& me) {
    std::vector<std::size_t> const to(me.size(), 1);
    std::vector<std::size_t> from = to;
    if (me.rank() + 1 == me.size()) from[0] = 2;
    std::vector<int> const in(me.size());
    std::vector<int> out(me.rank() + 1 == me.size() ? me.size() + 1 : me.size());
    return refused([&] { all_to_all(me, in, out, to, from); });
  });
  on.expect_works();
}

}  // namespace
}  // namespace coset::mpi_test
