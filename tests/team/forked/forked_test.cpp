// SPDX-License-Identifier: Apache-2.0
// What a forked child may do with objects of its parent's: a table of kinds, and one of what the child does.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include "children.hpp"
#include "cross/emulated.hpp"
#include "effort.hpp"
#include "team/forked/c_kinds.hpp"
#include "team/forked/kinds.hpp"

namespace coset::team_test {
namespace {

using test::ending_of;

template <class Kind>
std::unique_ptr<held> make() {
  return std::make_unique<Kind>();
}

struct kind {
  char const* name;
  std::unique_ptr<held> (*made)();
  bool goes_on = false;  ///< in the child; else it is refused
};

constexpr kind kinds[] = {
    {"Run", make<own_team>},
    {"Reserve", make<reserving>},
    {"MakePlan", make<making_plans>},
    {"CombineByTeam", make<combining_by_a_team>},
    {"Join", make<joining>},
    {"Member", make<guard>},
    {"View", make<viewing>},
    {"Reset", make<resetting>},
    {"Split", make<splitting>},
    {"Start", make<starting>},
    {"SplitMember", make<part>},
    {"NodeTeam", make<node_part>},
    {"Plan", make<planned>},
    {"Tasks", make<tasks>},
    {"RequestTest", make<in_flight>},
    {"RequestWait", make<waiting_for_it>},
    {"Reducer", make<keeping_reducer>, true},
    {"SparseReducer", make<keeping_sparse>, true},
    {"JointReducer", make<keeping_joint>, true},
    {"Buffer", make<keeping_buffer>, true},
    {"CTeam", make<c_team>},
    {"CMember", make<c_member>},
    {"CSplitMember", make<c_part>},
    {"CPlan", make<c_plan>},
    {"CRequest", make<c_request>},
    {"CReducer", make<c_reducer>, true},
};

class Forked : public ::testing::TestWithParam<kind> {
 protected:
  std::unique_ptr<held> object = GetParam().made();

  /// "refused", "done", or what else has happened.
  std::string use() const {
    auto const [type, message] = outcome_of([&] { object->use(); });
    if (type.empty()) return "done";
    bool const in_words = type == type_name<argument_error>() && message.find("forked child") != std::string::npos;
    return in_words ? "refused" : message;
  }
  /// At the child's exit, as an object with static storage would be.
  void destroy_at_exit() {
    static held* kept = nullptr;
    kept = object.release();
    std::atexit([] { delete kept; });
  }
};

TEST_P(Forked, AChildIsRefusedInWordsAndMayEndAsItLikes) {
  std::string const expected = GetParam().goes_on ? "done" : "refused";
  auto const used_well = [&] {
    std::string const found = use();
    if (found != expected) std::fprintf(stderr, "in the child: %s\n", found.c_str());
    return found == expected;
  };
  struct {
    char const* name;
    std::function<void()> act;
  } const acts[] = {
      {"uses it", [&] { _exit(used_well() && used_well() ? 3 : 4); }},
      {"destroys it", [&] { object.reset(), _exit(3); }},
      {"uses and destroys it",
       [&] {
         bool const well = used_well();
         object.reset();
         _exit(well ? 3 : 4);
       }},
      {"ends by exit()", [&] { destroy_at_exit(), exit(3); }},
      {"cannot start a program, and ends by exit()",
       [&] {
         destroy_at_exit();
         execl("/no/such/program", "program", nullptr);
         exit(3);
       }},
      {"forks", [&] { _exit(ending_of([&] { _exit(used_well() ? 5 : 6); }) == "status 5" ? 3 : 4); }},
      {"ends by _exit()", [] { _exit(3); }},
  };
  static test::sample some(1, 3);  // over all kinds, as sanitizers fork slowly
  for (auto const& each : acts) {
    if (some.skips()) continue;
    EXPECT_EQ(ending_of(each.act), "status 3") << "the child " << each.name;
  }
  EXPECT_TRUE(object->is_right());
}

INSTANTIATE_TEST_SUITE_P(Kinds, Forked, ::testing::ValuesIn(kinds),
                         [](auto const& each) { return std::string(each.param.name); });

class ForkedInABody : public ::testing::TestWithParam<rank_t> {
 protected:
  team ranks{options_for(3)};

