// SPDX-License-Identifier: Apache-2.0
// What journals cost: of ranks that are nowhere in particular, of teams that are gone, and of processes that fork.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "command/trace/read.hpp"
#include "trace/recording.hpp"

namespace coset::trace_test {
namespace {

constexpr std::int64_t mib = 1 << 20;

std::int64_t most_memory_so_far() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss * std::int64_t{1024};
}

pid_t const parent = getpid();

std::filesystem::path folder();

void remove_folder() {
  if (getpid() == parent) std::filesystem::remove_all(folder());
}

/// A folder of its own, which the environment names before anything is recorded.
std::filesystem::path folder() {
  static auto const& made = *new std::filesystem::path([] {
    std::string name = (std::filesystem::temp_directory_path() / "coset_trace_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    setenv("COSET_TRACE", (name + "/t.json").c_str(), 1);
    for (char const* const launcher : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) unsetenv(launcher);
    std::atexit(remove_folder);  // after the trace has been written there, as it is asked for first
    return std::filesystem::path(name);
  }());
  return made;
}

class Lifetimes : public ::testing::Test {
 protected:
  void SetUp() override { folder(); }
};

void call_in_a_team(int calls = 1) {
  team threads(options_for(2));
  threads.run([&](member& me) {
    for (int k = 0; k < calls; ++k) barrier(me);
  });
}

// Asked for 512 MiB of each rank, to name a node of no number.
TEST_F(Lifetimes, AdoptedRanksTakeNoMoreThanTheirJournals) {
  std::int64_t const before = most_memory_so_far();
  auto const ranks = team::adopt(2);
  std::thread other([&] {
    auto me = ranks->join(1);
    barrier(*me);
  });
  {
    auto me = ranks->join(0);
    barrier(*me);
  }
  other.join();
  EXPECT_LT(most_memory_so_far() - before, 200 * mib);
}

TEST_F(Lifetimes, TeamsThatHaveEndedKeepTheirEventsAlone) {
  call_in_a_team();
  std::size_t const before = trace::collect().ranks.size();
  std::int64_t const memory_before = most_memory_so_far();
  constexpr int teams = 40;
  for (int k = 0; k < teams; ++k) call_in_a_team(3);
  EXPECT_LT(most_memory_so_far() - memory_before, 80 * mib);  // 160 MiB of journals
  auto const all = trace::collect();
  ASSERT_EQ(all.ranks.size(), before + 2 * teams);
  for (std::size_t r = before; r < all.ranks.size(); ++r)
    EXPECT_EQ(std::ranges::count(all.ranks[r].events, trace::kind::operation, &trace::event::what), 3);
}

TEST_F(Lifetimes, EachChildWritesWhatItHasDoneItself) {
  call_in_a_team();
  std::vector<pid_t> children;
  for (int calls : {2, 5}) {
    pid_t const child = fork();
    if (child == 0) {
      call_in_a_team(calls);
      std::exit(0);
    }
    children.push_back(child);
  }
  std::size_t operations = 2;
  for (pid_t const child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    auto const log = cli::read_trace(folder() / ("t." + std::to_string(child) + ".json"));
    EXPECT_EQ(log.process, static_cast<std::uint32_t>(child));
    ASSERT_EQ(log.ranks.size(), 2u);
    for (auto const& rank : log.ranks)
      EXPECT_EQ(std::ranges::count(rank.events, trace::kind::operation, &trace::event::what), operations);
    operations += 3;
  }
  EXPECT_FALSE(std::filesystem::exists(folder() / "t.json"));
}

}  // namespace
}  // namespace coset::trace_test
