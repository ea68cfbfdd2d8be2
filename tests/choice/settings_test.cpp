// SPDX-License-Identifier: Apache-2.0
// Settings that nobody reads as they stand are named, and those that make no sense are refused.
#include "planning/choice/rules/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <coset/coset.hpp>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/environment/variables.hpp"
#include "planning/choice/rules/table.hpp"
#include "planning/schedule/registry/algorithm.hpp"
#include "variable.hpp"

namespace coset::choice {
namespace {

using test::variable;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Settings, ThatNothingReadsAreNamedWithTheNearestThatIsRead) {
  EXPECT_THAT(wrong_settings({"COSET_ALREDUCE=direct"}),
              ElementsAre("COSET_ALREDUCE is not a variable that coset reads; COSET_ALLREDUCE is"));
  EXPECT_THAT(wrong_settings({"COSET_BINDING=no", "COSET_LOGS=plan", "COSET_EXCLUSIVESCAN="}),
              ElementsAre("COSET_BINDING is not a variable that coset reads; COSET_BIND is",
                          "COSET_LOGS is not a variable that coset reads; COSET_LOG is",
                          "COSET_EXCLUSIVESCAN is not a variable that coset reads; COSET_EXCLUSIVE_SCAN is"));
}

TEST(Settings, OfCosetAndOfOthersAreNotNamed) {
  std::vector<std::string> all{"PATH=/bin",
                               "COSETTE=1",
                               "COSET_BIND=no",
                               "COSET_LOG=plan",
                               "COSET_TUNING=off",
                               "COSET_ISA=AVX2",
                               "COSET_DIR=/opt",
                               "COSET_ROOT=/opt",
                               "COSET_TEST_SEED=3",
                               "COSET_TEST_ANY=1",
                               "COSET_MPI=mpich",
                               "COSET_BUILD_TESTS=ON",
                               "COSET_MPIEXEC=mpirun",
                               "COSET_VM_NODES=2",
                               "COSET_SANITIZE=thread"};
  for (verb const what : all_verbs()) all.push_back(environment::variable_of(what) + "=direct:0-1;direct/staged:1-");
  EXPECT_THAT(wrong_settings(all), IsEmpty());
}

TEST(Settings, WithWordsThatTheirVariableDoesNotTakeAreNamed) {
  EXPECT_THAT(wrong_settings({"COSET_LOG=plans"}), ElementsAre(HasSubstr("COSET_LOG=plans: is no word")));
  EXPECT_THAT(wrong_settings({"COSET_LOG=plan mpi"}), ElementsAre(HasSubstr("COSET_LOG=plan mpi: is no word")));
  EXPECT_THAT(wrong_settings({"COSET_LOG=team,plans"}), ElementsAre(HasSubstr("COSET_LOG=team,plans: is no word")));
  EXPECT_THAT(wrong_settings({"COSET_LOG=plan,"}), ElementsAre(HasSubstr("COSET_LOG=plan,: is no word")));
  EXPECT_THAT(wrong_settings({"COSET_LOG=plan,mpi"}), IsEmpty());
  EXPECT_THAT(wrong_settings({"COSET_LOG=team,mpi,plan"}), IsEmpty());
  EXPECT_THAT(wrong_settings({"COSET_INTERPOSE_REQUIRE=yes"}), ElementsAre(HasSubstr("=yes: is no word")));
  EXPECT_THAT(wrong_settings({"COSET_INTERPOSE_REQUIRE=1"}), IsEmpty());
  EXPECT_THAT(wrong_settings({"COSET_BIND=off"}), ElementsAre(HasSubstr("COSET_BIND=off: is no word")));
  EXPECT_THAT(wrong_settings({"COSET_ADAPT=never"}), ElementsAre(HasSubstr("COSET_ADAPT=never: is no word")));
  EXPECT_THAT(wrong_settings({"COSET_ADAPT=off", "COSET_ADAPT=on", "COSET_ADAPT=flip"}), IsEmpty());
  EXPECT_THAT(wrong_settings({"COSET_LOG=", "COSET_BIND="}), IsEmpty());
  EXPECT_THAT(wrong_settings({"COSET_STUCK=often"}), ElementsAre(HasSubstr("COSET_STUCK=often: is no number of s")));
  EXPECT_THAT(wrong_settings({"COSET_TIMEOUT=-1"}),
              ElementsAre(HasSubstr("COSET_TIMEOUT=-1: is no number of seconds")));
  EXPECT_THAT(wrong_settings({"COSET_STUCK=0", "COSET_STUCK=1e30", "COSET_TIMEOUT=0.5"}), IsEmpty());
}

TEST(Settings, OfWaitsAreSeconds) {
  using std::chrono::milliseconds;
  EXPECT_EQ(wanted_wait_limits().until_told, milliseconds(60'000));
  EXPECT_EQ(wanted_wait_limits().longest, milliseconds(0));
  test::variable const stuck("COSET_STUCK", "0.25"), timeout("COSET_TIMEOUT", "30");
  EXPECT_EQ(wanted_wait_limits().until_told, milliseconds(250));
  EXPECT_EQ(wanted_wait_limits().longest, milliseconds(30'000));
  test::variable const never("COSET_STUCK", "0"), wrong("COSET_TIMEOUT", "soon");
  EXPECT_EQ(wanted_wait_limits().until_told, milliseconds(0));
  EXPECT_EQ(wanted_wait_limits().longest, milliseconds(0));
}

TEST(Settings, WithPlansThatNeverServeTheirVerbAreNamed) {
  EXPECT_THAT(wrong_settings({"COSET_SCAN=direct:0-1k;ring:1k-"}),
              ElementsAre("COSET_SCAN=direct:0-1k;ring:1k-: ring does not serve scan and is passed over"));
}

/// A process of its own: what is said once has not been said before there.
TEST(SettingsDeathTest, AreNamedOnceInTheLifeOfAProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto const make_teams = [] {
    variable const wrong("COSET_BRAODCAST", "direct");
    for (int k = 0; k < 3; ++k) team const made({.ranks = 2, .place = placement::unbound});
    std::exit(0);
  };
  EXPECT_EXIT(make_teams(), ::testing::ExitedWithCode(0),
              "^coset: COSET_BRAODCAST is not a variable that coset reads; COSET_BROADCAST is\n$");
}

TEST(SettingsDeathTest, OfAnInstructionSetThatIsNoneMakeNoTeam) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto const make_team = [] {
    variable const wrong("COSET_ISA", "MMX");
    try {
      team const made({.ranks = 1});
    } catch (argument_error const& e) {
      std::fputs(e.what(), stderr);
      std::exit(3);
    }
  };
  EXPECT_EXIT(make_team(), ::testing::ExitedWithCode(3), "COSET_ISA: instruction set \"MMX\"");
}

template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (argument_error const& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(Settings, WithoutSenseForAnyNumberOfRanksMakeNoTeam) {
  for (std::string const wrong : {"generalized(radix=0)",
                                  "generalized(radix=1)/staged",
                                  "generalized(radix=x)",
                                  "generalized(saved_steps=-1)",
                                  "capped(cap=0)",
                                  "bruck_ho(n=0)",
                                  "product",
                                  "product(dims=0x3)",
                                  "product(dims=3y3)",
                                  "tower(radix=2)",
                                  "unequal(radix=2)",
                                  "unequal(nodes=3+0)",
                                  "two_level(nodes=2+2,between=rong)",
                                  "two_level(nodes=2+2,dims=2)",
                                  "two_level(nodes=2+2,between=ring,radix=3)",
                                  "ring(radix=2)",
                                  "flexreduce",
                                  "fold",
                                  "fold(shifts=1+two)",
                                  "fold(shifts=2+1,group=4y3)",
                                  "fold(shifts=2+1,group=d)",
                                  "fold(shifts=2+)"}) {
    variable const set("COSET_ALLREDUCE", "ring:0-1k;" + wrong + ":1k-");
    auto const said = refusal([] { team const made({.ranks = 2, .place = placement::unbound}); });
    EXPECT_THAT(said, HasSubstr("COSET_ALLREDUCE: in '" + wrong)) << wrong;
  }
}

/// What some team could take is passed over by others, not refused.
TEST(Settings, ThatSomeNumberOfRanksGivesASenseAreTaken) {
  for (std::string const good : {"generalized(radix=17,saved_steps=9)", "product(dims=4x3)", "unequal(nodes=5+4+2)",
                                 "two_level(nodes=1+1,leaders=0)", "fold(group=3.7.2,shifts=1+2.3+6)/staged",
                                 "fold(group=dihedral,shifts=swing)", "fold(shifts=circulant,radix=3,cap=2)", "swing",
                                 "flexreduce(tree=absent.json)", "auto/staged"}) {
    variable const set("COSET_ALLREDUCE", good);
    EXPECT_EQ(refusal([] { team const made({.ranks = 2, .place = placement::unbound}); }), "nothing was thrown")
        << good;
  }
}

/// The table of least values agrees with what the algorithms themselves refuse.
TEST(Settings, AreRefusedWhereEveryNumberOfRanksRefusesThem) {
  for (auto const& row : schedule::registry()) {
    for (auto const& p : row.parameters) {
      bool const is_number =
          !p.default_value.empty() && p.default_value.find_first_not_of("0123456789") == p.default_value.npos;
      if (!is_number) continue;
      for (std::uint32_t const value : {0u, 1u, 2u}) {
        schedule::algorithm const given{row.name,
                                        {{p.name, std::to_string(value)},
                                         {"nodes", "4+4"},
                                         {"dims", "4x2"},
                                         {"factors", "4x2"},
                                         {"shifts", "ring"}}};
        auto some = given;
        std::erase_if(some.parameters, [&](auto const& entry) {
          auto const taken = std::ranges::find(row.parameters, entry.first, &schedule::parameter::name);
          bool const is_example = entry.first != p.name;
          return taken == row.parameters.end() || (is_example && taken->passed_on);
        });
        bool makes_sense = true, serves = true;
        try {
          schedule::require_sense(some);
        } catch (schedule_error const&) {
          makes_sense = false;
        }
        try {
          (void)schedule::make(some, 8, row.verbs.front());
        } catch (schedule_error const&) {
          serves = false;
        }
        bool const depends_on_ranks = p.name == "saved_steps";
        EXPECT_EQ(makes_sense, serves || depends_on_ranks) << some.text();
      }
    }
  }
}

}  // namespace
}  // namespace coset::choice
