// SPDX-License-Identifier: Apache-2.0
// The plan that the library chooses: every count, type, operation, alignment and placing of results, on real threads.
#include "support/reductions.hpp"
#include "support/teams.hpp"

namespace coset::team_test {
namespace {

std::vector<std::size_t> const counts =
    test::by_effort<std::vector<std::size_t>>({0, 1, 3, 64, 1000, 65537}, {0, 1, 2, 3, 7, 64, 1000, 4097, 65537},
                                              {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 64, 1000, 4097, 65537, 300007});

class Allreduce : public ::testing::TestWithParam<rank_t> {};

TEST_P(Allreduce, IsRightAndTheSameEverywhereForAnyCountTypeOperationAndAlignment) {
  team ranks(options_for(GetParam()));
  std::size_t const stride = test::by_effort<std::size_t>(5, 1, 1);  // prime to the number of combinations
  std::size_t number = 0;
  for (std::size_t const count : counts) {
    for (std::size_t which = 0; which < combinations * 4; which += stride) {
      shape const s{count, (which / combinations & 1) != 0, (which / combinations & 2) != 0};
      with_combination(which, [&]<class T, class Op>() {
        SCOPED_TRACE(
            describe(ranks.size(), s, std::string(detail::name_of<Op>()) + " " + std::string(detail::name_of<T>())));
        check_reduction<T, Op>(ranks, s, ++number, [&](member& me, std::span<T> in, std::span<T> out) {
          if (s.in_place) {
            allreduce(me, in, Op{});
          } else {
            allreduce(me, in, out, Op{});
          }
        });
      });
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Allreduce, ::testing::ValuesIn(team_sizes()), size_name);

}  // namespace
}  // namespace coset::team_test
