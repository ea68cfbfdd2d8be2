// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other of their calls, for messages.
#include "planning/plan/signature.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

#include "coset/operations.hpp"

namespace coset::planning {
namespace {

using told = std::unique_ptr<described_signature>;

signature sum_of(std::size_t count) {
  return {.what = verb::allreduce, .reduction = &detail::table_of<int, plus>(), .count = count};
}

told described(signature const& s, std::vector<std::size_t> const& pieces = {}, bool started = false) {
  auto to = std::make_unique<described_signature>();
  s.describe(*to, pieces, started);
  return to;
}

std::string act_of(signature const& s, std::vector<std::size_t> const& pieces = {}, bool started = false) {
  return signature::act_of(*described(s, pieces, started), true);
}

TEST(Signature, IsToldInWords) {
  EXPECT_EQ(act_of(sum_of(12)), "calls allreduce of 12 int (coset::plus)");
  EXPECT_EQ(act_of(sum_of(12), {}, true), "starts allreduce of 12 int (coset::plus)");
  signature s = sum_of(12);
  s.in_place = true;
  s.plan = 5;
  EXPECT_EQ(act_of(s), "calls allreduce of 12 int (coset::plus), in place, plan 5");
  s = sum_of(3);
  s.what = verb::reduce;
  s.root = 70'000;
  s.in_place = true;  // makes no difference to it
  EXPECT_EQ(act_of(s), "calls reduce of 3 int (coset::plus), root 70000");
  s.what = verb::barrier;
  EXPECT_EQ(act_of(s), "calls barrier");
  EXPECT_EQ(signature::act_of(described_signature{}, true), "calls nothing yet");
}

/// Whichever verb carries a combination out, the program has called combine().
TEST(Signature, OfACombinationNamesThat) {
  signature s = sum_of(12);
  auto const words_for = [&](verb what, asked_by by) {
    s.what = what;
    auto const to = std::make_unique<described_signature>();
    s.describe(*to, {}, false, by);
    std::string const words = signature::words_of(*to, true);
    EXPECT_TRUE(s.counts != 0 || words == s.text(by)) << s.text(by);
    return words;
  };
  using enum asked_by;
  EXPECT_EQ(words_for(verb::reduce_shared, combine_assign), "combine(assign) of 12 int (coset::plus)");
  EXPECT_EQ(words_for(verb::allreduce_view, combine_add), "combine(add) of 12 int (coset::plus)");
  EXPECT_EQ(words_for(verb::barrier, combine_add), "combine(add)");
  s.root = 70'000;
  EXPECT_EQ(words_for(verb::reduce, combine_assign),
            "combine(assign) of 12 int (coset::plus), to the process of rank 70000");
  EXPECT_EQ(words_for(verb::reduce, program), "reduce of 12 int (coset::plus), root 70000");
  s.counts = 77;
  EXPECT_EQ(words_for(verb::reduce_scatter, combine_add),
            "combine(add) of 12 int (coset::plus), in parts of its ranks that its message does not tell");
}

TEST(Signature, NamesAsManyCountsAsItHasRoomFor) {
  signature s = sum_of(15);
  s.what = verb::reduce_scatter;
  s.counts = 77;
  EXPECT_EQ(act_of(s, {1, 2, 4, 8}), "calls reduce_scatter of 15 int (coset::plus), counts [1, 2, 4, 8]");
  EXPECT_EQ(act_of(s, {15}), "calls reduce_scatter of 15 int (coset::plus), counts [15]");
  EXPECT_EQ(act_of(s, {1, 2, 4, 7, 1}), "calls reduce_scatter of 15 int (coset::plus), counts [1, 2, 4, 7, …]");
  EXPECT_EQ(act_of(s), "calls reduce_scatter of 15 int (coset::plus), counts that its message does not tell");
  s.counts = 0;
  EXPECT_EQ(act_of(s), "calls reduce_scatter of 15 int (coset::plus)");
}

struct own_sum {
  int operator()(int a, int b) const noexcept { return a + b; }
};

/// Other processes cannot read the names: they know common ones by their hash.
TEST(Signature, OfAnotherProcessHasCommonNamesOnly) {
  auto const told_by = [](detail::reduction_table const& reduction) {
    signature s = sum_of(12);
    s.reduction = &reduction;
    return signature::act_of(*described(s), false);
  };
  EXPECT_EQ(told_by(detail::table_of<int, plus>()), "calls allreduce of 12 int (coset::plus)");
  EXPECT_EQ(told_by(detail::table_of<double, minimum>()), "calls allreduce of 12 double (coset::minimum)");
  EXPECT_EQ(told_by(detail::table_of<std::complex<double>, multiplies>()),
            "calls allreduce of 12 std::complex<double> (coset::multiplies)");
  EXPECT_EQ(told_by(detail::table_of<bool, logical_or>()), "calls allreduce of 12 bool (coset::logical_or)");
  EXPECT_EQ(told_by(detail::copy_of<std::byte>()), "calls allreduce of 12 std::byte (copy)");
  EXPECT_EQ(told_by(detail::table_of<int, own_sum>()), "calls allreduce of 12 elements");
}

TEST(Signature, SaysThatTypesDifferWhereNothingElseTells) {
  signature own = sum_of(12), doubles = sum_of(12);
  own.reduction = &detail::table_of<int, own_sum>();
  doubles.reduction = &detail::table_of<double, plus>();
  auto const told_by = [](signature const& peer, bool one_process) {
    return signature::peer_act_of(*described(peer), *described(sum_of(12)), one_process);
  };
  EXPECT_EQ(told_by(own, false), "calls allreduce of 12 elements, but of another type or by another operation");
  EXPECT_EQ(told_by(doubles, false), "calls allreduce of 12 double (coset::plus)");
  EXPECT_EQ(told_by(doubles, true), "calls allreduce of 12 double (coset::plus)");
  EXPECT_EQ(told_by(sum_of(12), false), "calls allreduce of 12 int (coset::plus)");
  own.count = 13;
  EXPECT_EQ(told_by(own, false), "calls allreduce of 13 elements");
  own.count = 12;
  own.in_place = true;
  EXPECT_EQ(told_by(own, false), "calls allreduce of 12 elements, in place");
}

TEST(Signature, HasAnotherHashForEachDifference) {
  std::vector<signature> all(8, sum_of(12));
  all[1].count = 13;
  all[2].what = verb::scan;
  all[3].root = 1;
  all[4].in_place = true;
  all[5].plan = 1;
  all[6].counts = 1;
  all[7].reduction = &detail::table_of<double, plus>();
  for (signature const& a : all)
    for (signature const& b : all) EXPECT_EQ(a.hash() == b.hash(), &a == &b) << &a - all.data() << &b - all.data();
}

}  // namespace
}  // namespace coset::planning
