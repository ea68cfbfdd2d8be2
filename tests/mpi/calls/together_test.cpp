// SPDX-License-Identifier: Apache-2.0
// Several arrays and values in one allreduce over processes.
#include <vector>

#include "mpi/processes.hpp"

namespace coset::mpi_test {
namespace {

TEST(Together, EveryPartIsReducedOverAllProcesses) {
  hybrid on(3);
  for (std::size_t const count : {0u, 1u, 40u, 3000u, 100'000u}) {
    on.expect_no_faults([count](member& me) -> std::string {
      std::vector<std::int64_t> sums(count, me.rank());
      std::vector<bfloat16> halves(count / 7, bfloat16(1.0f));
      int top = static_cast<int>(me.rank());
      std::vector<double> order(3, me.rank());
      auto const last = [](double, double b) { return b; };
      auto const all = together(sums, halves, into(top, maximum{}), into(order, noncommutative(last)));
      auto const size = static_cast<std::int64_t>(me.size());
      allreduce(me, all);
      for (std::int64_t const sum : sums)
        if (sum != size * (size - 1) / 2) return "a sum is wrong";
      for (bfloat16 const half : halves)
        if (float(half) != static_cast<float>(size)) return "a sum of bfloat16 is wrong";
      if (top != size - 1) return "the maximum is wrong";
      if (order != std::vector<double>(3, static_cast<double>(size - 1))) return "the order is wrong";
      start_allreduce(me, all).wait();
      for (std::int64_t const sum : sums)
        if (sum != size * (size * (size - 1) / 2)) return "a started sum is wrong";
      return "";
    });
  }
}

TEST(Together, RanksThatDisagreeInLengthsAllHearOfIt) {
  hybrid on(2);
  if (on.all.size() < 2) GTEST_SKIP();
  std::vector<outcome> all(on.all.threads());
  auto const fault = on.faults([&](member& me) {
    bool const odd = me.rank() == me.size() - 1;
    all[me.rank() - on.all.first()] = outcome_of([&] {
      std::vector<double> a(odd ? 2 : 1), b(odd ? 1 : 2);
      allreduce(me, together(a, b));
    });
    return std::string();
  });
  EXPECT_EQ(said_anywhere(fault), "");
  std::string other;
  for (auto const& one : all)
    if (one.type != type_name<mismatch_error>() || one.message.find("counts") == std::string::npos)
      other = one.type + ": " + one.message;
  EXPECT_EQ(said_anywhere(other), "");
  on.expect_works();
}

}  // namespace
}  // namespace coset::mpi_test
