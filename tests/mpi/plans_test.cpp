// SPDX-License-Identifier: Apache-2.0
// Plans that are named for a team over processes: it takes them, or says why not, once.
#include <algorithm>
#include <sstream>

#include "mpi/processes.hpp"
#include "planning/schedule/registry/algorithm.hpp"
#include "schedule/files/random_plan.hpp"
#include "variable.hpp"

namespace coset::mpi_test {
namespace {

using test::variable;

/// Lines on standard error of all processes.
std::vector<std::string> lines_of(std::string const& said) {
  std::vector<std::string> lines;
  std::istringstream text(said);
  for (std::string line; std::getline(text, line);) {
    if (line.find("passed over") != std::string::npos) lines.push_back(line);
  }
  return lines;
}

/// What the processes say of calls of two shapes, each made twice, by teams that have been made with this setting.
std::vector<std::string> passed_over(char const* name, std::string const& rules, mpi::options const& wanted) {
  variable const named(name, rules), log("COSET_LOG", "plan");
  hybrid on(1, wanted);
  ::testing::internal::CaptureStderr();
  auto const fault = on.faults([](member& me) -> std::string {
    for (std::size_t const count : {1000u, 1001u, 1000u, 1001u}) {
      std::vector<int> items(count, 1);
      allreduce(me, items);
      if (items[7] != static_cast<int>(me.size())) return "a sum is wrong";
    }
    return "";
  });
  std::string const said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(said_anywhere(fault), "");
  return lines_of(said_anywhere(said));
}

TEST(Plans, OfTheEnvironmentThatProcessesCannotTakeAreNamedOnce) {
  if (processes() == 1) GTEST_SKIP();
  for (mpi::options const& wanted : {mpi::options{}, mpi::options{.staging_bytes = 0}}) {
    bool const in_windows = hybrid(1, wanted).all.describe().find("within hosts") != std::string::npos;
    for (std::string const storage : {"output", "zero_copy"}) {
      auto const said = passed_over("COSET_ALLREDUCE", "direct/" + storage, wanted);
      ASSERT_EQ(said.size(), in_windows ? 1u : 0u) << storage << (said.empty() ? "" : ": " + said.back());
      if (!in_windows) continue;
      for (std::string const word : {"COSET_ALLREDUCE", "direct", "needs ranks of one process"})
        EXPECT_NE(said[0].find(word), std::string::npos) << said[0];
    }
  }
}

TEST(Plans, WithTheLibraryNeedLeadersOrAreNamed) {
  if (processes() == 1) GTEST_SKIP();
  auto const said = passed_over("COSET_ALLREDUCE", "auto/staged+library", {});
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("COSET_ALLREDUCE"), std::string::npos) << said[0];
}

TEST(Plans, ThatProcessesCanTakeAreTaken) {
  for (std::string const rules :
       {"direct", "generalized(radix=2)/staged", "ring/staged/64K", "auto/staged", "n_block(blocks=4)",
        "generalized(permute=reverse)/staged", "ring(permute=random:1)/staged"})
    EXPECT_EQ(passed_over("COSET_ALLREDUCE", rules, {}), std::vector<std::string>()) << rules;
}

TEST(Plans, OfTheThreadsAreNoneOfTheProcesses) {
  if (processes() == 1) GTEST_SKIP();
  hybrid on(1);
  auto const plan = make_plan<int>(on.threads, 10);
  std::vector<outcome> all(on.all.threads());
  auto const fault = on.faults([&](member& me) -> std::string {
    std::vector<int> items(10, 1);
    all[me.rank() - on.all.first()] = outcome_of([&] { plan.execute(me, items); });
    return "";
  });
  EXPECT_EQ(said_anywhere(fault), "");
  std::string wrong;
  for (auto const& one : all) {
    if (one.type != type_name<argument_error>()) wrong = "threw '" + one.type + "' '" + one.message + "'";
  }
  EXPECT_EQ(said_anywhere(wrong), "");
  on.expect_works();
}

/// A schedule for all ranks, for each process to put into a file of its own.
schedule::schedule named(char const* algorithm, rank_t ranks) {
  return schedule::make(schedule::algorithm::parse(algorithm), ranks);
}

TEST(Plans, FromFilesServeAllProcesses) {
  hybrid on(1);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    test::plan_in_file const file(test::random_plan(on.all.size(), seed).plan());
    auto const plan = make_plan<int>(on.all, 1000, plus{}, {.algorithm = file.named()});
    on.expect_no_faults([&](member& me) -> std::string {
      std::vector<int> sums(1000, static_cast<int>(me.rank()) + 1);
      plan.execute(me, sums);
      int const expected = static_cast<int>(me.size() * (me.size() + 1) / 2);
      return std::ranges::count(sums, expected) == 1000
                 ? ""
                 : "a sum is wrong under the plan of seed " + std::to_string(seed);
    });
  }
}

