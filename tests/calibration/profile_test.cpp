// SPDX-License-Identifier: Apache-2.0
// Profiles: kept, found again, and passed over or refused where they do not belong.
#include "planning/calibration/profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <coset/coset.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "numa/binding.hpp"
#include "planning/program/plan_text.hpp"
#include "variable.hpp"

namespace coset::calibration {
namespace {

using test::variable;
using ::testing::HasSubstr;

class Profile : public ::testing::Test {
 protected:
  Profile() {
    std::string name = ::testing::TempDir() + "coset-profile-XXXXXX";
    folder_ = mkdtemp(name.data());
    unsetenv("COSET_TUNING");
  }
  ~Profile() override { std::filesystem::remove_all(folder_); }

  std::string file(std::string const& name = "profile.json") const { return folder_ + "/" + name; }

  profile sample() const {
    return {fingerprint_of(machine_tuned_for()),
            "2026-01-02T03:04:05Z",
            {0, 1},
            {{0, 40}, {40, 0}},
            40,
            30,
            0.1,
            {{verb::allreduce, 3, 100, 5000, plan_named("ring/staged_pull"), false},
             {verb::broadcast, 3, 0, SIZE_MAX, plan_named("direct/zero_copy+stream/64K"), false}}};
  }

  static void write(profile const& what, std::string const& where) {
    std::filesystem::create_directories(std::filesystem::path(where).parent_path());
    std::ofstream(where) << what.text();
  }

  std::string refusal(std::string const& content) const {
    std::ofstream(file("bad.json")) << content;
    try {
      profile::read(file("bad.json"));
    } catch (argument_error const& e) {
      return e.what();
    }
    return "nothing was thrown";
  }

  std::string folder_;
};

TEST_F(Profile, IsReadAsItWasWritten) {
  write(sample(), file("new/folder/profile.json"));
  auto const again = profile::read(file("new/folder/profile.json"));
  EXPECT_EQ(again.fingerprint, sample().fingerprint);
  EXPECT_EQ(again.date, "2026-01-02T03:04:05Z");
  EXPECT_EQ(again.processors, (std::vector<unsigned>{0, 1}));
  EXPECT_EQ(again.latency, sample().latency);
  EXPECT_EQ(again.beta, 0.1);
  ASSERT_EQ(again.rules.size(), 2u);
  EXPECT_EQ(again.rules[0].to, 5000u);
  EXPECT_EQ(program::text_of(again.rules[0].how), "ring/staged_pull");
  EXPECT_EQ(again.rules[1].to, SIZE_MAX);
  EXPECT_EQ(program::text_of(again.rules[1].how), "direct/zero_copy+stream/65536");
  EXPECT_FALSE(again.rules[1].in_place_too);
}

TEST_F(Profile, KeepsHiddenClustersAndTheirRulesApart) {
  auto with = sample();
  with.processors = {0, 2, 1, 3};
  with.hidden.levels = {{{0, 1}, {2, 3}}};
  with.hidden.rules = {{verb::allreduce, 4, 100, SIZE_MAX, plan_named("product(dims=2x2)/zero_copy_push"), false}};
  write(with, file());
  auto const again = profile::read(file());
  EXPECT_EQ(again.hidden.levels, with.hidden.levels);
  ASSERT_EQ(again.hidden.rules.size(), 1u);
  EXPECT_EQ(program::text_of(again.hidden.rules[0].how), "product(dims=2x2)/zero_copy_push");
  EXPECT_TRUE(again.hidden.rules[0].along_clusters);
  EXPECT_EQ(again.rules.size(), 2u);
  EXPECT_FALSE(again.rules[0].along_clusters);
}

TEST_F(Profile, KeepsWhatMovingBytesCosts) {
  auto fitted = sample();
  for (auto const& each : costs_by_name) fitted.costs.*each.value *= 1.25;
  write(fitted, file());
  auto const again = profile::read(file());
  for (auto const& each : costs_by_name)
    EXPECT_NEAR(again.costs.*each.value / fitted.costs.*each.value, 1, 1e-9) << each.name;
  std::ofstream(file()) << R"({"coset_profile": 1, "fingerprint": "", "date": "", "latency_ns": [], "alpha_ns": 1,
      "lambda_ns": 1, "beta_ns_per_byte": 1, "processors": [], "rules": [], "costs_ns": {"regained": 0.25}})";
  auto const one = profile::read(file());
  EXPECT_DOUBLE_EQ(one.costs.regained, 0.25e-9);
  EXPECT_THAT(refusal(R"({"coset_profile": 1, "fingerprint": "", "date": "", "latency_ns": [], "alpha_ns": 1,
      "lambda_ns": 1, "beta_ns_per_byte": 1, "processors": [], "rules": [], "costs_ns": {"round": 0}})"),
              HasSubstr("round: it costs 0 ns"));
  EXPECT_EQ(one.costs.copied, memory_costs{}.copied);
}

