// SPDX-License-Identifier: Apache-2.0
// main() of the tests of processes: GoogleTest on all of them in step, of which process 0 tells.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace {

constexpr std::pair<std::string_view, int> levels[]{{"--level=funneled", MPI_THREAD_FUNNELED},
                                                    {"--level=serialized", MPI_THREAD_SERIALIZED},
                                                    {"--level=multiple", MPI_THREAD_MULTIPLE}};

constexpr unsigned longest_seconds = 120;

/// The level asked for, or the highest.
int wanted_level(int argc, char** argv) {
  if (argc < 2) return MPI_THREAD_MULTIPLE;
  for (auto const& [word, level] : levels) {
    if (argv[1] == word) return level;
  }
  std::fprintf(stderr, "%s: %s is no level\n", argv[0], argv[1]);
  std::exit(2);
}

}  // namespace

/// [--level=funneled|serialized|multiple] [--offload], and what GoogleTest takes. With --offload MPI's own allreduce
/// combines what hosts have, wherever that is allowed; see usual_options().
int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::string_view(argv[argc - 1]) == "--offload") {
    setenv("COSET_ALLREDUCE", "auto/staged+library", 1);
    --argc;
  }
  int const wanted = wanted_level(argc, argv);
  alarm(longest_seconds);  // a launcher that is killed may leave its processes alone
  int given = MPI_THREAD_SINGLE, process = 0;
  MPI_Init_thread(&argc, &argv, wanted, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  if (given < wanted) {
    if (process == 0) std::puts("this MPI does not give that level");
    MPI_Finalize();
    return 77;
  }
  // An exception that a test lets out ends all processes; were it caught, the others would wait for this one.
  ::testing::GTEST_FLAG(catch_exceptions) = false;
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (process != 0) delete listeners.Release(listeners.default_result_printer());
  int const failed = RUN_ALL_TESTS();
  MPI_Finalize();
  return failed;
}