  /// `act` is the child's, of the rank of this test. What the child of a run() does afterwards is `outside`.
  std::string ending_of_child(std::function<void(member&)> const& act, std::function<void()> const& outside) {
    std::string ending;
    pid_t const parent = getpid();
    auto const run = [&] {
      ranks.run([&](member& me) {
        EXPECT_EQ(allreduce(me, 1), 3);  // nobody allocates from now on
        if (me.rank() == GetParam()) {
          pid_t const child = fork();
          if (child == 0) return alarm(60), act(me);
          int status = 0;
          waitpid(child, &status, 0);
          ending = WIFEXITED(status) ? "status " + std::to_string(WEXITSTATUS(status))
                                     : "signal " + std::to_string(WTERMSIG(status));
        }
        EXPECT_EQ(allreduce(me, 1), 3);
      });
    };
    if (getpid() == parent) {
      auto const left = outcome_of(run);
      if (getpid() != parent) {
        if (left.message.find("forked child") == std::string::npos) _exit(9);
        outside();
        _exit(8);
      }
      EXPECT_EQ(left.message, "");
    }
    expect_works(ranks);
    return ending;
  }
};

TEST_P(ForkedInABody, ItsCallsAreRefused) {
  auto const calls = [](member& me) {
    auto const refused = outcome_of([&] { barrier(me); });
    auto const again = outcome_of([&] { static_cast<void>(start_barrier(me)); });
    _exit(refused.type == type_name<argument_error>() && refused.message == again.message ? 3 : 4);
  };
  EXPECT_EQ(ending_of_child(calls, [] {}), "status 3");
}

TEST_P(ForkedInABody, ItMayExit) {
  EXPECT_EQ(ending_of_child([](member&) { exit(3); }, [] {}), "status 3");
}

/// Rank 0's thread is that of run(), which throws; others end as threads do, the child's last one.
TEST_P(ForkedInABody, ItMayReturn) {
  if (GetParam() != 0 && !test::children_start_threads()) GTEST_SKIP() << "ThreadSanitizer knows no thread of a child";
  EXPECT_EQ(ending_of_child([](member&) {}, [] { _exit(3); }), GetParam() == 0 ? "status 3" : "status 0");
}

TEST_P(ForkedInABody, WhatIsThrownEndsIt) {
  signal(SIGABRT, SIG_DFL);
  EXPECT_EQ(ending_of_child([](member& me) { barrier(me); }, [] { _exit(3); }),
            GetParam() == 0 ? "status 3" : "signal " + std::to_string(SIGABRT));
}

INSTANTIATE_TEST_SUITE_P(Ranks, ForkedInABody, ::testing::Values(0, 2), size_name);

/// The child does not get on where it would wait for threads that it has not.
TEST(ForkedInAnOperation, ItEnds) {
  team ranks(options_for(3));
  std::atomic<bool> forks = true;
  auto const adds = [&](int a, int b) {
    if (forks.exchange(false)) {
      pid_t const child = fork();
      if (child == 0) {
        alarm(60);
        std::signal(SIGABRT, SIG_DFL);
        return a + b;
      }
      int status = 0;
      waitpid(child, &status, 0);
      EXPECT_FALSE(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    }
    return a + b;
  };
  pid_t const parent = getpid();
  auto const left = outcome_of([&] {
    ranks.run([&](member& me) {
      for (int k = 0; k < 3; ++k) EXPECT_EQ(allreduce(me, 1, adds), 3);
    });
  });
  if (getpid() != parent) _exit(left.message.find("forked child") != std::string::npos ? 3 : 4);
  EXPECT_EQ(left.message, "");
  expect_works(ranks);
}

/// Whatever another thread does as the process forks: makes teams, reducers and copies, plans or operations.
std::atomic<bool> table_is_begun = false, table_may_be_made = false;

/// A table whose making takes until the test says so.
detail::reduction_table const& slow_table() {
  return detail::made_once([] {
    table_is_begun = true;
    while (!table_may_be_made) std::this_thread::yield();
    return detail::table_of<short, plus>();
  });
}

/// Red if a child is forked while another thread makes a table: it waits for ever for the rest.
TEST(ForkedBesideOthers, AChildFindsNoTableHalfMade) {
  std::jthread const makes([] { slow_table(); });
  while (!table_is_begun) std::this_thread::yield();
  std::atomic<bool> is_about_to_fork = false;
  std::string ending;
  {
    std::jthread const forks([&] {
      is_about_to_fork = true;
      ending = test::ending_of([] { _exit(slow_table().element_bytes == sizeof(short) ? 0 : 1); });
    });
    while (!is_about_to_fork) std::this_thread::yield();
    for (int k = 0; k < 10'000; ++k) std::this_thread::yield();  // time for a fork that does not wait
    table_may_be_made = true;
  }
  EXPECT_EQ(ending, "status 0");
}

TEST(ForkedBesideOthers, AChildMakesAndUsesWhatItLikes) {
  if (!test::children_start_threads()) GTEST_SKIP() << "no threads in a child of a process that has some";
  if (test::is_sanitized) GTEST_SKIP() << "AddressSanitizer's own locks may be held in a child";
  std::atomic<bool> ends = false;
  reducer<int> shared(1000);
  auto const works = [] {
    team ranks(options_for(2));
    reducer<int> sums(1000);
    std::atomic<int> right = 0;
    ranks.run([&](member& me) {
      sums.local(me)[7] += 1;
      auto half = me.split(0, 0);
      right += allreduce(half, 1) == 2;
    });
    std::vector<int> target(1000);
    sums.combine_into(target, ranks);
    return right == 2 && target[7] == 2;
  };
  std::thread other([&] {
    while (!ends) {
      EXPECT_TRUE(works());
      std::thread([&] { shared.local()[3] += 1; }).join();
    }
  });
  for (int k = 0; k < test::by_effort(10, 25, 500); ++k) {
    EXPECT_EQ(ending_of([&] {
                shared.local()[3] += 1;
                std::vector<int> target(1000);
                shared.combine_into(target);
                _exit(works() && target[3] > 0 ? 3 : 4);
              }),
              "status 3");
  }
  ends = true;
  other.join();
  EXPECT_TRUE(works());
}

}  // namespace
}  // namespace coset::team_test