TEST_F(Profile, OfBeforeClustersIsStillRead) {
  write(sample(), file());
  std::ifstream in(file());
  std::string const content(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(content.find("clusters"), std::string::npos);
  EXPECT_TRUE(profile::read(file()).hidden.levels.empty());
}

TEST_F(Profile, ClustersThatAreNoneAreRefused) {
  auto const with = [](std::string const& level) {
    return R"({"coset_profile": 1, "fingerprint": "", "date": "", "latency_ns": [], "alpha_ns": 1, "lambda_ns": 1,
      "beta_ns_per_byte": 1, "processors": [0, 1, 2, 3], "rules": [], "clusters": {"rules": [], "levels": [)" +
           level + "]}}";
  };
  EXPECT_EQ(refusal(with("[[0, 1], [2, 3]]")), "nothing was thrown");
  EXPECT_THAT(refusal(with("[[0, 2], [1, 3]]")),
              HasSubstr("line 2, clusters.levels[0][0][1]: the clusters do not have consecutive ranks"));
  EXPECT_THAT(refusal(with("[[0, 1], [2]]")), HasSubstr("clusters.levels[0]: the clusters have 3 ranks, not 4"));
  EXPECT_THAT(refusal(with("[[0, 1], [], [2, 3]]")), HasSubstr("clusters.levels[0][1]: the cluster is empty"));
  EXPECT_THAT(refusal(with("[[0, -1]]")), HasSubstr("-1 is not a whole number"));
}

TEST_F(Profile, ThatIsNoneIsRefusedWithItsName) {
  for (char const* content : {"", "{", "[]", "{}", "{\"coset_profile\": 2}"})
    EXPECT_THAT(refusal(content), HasSubstr("bad.json")) << content;
  EXPECT_THAT(refusal("{\"coset_profile\": 2}"),
              HasSubstr("bad.json': line 1, coset_profile: this coset reads version 1"));
  EXPECT_THROW(profile::read(file("absent.json")), argument_error);
}

TEST_F(Profile, NumbersThatDoNotFitAreRefused) {
  auto const with = [](std::string const& processor, std::string const& from) {
    return R"({"coset_profile": 1, "fingerprint": "", "date": "", "latency_ns": [], "alpha_ns": 1, "lambda_ns": 1,
      "beta_ns_per_byte": 1, "processors": [)" +
           processor + R"(], "rules": [{"verb": "reduce", "ranks": 2, "plan": "ring", "from": )" + from + "}]}";
  };
  EXPECT_EQ(refusal(with("0", "0")), "nothing was thrown");
  for (std::string const wrong : {"-1", "1.5", "1e30", "null"}) {
    EXPECT_THAT(refusal(with(wrong, "0")), HasSubstr("is not a whole number up to 4294967295"));
    EXPECT_THAT(refusal(with("0", wrong)), HasSubstr("is not a whole number up to 18446744073709551615"));
  }
  EXPECT_THAT(refusal(with("4294967296", "0")), HasSubstr("4294967296 is not a whole number up to 4294967295"));
  EXPECT_THAT(refusal(with("[[0]]", "0")), HasSubstr("array is not a whole number"));
}

TEST_F(Profile, ErrorsNameFileLineAndField) {
  auto const with = [](std::string const& rule) {
    return R"({"coset_profile": 1, "fingerprint": "", "date": "", "latency_ns": [[0, 1]],
      "alpha_ns": 1, "lambda_ns": 1, "beta_ns_per_byte": 1, "processors": [0, 1], "rules": [
        {"verb": "reduce", "ranks": 2, "plan": "ring", "from": 0},
        {"verb": "reduce", )" +
           rule + "}]}";
  };
  EXPECT_EQ(refusal(with(R"("ranks": 2, "plan": "ring", "from": 0)")), "nothing was thrown");
  std::string const place = "tuning profile '" + file("bad.json") + "': line 4, rules[1]";
  EXPECT_EQ(refusal(with(R"("ranks": 2, "plan": "ring")")), place + ": from is missing");
  EXPECT_THAT(refusal(with(R"("ranks": 2, "plan": "rong", "from": 0)")),
              HasSubstr(place + ".plan: plan 'rong': unknown algorithm"));
  EXPECT_EQ(refusal(with(R"("ranks": 2, "plan": "ring", "from": 9, "to": 9)")),
            place + ": it is for no size: from 9 to 9");
  EXPECT_EQ(refusal(with(R"("ranks": "2", "plan": "ring", "from": 0)")),
            place + ".ranks: \"2\" is not a whole number up to 4294967295");
}

TEST_F(Profile, ThatIsNoFileIsRefused) {
  ASSERT_EQ(mkfifo(file("pipe.json").c_str(), 0600), 0);
  for (auto const& [path, reason] :
       {std::pair(file("pipe.json"), "is a pipe or device, not a file"), std::pair(folder_, "is a directory"),
        std::pair(file("absent.json"), "cannot be read: No such file or directory")}) {
    variable const named("COSET_TUNING", path);
    try {
      find_profile(machine_tuned_for());
      ADD_FAILURE() << path;
    } catch (argument_error const& e) {
      EXPECT_EQ(e.what(), "tuning profile '" + path + "' " + reason);
    }
  }
}

TEST_F(Profile, OfThisMachineIsFoundInTheCacheDirectory) {
  variable const cache("XDG_CACHE_HOME", folder_);
  EXPECT_FALSE(find_profile(machine_tuned_for()));
  write(sample(), profile_file(sample().fingerprint));
  EXPECT_TRUE(find_profile(machine_tuned_for()));
  variable const off("COSET_TUNING", "off");
  EXPECT_FALSE(find_profile(machine_tuned_for()));
}

/// Red if looking for it throws what the file system says: of a home that belongs to another user, too.
TEST_F(Profile, InAFolderThatCannotBeEnteredIsNone) {
  std::filesystem::create_symlink(folder_ + "/coset", folder_ + "/coset");
  variable const cache("XDG_CACHE_HOME", folder_);
  EXPECT_FALSE(find_profile(machine_tuned_for()));
}

TEST_F(Profile, OfAnotherMachineIsPassedOverUnlessItIsNamed) {
  variable const cache("XDG_CACHE_HOME", folder_);
  auto other = sample();
  other.fingerprint = "another";
  write(other, profile_file(sample().fingerprint));
  EXPECT_FALSE(find_profile(machine_tuned_for()));
  variable const named("COSET_TUNING", profile_file(sample().fingerprint));
  EXPECT_THROW(find_profile(machine_tuned_for()), argument_error);
}

TEST_F(Profile, IsWhatTeamsChooseBy) {
  write(sample(), file());
  variable const named("COSET_TUNING", file());
  team ranks({.ranks = 3, .place = placement::unbound});
  EXPECT_THAT(make_plan<float>(ranks, 100).describe(), HasSubstr("ring"));
  EXPECT_THAT(make_plan<float>(ranks, 10000).describe(), HasSubstr("direct"));
  auto const adopted = team::adopt(3);
  EXPECT_THAT(make_plan<float>(*adopted, 100).describe(), HasSubstr("ring"));
  variable const wish("COSET_ALLREDUCE", "binomial");
  team others({.ranks = 3, .place = placement::unbound});
  EXPECT_THAT(make_plan<float>(others, 100).describe(), HasSubstr("binomial"));
}

TEST_F(Profile, ClustersThatAreNotFoundAgainLeaveTheFlatRules) {
  auto const here = topology::machine();
  if (here.cores() < 2 || numa::usable_processors() < 2) GTEST_SKIP() << "needs two processors";
  auto with = sample();
  with.processors.clear();
  for (processor const& p : here.place(2, placement::compact)) with.processors.push_back(p.os_index);
  with.hidden = {{{{0}, {1}}}, {{verb::allreduce, 2, 0, SIZE_MAX, plan_named("binomial"), false}}};
  with.rules = {{verb::allreduce, 2, 0, SIZE_MAX, plan_named("ring"), false}};
  write(with, file());
  variable const named("COSET_TUNING", file());
  variable const log("COSET_LOG", "plan");
  auto const said_by = [](team_options const& options) {
    ::testing::internal::CaptureStderr();
    team ranks(options);
    EXPECT_THAT(make_plan<float>(ranks, 100).describe(), HasSubstr("ring"));
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(said_by({.ranks = 2}), HasSubstr("are gone, flat plans in force"));
  EXPECT_EQ(said_by({.ranks = 2, .place = placement::unbound}), "");
  EXPECT_THAT(make_plan<float>(*team::adopt(2), 100).describe(), HasSubstr("ring"));
}

TEST(Fingerprint, TellsMachinesApart) {
  auto const one = topology::synthetic("node:2 core:4 pu:1"), other = topology::synthetic("node:2 core:4 pu:2");
  EXPECT_EQ(fingerprint_of(one), fingerprint_of(topology::synthetic("node:2 core:4 pu:1")));
  EXPECT_NE(fingerprint_of(one), fingerprint_of(other));
}

}  // namespace
}  // namespace coset::calibration
