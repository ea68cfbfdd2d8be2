// SPDX-License-Identifier: Apache-2.0
// Random collectives of all threads of all processes against a serial reference, and the bits of sums.
#include <deque>
#include <random>

#include "coset/reducers/reducer.hpp"
#include "mpi/processes.hpp"
#include "support/erased.hpp"

namespace coset::mpi_test {
namespace {

using namespace team_test;
using engine = std::mt19937_64;

std::size_t below(engine& choices, std::size_t end) { return static_cast<std::size_t>(choices() % end); }

std::vector<combination> const& combinations() {
  static std::vector<combination> const all{combine<std::int32_t>(plus{}),
                                            combine<std::int64_t>(maximum{}),
                                            combine<std::uint8_t>(bit_xor{}),
                                            combine<float>(plus{}),
                                            combine<float>(minimum{}),
                                            combine<float>(reproducible_plus{}),
                                            combine<double>(plus{}),
                                            combine<double>(reproducible_plus{}),
                                            combine<float16>(plus{}),
                                            combine<bfloat16>(plus{}),
                                            combine<located<float>>(minimum_location{}),
                                            combine<seven>(bytewise_sum{}),
                                            combine<affine>(noncommutative(composition{})),
                                            combine<affine>(exact(noncommutative(composition{})))};
  return all;
}

/// Mostly small; some about the borders of lines, segments and staging; a few large.
std::size_t random_length(engine& choices, std::size_t element_bytes) {
  std::size_t const kind = below(choices, 200);
  if (kind < 100) return below(choices, 40);
  if (kind < 150) return below(choices, 1200);
  if (kind < 190) {
    std::size_t const border = std::size_t{40} << below(choices, 2) << below(choices, 12);
    return (border + below(choices, 3) * element_bytes) / element_bytes;
  }
  return below(choices, kind < 198 ? 9000 : 100'000);
}

erased_task random_task(engine& choices, rank_t ranks) {
  constexpr verb verbs[]{verb::allreduce, verb::reduce, verb::reduce_scatter, verb::allgather,
                         verb::broadcast, verb::scan,   verb::exclusive_scan, verb::barrier};
  auto const& of = combinations()[below(choices, combinations().size())];
  task t{.what = verbs[below(choices, std::size(verbs))], .even = below(choices, 2) == 0, .seed = choices()};
  std::size_t const length = random_length(choices, of.bytes);
  t.counts = even_counts(ranks, length / ranks);
  if (!t.even) {
    for (auto& count : t.counts) count = below(choices, 2 * (length / ranks) + 2);
  }
  t.root = static_cast<rank_t>(below(choices, ranks));
  t.in_place = t.what != verb::barrier && below(choices, 2) == 0;
  return {t, &of};
}

/// One rank's way through tasks that are the same on every rank, some several at once and waited for in any order.
class walk {
 public:
  walk(member& me, std::uint64_t seed) : me_(me), choices_(seed * 1000 + me.rank()) {}

  std::string run(std::vector<erased_task> const& tasks, std::vector<bool> const& in_split_phase) {
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      auto mine = std::make_unique<erased_arrays>(prepared(tasks[k], me_.rank()));
      auto const call = call_of(tasks[k], places_of(tasks[k], me_.rank(), *mine, shared_));
      if (in_split_phase[k]) {
        // Operations outlive all collectives of this test.
        std::shared_ptr<void const> const operation(std::shared_ptr<void const>(), tasks[k].of->operation);
        live_.push_back({detail::start(me_.state(), call, operation), &tasks[k], std::move(mine)});
      } else {
        detail::run(me_.state(), call);
        note(tasks[k], *mine);
      }
      while (!live_.empty() && below(choices_, 3) == 0) poke(below(choices_, live_.size()));
    }
    while (!live_.empty()) finish(below(choices_, live_.size()));
    return fault_;
  }

 private:
  struct under_way {
    request handle;
    erased_task const* what;
    std::unique_ptr<erased_arrays> mine;
  };

  void poke(std::size_t k) {
    if (below(choices_, 2) == 0) return finish(k);
    live_[k].handle.test();
  }

  void finish(std::size_t k) {
    under_way done = std::move(live_[k]);
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(k));
    done.handle.wait();
    note(*done.what, *done.mine);
  }

  void note(erased_task const& t, erased_arrays& mine) {
    if (fault_.empty()) fault_ = fault(t, me_.rank(), mine, shared_, {});
  }

  member& me_;
  engine choices_;
  std::deque<under_way> live_;
  std::vector<std::byte> shared_;
  std::string fault_;
};

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

TEST(Single, ResultsThatProcessesCannotShareAreRefused) {
  if (processes() == 1) GTEST_SKIP() << "one process shares all";
  hybrid on(2);
  std::vector<int> shared(10);
  on.expect_no_faults([&](member& me) { return refused([&] { reduce_shared(me, std::vector<int>(10), shared); }); });
  reducer<int> sum(10);
  on.expect_no_faults([&](member& me) { return refused([&] { sum.combine_into(shared, me); }); });
  on.expect_no_faults(
      [](member& me) { return refused([&] { static_cast<void>(allreduce_view(me, std::vector<int>(10))); }); });
  on.expect_works();
}

}  // namespace
}  // namespace coset::mpi_test
