// SPDX-License-Identifier: Apache-2.0
// What is said of reducers that end with values in them.
#include <cstdlib>
#include <functional>
#include <utility>

#include "coset/coset.h"
#include "reducer/updates.hpp"

namespace coset::reducer_test {
namespace {

constexpr char const* words = "ends with values that were never combined; said once per process";

struct ending {
  char const* name;
  std::function<void()> body;
  bool says;
};

void combines_in_time() {
  std::vector<double> a(100);
  float x = 0;
  joint_reducer sums(a, x);
  std::get<0>(sums.local())[3] = 1;
  std::get<1>(sums.local()) = 1;
  sums.combine();
}
void is_reset() {
  reducer<int> sum(100);
  sum.local()[1] = 1;
  sum.reset();
}
void is_viewed() {
  for (auto const& options : {sparse_options{}, sparse_options{.most_bytes = 1}}) {
    sparse_reducer<int> sum(200'000, plus{}, 0, options);
    for (std::size_t i = 0; i < sum.size(); ++i) sum.local()[i] += 1;
    (void)sum.view();
  }
}
void is_dense() {
  reducer<int, minimum> least(100, minimum{}, 1000);
  least.local()[99] = 1;
}
void is_joint() {
  std::vector<double> a(100);
  float x = 0;
  joint_reducer sums(a, x);
  std::get<1>(sums.local()) = 1;
}
void is_sparse() {
  sparse_reducer<double> sum(100'000);
  sum.local()[77'777] += 1;
}
/// Values that were folded early lie in the total alone.
void is_capped() {
  sparse_reducer<int> sum(200'000, plus{}, 0, {.most_bytes = 1});
  for (std::size_t i = 0; i < sum.size(); ++i) sum.local()[i] += 1;
}
void gets_more_after_a_combination() {
  for (int twice = 0; twice < 2; ++twice) {
    std::vector<int> a(100);
    reducer<int> sum(100);
    for (int k = 0; k < 2; ++k) {
      sum.local()[5] += 1;
      if (k == 0) sum.combine_into(a);
    }
  }
}
void is_moved() {
  reducer<int> from(100);
  from.local()[5] += 1;
  reducer<int> const to(std::move(from));
}
void is_of_c() {
  coset_reducer* sum = nullptr;
  void* mine = nullptr;
  if (coset_reducer_create(10, COSET_INT32, COSET_PLUS, nullptr, nullptr, &sum) != COSET_SUCCESS) return;
  if (coset_reducer_local(sum, 0, 10, &mine) == COSET_SUCCESS) *static_cast<int*>(mine) = 1;
  coset_reducer_free(sum);
}

class ValuesDeathTest : public testing::TestWithParam<ending> {};
INSTANTIATE_TEST_SUITE_P(Ends, ValuesDeathTest,
                         testing::Values(ending{"combined", combines_in_time, false}, ending{"reset", is_reset, false},
                                         ending{"viewed", is_viewed, false}, ending{"dense", is_dense, true},
                                         ending{"joint", is_joint, true}, ending{"sparse", is_sparse, true},
                                         ending{"capped", is_capped, true},
                                         ending{"later", gets_more_after_a_combination, true},
                                         ending{"moved", is_moved, true}, ending{"c", is_of_c, true}),
                         [](auto const& each) { return each.param.name; });

/// Once, however many there are; and nothing where nothing is lost.
TEST_P(ValuesDeathTest, ThatWereNeverCombinedAreSaidToBeLost) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto const program = [&] {
    setenv("COSET_LOG", "plan", 1);
    testing::internal::CaptureStderr();
    GetParam().body();
    GetParam().body();
    std::string const text = testing::internal::GetCapturedStderr();
    std::size_t const at = text.find(words);
    bool const once = at != text.npos && text.find(words, at + 1) == text.npos;
    std::exit(at == text.npos ? 10 : once ? 11 : 12);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(GetParam().says ? 11 : 10), "");
}

}  // namespace
}  // namespace coset::reducer_test
