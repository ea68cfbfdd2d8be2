// SPDX-License-Identifier: Apache-2.0
// A team over processes has one floating-point mode: that of process 0 when the team was made.
#include "floating_point.hpp"
#include "mpi/processes.hpp"

namespace coset::mpi_test {
namespace {

using test::control_of_this_thread;
using test::in_mode;
using test::mode;
using test::modes;
using test::usual_mode;

constexpr std::size_t length = 12;

/// Rank 0 gives numbers with which those of another rank are rounded, flushed, or taken for zeros; the others give nothing.
std::vector<double> numbers(rank_t rank) {
  std::vector<double> all(length, 0.0);
  if (rank > 1) return all;
  constexpr double least = 0x1p-1074, normal = 0x1p-1022;
  double const both[3][2]{{1, 0x1p-60}, {3 * least, 5 * least}, {1.5 * normal, -1.25 * normal}};
  for (std::size_t i = 0; i < length; ++i) all[i] = both[i % 3][rank];
  return all;
}

/// The verbs that fold, by messages, through shared memory and in parts: 1.0 + 2⁻⁶⁰ and the like on rank 0.
std::vector<double> sums(member& me) {
  std::vector<double> const in = numbers(me.rank());
  std::vector<double> out(length), all;
  auto const keep = [&] { all.insert(all.end(), out.begin(), out.end()); };
  allreduce(me, in, out), keep();
  allreduce(me, in, out, reproducible_plus{}), keep();
  start_allreduce(me, in, out).wait(), keep();
  reduce(me, in, out, 0);
  broadcast(me, out, 0), keep();
  scan(me, in, out);
  broadcast(me, out, me.size() - 1), keep();
  out = in;
  allreduce(me, together(out)), keep();
  allreduce(me, in, out, maximum{}), keep();
  std::vector<double> wide;
  for (rank_t r = 0; r < me.size(); ++r) wide.insert(wide.end(), in.begin(), in.end());
  reduce_scatter(me, wide, out);
  broadcast(me, out, me.size() - 1), keep();
  member part = me.split(0);
  allreduce(part, in, out), keep();
  return all;
}

/// Process 0 makes it in one mode; then its threads have this one, and those of the others another.
std::vector<double> sums_of(mode const& made, mode const& made_elsewhere, mode const& own, std::string& fault) {
  std::vector<double> found;
  (process() == 0 ? made : made_elsewhere).set();
  hybrid on(7);
  usual_mode.set();
  fault = on.faults([&](member& me) -> std::string {
    in_mode const here(me.rank() == me.size() - 1 ? own : made);
    auto const before = control_of_this_thread();
    auto const mine = sums(me);
    if (control_of_this_thread() != before)
      return "the control words of rank " + std::to_string(me.rank()) + " changed";
    if (me.rank() == on.all.first()) found = mine;
    return "";
  });
  return found;
}

TEST(Modes, OfProcessesAreThatOfTheFirst) {
  for (mode const& made : {usual_mode, mode{FE_UPWARD, true, true}}) {
    std::string fault;
    auto const right = sums_of(made, made, made, fault);
    ASSERT_EQ(said_anywhere(fault), "");
    for (mode const& own : modes()) {
      auto const got = sums_of(made, own, own, fault);
      if (fault.empty() && std::memcmp(got.data(), right.data(), right.size() * sizeof(double)) != 0)
        fault = "other bits, made in " + made.text() + ", and elsewhere " + own.text();
      ASSERT_EQ(said_anywhere(fault), "");
    }
  }
}

/// MPI's own allreduce combines by coset's folds, on whatever thread: here those that are said to be exact.
TEST(Modes, HoldForWhatMpiCombines) {
  (process() == 0 ? mode{FE_UPWARD, false, false} : usual_mode).set();
  hybrid on(3);
  usual_mode.set();
  on.expect_no_faults([](member& me) -> std::string {
    rank_t const last = me.size() - 1;
    std::vector<double> x(1000, me.rank() == last ? 0x1p-60 : me.rank() == 0 ? 1.0 : 0.0);
    allreduce(me, x, exact([](double a, double b) noexcept { return a + b; }));
    return last == 0 || std::ranges::count(x, 1 + 0x1p-52) == 1000 ? "" : "1 + 0x1p-60 is not rounded up";
  });
}

}  // namespace
}  // namespace coset::mpi_test