/// Their blocks are of other lengths than the pieces of ranks, and hosts are nothing to them.
TEST(Plans, OfPipelinesServeAllProcesses) {
  hybrid on(1);
  rank_t const root = on.all.size() - 1;
  constexpr std::size_t count = 10'007;
  for (std::string const algorithm :
       {"n_block(blocks=5)", "two_trees(blocks=6)", "dual_root(blocks=4)", "pipelined(blocks=7)"}) {
    for (verb const what : {verb::allreduce, verb::reduce, verb::broadcast}) {
      auto const plan = make_plan<int>(on.all, what, count, plus{}, {.algorithm = algorithm, .root = root});
      on.expect_no_faults([&](member& me) -> std::string {
        std::vector<int> const in(count, static_cast<int>(me.rank()) + 1);
        std::vector<int> out = in;
        what == verb::broadcast ? plan.execute(me, out) : plan.execute(me, in, out);
        int const sum = static_cast<int>(me.size() * (me.size() + 1) / 2);
        int const expected = what == verb::broadcast                     ? static_cast<int>(root) + 1
                             : what == verb::reduce && me.rank() != root ? out[0]  // is nobody's
                                                                         : sum;
        return std::ranges::count(out, expected) == count ? "" : "wrong under " + algorithm;
      });
    }
  }
}

/// In a folder of this process, where the same relative name is another file.
class own_folder {
 public:
  explicit own_folder(test::plan_in_file const& file) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(std::filesystem::path(file.path()).parent_path());
  }
  ~own_folder() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_;
};

/// What each rank of this process says to an allreduce, and whether that is not one of these types.
std::string not_refused(hybrid& on, std::vector<std::string> const& types, std::function<void(member&)> const& call) {
  std::vector<outcome> all(on.all.threads());
  auto const fault = on.faults([&](member& me) -> std::string {
    all[me.rank() - on.all.first()] = outcome_of([&] { call(me); });
    return "";
  });
  for (auto const& one : all)
    if (std::ranges::find(types, one.type) == types.end()) return "threw '" + one.type + "' '" + one.message + "'";
  return fault;
}

TEST(Plans, FromFilesThatDifferAreAnErrorOnAllRanks) {
  if (processes() == 1) GTEST_SKIP();
  hybrid on(1);
  test::plan_in_file const file(named(process() == 0 ? "ring" : "direct", on.all.size()));
  auto const plan = make_plan<int>(on.all, 1000, plus{}, {.algorithm = file.named()});
  std::vector<std::string> const mismatch{type_name<mismatch_error>()};
  EXPECT_EQ(said_anywhere(not_refused(on, mismatch,
                                      [&](member& me) {
                                        std::vector<int> items(1000, 1);
                                        plan.execute(me, items);
                                      })),
            "");
  on.expect_works();
}

TEST(Plans, FromFilesOfTheEnvironmentThatDifferOrLackAreAnErrorOnAllRanks) {
  if (processes() == 1) GTEST_SKIP();
  variable const set("COSET_ALLREDUCE", "plan(file=plan.json)");
  for (bool const lacks : {false, true}) {
    hybrid on(1);
    test::plan_in_file const file(named(process() == 0 ? "ring" : "direct", on.all.size()));
    own_folder const here(file);
    std::vector<std::string> errors{type_name<mismatch_error>()};
    if (lacks) {
      if (process() == 0) std::filesystem::remove(file.path());
      errors.push_back(type_name<schedule_error>());  // who lacks it
    }
    EXPECT_EQ(said_anywhere(not_refused(on, errors,
                                        [](member& me) {
                                          std::vector<int> items(1000, 1);
                                          allreduce(me, items);
                                        })),
              "")
        << lacks;
  }
}

}  // namespace
}  // namespace coset::mpi_test
