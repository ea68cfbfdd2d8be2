// SPDX-License-Identifier: Apache-2.0
// Ranks of several processes that wait for one another in different teams: what each host says, and when the time is over.
#include <chrono>
#include <regex>
#include <sstream>
#include <thread>

#include "mpi/processes.hpp"
#include "team/team_state.hpp"

namespace coset::mpi_test {
namespace {

using std::chrono::milliseconds;

int times(std::string const& what, std::string const& in) {
  std::regex const pattern(what);
  return static_cast<int>(std::distance(std::sregex_iterator(in.begin(), in.end(), pattern), {}));
}

class LongWaits : public ::testing::Test {
 protected:
  hybrid on{2};

  runtime::shared_memory& here() { return detail::any_team(on.all).state().shared; }

  /// All ranks but the last come to an operation of the team, the last one to one of a part that has all ranks.
  std::vector<outcome> wait_in_a_circle() {
    std::vector<outcome> all(on.all.threads());
    static_cast<void>(on.faults([&](member& me) {
      all[me.rank() - on.all.first()] = outcome_of([&] {
        member part = me.split(0);
        std::vector<float> items(10'000);
        me.rank() + 1 == me.size() ? barrier(part) : allreduce(me, items);
      });
      return std::string();
    }));
    return all;
  }
};

TEST_F(LongWaits, AreToldOncePerHostAndEndOnAllRanks) {
  if (processes() == 1) GTEST_SKIP() << "the library proves that all stand still";
  here().patience.limits = {milliseconds(300), milliseconds(1500)};  // by 300 ms all have come to where they wait
  ::testing::internal::CaptureStderr();
  auto const all = wait_in_a_circle();
  std::string const text = said_anywhere(::testing::internal::GetCapturedStderr());
  here().patience.limits = {};
  std::string other;
  for (outcome const& one : all) {
    if (one.type != type_name<timed_out>()) other = one.type + ": " + one.message;
  }
  EXPECT_EQ(said_anywhere(other), "");
  std::string const last = std::to_string(on.all.size() - 1), size = std::to_string(on.all.size());
  EXPECT_EQ(times("stuck\\?", text), on.all.hosts()) << text;
  std::string const others = "ranks 0-" + std::to_string(on.all.size() - 2);
  std::string const last_in_part = "rank " + last + " of " + size + " in a team that was split off has waited";
  if (on.all.hosts() == 1 && times("stuck\\? " + last_in_part, text) == 1) {  // the last one noticed first
    EXPECT_EQ(times("not come to it: " + others + "\n", text), 1) << text;
    EXPECT_EQ(times(others + " have waited .* for rank " + last + " to begin operation", text), 1) << text;
  } else if (on.all.hosts() == 1) {
    EXPECT_EQ(times("not come to it: rank " + last + "\n", text), 1) << text;
    EXPECT_EQ(times("rank " + last + " has waited .*, in another team, of " + size + " ranks", text), 1) << text;
  } else {  // where the last rank is alone
    // Whichever rank there noticed first, and however many the plan gives leaders' work.
    std::string const message = " for a message of rank " + last + " \\(process \\d+ on .* in it: step";
    EXPECT_EQ(times("coset:   ranks? [-0-9]+ (has|have) waited .*" + message, text), 1) << text;
    EXPECT_EQ(times(last_in_part, text), 1) << text;
    EXPECT_EQ(times("messages missing: of rank 0 \\(process \\d+ on ", text), 1) << text;
  }
  on.expect_works();
}

TEST_F(LongWaits, OfProcessesForARunAreTold) {
  if (processes() == 1) GTEST_SKIP() << "nobody else has to begin it";
  bool const is_last = process() + 1 == processes();
  auto& limits = detail::any_team(on.threads).state().shared.patience.limits;
  limits = {milliseconds(50), {}};
  ::testing::internal::CaptureStderr();
  MPI_Barrier(MPI_COMM_WORLD);
  if (is_last) {
    for (auto const since = std::chrono::steady_clock::now();
         std::chrono::steady_clock::now() - since < milliseconds(300);)
      std::this_thread::yield();
  }
  on.expect_works();
  std::string const text = said_anywhere(::testing::internal::GetCapturedStderr());
  limits = {};
  EXPECT_GE(times("stuck\\? process \\d+ has waited \\d+ s for all processes to begin their run\\(\\)", text),
            processes() == 2 ? 1 : 2)
      << text;
}

TEST_F(LongWaits, AreToldToWhoAsks) {
  std::ostringstream text;
  dump(on.all, text);
  EXPECT_EQ(text.str().find("coset: a team of " + std::to_string(on.all.size()) + " ranks\n"), 0u);
  on.expect_works();
}

}  // namespace
}  // namespace coset::mpi_test
