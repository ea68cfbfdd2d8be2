// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes: one arena in shared memory, mapped at another address by each.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <random>

#include "numa/memory.hpp"
#include "support/process_team.hpp"
#include "support/verbs.hpp"

namespace coset::team_test {
namespace {

using std::chrono::milliseconds;
using team_room::process_team;

constexpr std::size_t staging_bytes = 64 * 1024;

/// What a child ends with.
enum ending : int { well = 0, wrong = 1, threw = 2, deadline = 3, died = 4 };

struct Processes : ::testing::TestWithParam<rank_t> {
  rank_t const ranks = GetParam();

  /// Runs `body` in one process per rank and tells how each ended.
  std::vector<int> run(std::function<int(member&)> const& body) {
    int const file = memfd_create("arena", 0);
    std::size_t const bytes = process_team::bytes_for(ranks, staging_bytes);
    EXPECT_EQ(ftruncate(file, static_cast<off_t>(bytes)), 0);
    std::vector<pid_t> children;
    for (rank_t r = 0; r < ranks; ++r) {
      pid_t const child = fork();
      if (child == 0) _exit(live(file, bytes, r, body));
      children.push_back(child);
    }
    std::vector<int> endings;
    for (pid_t const child : children) {
      int status = 0;
      waitpid(child, &status, 0);
      endings.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }
    close(file);
    return endings;
  }

  int live(int file, std::size_t bytes, rank_t rank, std::function<int(member&)> const& body) {
    numa::memory const spacer((rank + 1) * 4096 * 1000);  // so that no two map the arena at the same address
    try {
      process_team team(numa::memory::shared(file, bytes), rank, ranks);
      return body(team.self());
    } catch (std::exception const& thrown) {
      std::fprintf(stderr, "rank %u: %s\n", rank, thrown.what());
      return threw;
    }
  }
};

TEST_P(Processes, ReduceAsThreadsDo) {
  auto const endings = run([](member& me) {
    constexpr std::array verbs{verb::allreduce, verb::reduce,  verb::reduce_scatter, verb::allgather,
                               verb::broadcast, verb::scan,    verb::exclusive_scan, verb::barrier,
                               verb::gather,    verb::scatter, verb::all_to_all};
    std::mt19937_64 choices(7);
    for (int k = 0; k < test::by_effort(100, 500, 5000); ++k) {
      task t{.what = verbs[choices() % verbs.size()],
             .root = static_cast<rank_t>(choices() % me.size()),
             .seed = choices()};
      bool const large = choices() % 20 == 0;  // several segments of staging
      bool const by_pieces = t.what == verb::reduce_scatter || t.what == verb::allgather;
      t.counts = even_counts(me.size(), choices() % (large && !by_pieces ? 50'000 : 100));
      t.in_place = t.what != verb::barrier && choices() % 2 == 0;
      bool const split = choices() % 2 == 0;
      auto mine = prepared<double>(t, me.rank());
      std::vector<double> viewed;
      auto const s = spans_of<double>(t, me.rank(), mine, {});
      if (split) {
        start(me, t, s).wait();
      } else {
        call(me, t, s, viewed);
      }
      std::string const fault_found = fault_of<double>(t, me.rank(), mine, {}, viewed);
      if (!fault_found.empty()) {
        std::fprintf(stderr, "%s\n", fault_found.c_str());
        return wrong;
      }
    }
    barrier(me);
    return well;
  });
  EXPECT_EQ(endings, std::vector<int>(ranks, well));
}

/// A barrier of memory reaches the threads of one process only, so that those who signal have to look for sleepers.
TEST_P(Processes, SignalByExchanges) {
  auto const endings = run([](member& me) { return me.state().shared.kind.plain_signals ? wrong : well; });
  EXPECT_EQ(endings, std::vector<int>(ranks, well));
}

/// The dead rank takes nothing down with it: the others' deadlines pass, then they give up.
TEST_P(Processes, ThatLoseOneEndByTheirDeadline) {
  if (ranks == 1) return;
  auto const endings = run([](member& me) {
    std::vector<double> values(1000, 1.0);
    for (int k = 0; k < 10; ++k) allreduce(me, values);
    if (me.rank() + 1 == me.size()) _exit(died);
    try {
      request under_way = start_allreduce(me, values);
      return under_way.wait_for(milliseconds(50)) ? wrong : deadline;
    } catch (aborted const&) {
      return deadline;  // another rank's passed first, and it gave up
    }
  });
  std::vector<int> expected(ranks, deadline);
  expected.back() = died;
  EXPECT_EQ(endings, expected);
}

TEST_P(Processes, TellEachOtherWhatIsWrong) {
  if (ranks == 1) return;
  auto const endings = run([](member& me) {
    std::vector<float> values(me.rank() == 0 ? 30 : 40);
    try {
      allreduce(me, values);
      barrier(me);
    } catch (mismatch_error const& thrown) {
      std::string const said = thrown.what();
      bool const named = said.find("30") != std::string::npos && said.find("40") != std::string::npos;
      return named ? well : wrong;
    }
    return wrong;
  });
  EXPECT_EQ(endings, std::vector<int>(ranks, well));
}

TEST_P(Processes, HaveOneSharedResultEach) {
  auto const endings = run([](member& me) {
    for (std::size_t const count : {10, 5'000}) {
      std::vector<float> const values(count, 1.0f);
      std::vector<float> sum(count);
      reduce_shared(me, values, sum);
      if (sum != std::vector<float>(count, static_cast<float>(me.size()))) return wrong;
      for (float const each : allreduce_view(me, values))
        if (each != static_cast<float>(me.size())) return wrong;
    }
    return well;
  });
  EXPECT_EQ(endings, std::vector<int>(ranks, well));
}

INSTANTIATE_TEST_SUITE_P(Sizes, Processes, ::testing::Values(1, 2, 3, 5, 8), size_name);

}  // namespace
}  // namespace coset::team_test
