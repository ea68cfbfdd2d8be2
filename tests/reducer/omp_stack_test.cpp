// SPDX-License-Identifier: Apache-2.0
// Reductions of 64 MiB per thread on stacks of the usual limit, 8 MiB, in processes that start with it: threads' stacks
// are as large as the limit was when the program was loaded.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "coset/omp.hpp"

namespace coset::reducer_test {
namespace {

std::size_t const elements = (std::size_t{64} << 20) / sizeof(double);

bool is_sum_of_two(std::vector<double> const& got) {
  return got[0] == 2 && got[elements - 64] == 2 && got[1] == 0 && got[elements - 1] == 0;
}

bool reduces_by_coset() {
  std::vector<double> got(elements);
  omp::reduction sum(got);
#pragma omp parallel num_threads(2)
  {
    auto const mine = sum.local();
    for (std::size_t i = 0; i < elements; i += 64) mine[i] += 1;
    sum.combine();
  }
  return is_sum_of_two(got);
}

bool reduces_by_openmp() {
  std::vector<double> got(elements);
  double* const to = got.data();
  std::size_t const n = elements;
#pragma omp parallel reduction(+ : to[:n]) num_threads(2)
  for (std::size_t i = 0; i < n; i += 64) to[i] += 1;
  return is_sum_of_two(got);
}

enum exit_status { right = 0, wrong = 3, not_started = 4 };

/// In a child: this program anew, with that limit and without what would override it.
[[noreturn]] void start_anew(char const* argument) {
  rlimit stack{};
  getrlimit(RLIMIT_STACK, &stack);
  stack.rlim_cur = std::min<rlim_t>(stack.rlim_max, 8 << 20);
  rlimit const no_core_files{0, 0};
  char name[] = "reducer_omp_test";
  char* const arguments[] = {name, const_cast<char*>(argument), nullptr};
  for (auto const* const variable :
       {"OMP_STACKSIZE", "GOMP_STACKSIZE", "KMP_STACKSIZE", "OMP_THREAD_LIMIT", "OMP_DYNAMIC"})
    unsetenv(variable);
  if (setrlimit(RLIMIT_STACK, &stack) == 0 && setrlimit(RLIMIT_CORE, &no_core_files) == 0)
    execv("/proc/self/exe", arguments);
  _exit(not_started);
}

enum class outcome { right, wrong, not_started, crashed };

outcome of_child(char const* argument) {
  pid_t const child = fork();
  if (child == 0) start_anew(argument);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return outcome::not_started;
  if (!WIFEXITED(status)) return outcome::crashed;
  switch (WEXITSTATUS(status)) {
    case right:
      return outcome::right;
    case wrong:
      return outcome::wrong;
    case not_started:
      return outcome::not_started;
    default:
      return outcome::crashed;  // a sanitizer has seen it
  }
}

TEST(OmpReduction, Of64MebibytesNeedsNoStack) { EXPECT_EQ(of_child("--by-coset"), outcome::right); }

// Else the test above shows nothing.
TEST(OmpReduction, Of64MebibytesIsMoreThanOpenMPsOwnCanDo) {
  outcome const got = of_child("--by-openmp");
  if (got == outcome::right) GTEST_SKIP() << "this compiler keeps private copies elsewhere";
  EXPECT_EQ(got, outcome::crashed);
}

}  // namespace
}  // namespace coset::reducer_test

int main(int count, char** arguments) {
  using namespace coset::reducer_test;
  std::string_view const first = count > 1 ? arguments[1] : "";
  if (first == "--by-coset") return reduces_by_coset() ? right : wrong;
  if (first == "--by-openmp") return reduces_by_openmp() ? right : wrong;
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
