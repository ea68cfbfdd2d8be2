// SPDX-License-Identifier: Apache-2.0
// The driver must take no failure for something else.
#include <gtest/gtest.h>

#include <csignal>

#include "torture/driver/driver.hpp"
#include "torture/misfortunes.hpp"

namespace coset::torture {
namespace {

constexpr int exited(int status) { return status << 8; }

cell of(fault f, team_kind team = team_kind::own) { return {0, team, f}; }

struct told : accounts {
  told(bool struck, outcome what, char const* words = "") : accounts{} {
    front().struck = struck;
    front().tell(what, words);
  }
};

TEST(Judge, TakesRightResultsAndWordsFromWhoeverComesToTheEnd) {
  EXPECT_EQ(judge(of(fault::fork), told(true, outcome::right), true, exited(0), "").is, verdict::right);
  EXPECT_EQ(judge(of(fault::threads), told(true, outcome::words, "too many"), true, exited(0), "").is, verdict::words);
  EXPECT_EQ(judge(of(fault::fork), told(true, outcome::right), true, exited(1), "").is, verdict::died);
  EXPECT_EQ(judge(of(fault::fork), told(true, outcome::none), true, exited(0), "").is, verdict::silent);
}

TEST(Judge, KeepsAWrongResultWhateverElseIsSaid) {
  told both(true, outcome::wrong, "3 instead of 4");
  both.front().tell(outcome::right, "");
  auto const e = judge(of(fault::modes), both, true, exited(0), "");
  EXPECT_EQ(e.is, verdict::wrong);
  EXPECT_EQ(e.text, "3 instead of 4");
}

TEST(Judge, WantsTheEndThatTheFaultAsksFor) {
  for (auto const& [what, status] :
       {std::pair{fault::exit, exited(by_exit)}, {fault::exec, exited(by_exec)}, {fault::kill, int{SIGKILL}}}) {
    EXPECT_EQ(judge(of(what), told(true, outcome::none), true, status, "").is, verdict::ended);
    EXPECT_EQ(judge(of(what), told(false, outcome::none), true, status, "").is, verdict::died);
    EXPECT_EQ(judge(of(what), told(true, outcome::none), true, SIGSEGV, "").is, verdict::died);
    EXPECT_EQ(judge(of(what), told(true, outcome::right), true, exited(0), "").is, verdict::silent);
    EXPECT_EQ(judge(of(what), told(true, outcome::none), false, SIGKILL, "").is, verdict::hung);
  }
}

TEST(Judge, TakesLastWordsOfOthersOnlyWhereTheyWereRefusedSomething) {
  std::string const words = "libgomp: Thread creation failed";
  EXPECT_EQ(judge(of(fault::threads, team_kind::openmp), told(true, outcome::none), true, exited(1), words).is,
            verdict::words);
  EXPECT_EQ(judge(of(fault::fork, team_kind::openmp), told(true, outcome::none), true, exited(1), words).is,
            verdict::died);
  EXPECT_EQ(judge(of(fault::threads), told(true, outcome::none), true, exited(1), words).is, verdict::died);
  std::string const of_ucx = "mm_sysv.c:57   UCX  ERROR shmat(shmid=1) failed: Cannot allocate memory";
  cell const processes = of(fault::address_space, team_kind::processes);
  EXPECT_EQ(judge(processes, told(true, outcome::none), true, exited(15), of_ucx).is, verdict::words);
  EXPECT_EQ(judge(processes, told(true, outcome::none), true, exited(15), "").is, verdict::died);
  EXPECT_EQ(judge(processes, told(true, outcome::none), true, exited(1), "Abort(1) on node 0: Internal error").is,
            verdict::words);
}

TEST(Judge, WantsWordsFromEachProcess) {
  told one(true, outcome::right);
  EXPECT_NE(judge(of(fault::modes, team_kind::processes), one, true, exited(0), "").is, verdict::right);
  one.back().tell(outcome::words, "aborted");
  EXPECT_EQ(judge(of(fault::modes, team_kind::processes), one, true, exited(0), "").is, verdict::words);
}

TEST(Cells, HoldEveryFaultForEachDeedThatAKindOfTeamCanDo) {
  using enum team_kind;
  std::size_t pairs = 0;
  for (deed_kind const& d : deeds())
    for (team_kind const team : {own, adopted, openmp, tasks, processes}) pairs += impossible(d, team).empty() ? 1 : 0;
  EXPECT_EQ(cells_of({own, adopted, openmp, tasks, processes}).size(), pairs * fault_names.size());
  EXPECT_GT(pairs, 5 * deeds().size() * 3 / 4);
}

}  // namespace
}  // namespace coset::torture
