// SPDX-License-Identifier: Apache-2.0
// Plans from files under a name like any other's: the right ones are what they were, of wrong ones each is refused.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "planning/schedule/files/plan_json.hpp"
#include "planning/schedule/registry/named_file.hpp"
#include "planning/schedule/registry/permutation.hpp"
#include "schedule/files/random_plan.hpp"
#include "schedule/schedules.hpp"
#include "schedule/set_execution.hpp"

namespace coset::schedule {
namespace {

using test::plan_in_file;
using testing::schedule_of;

std::string written(schedule const& plan, properties const& found = {}) {
  std::ostringstream out;
  write_plan(out, plan, found);
  return out.str();
}

/// What make() is asked for.
algorithm named(plan_in_file const& file) { return {"plan", {{"file", file.path()}}}; }

template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (schedule_error const& e) {
    return e.what();
  }
  return "accepted";
}

TEST(PlanOfFile, IsTheScheduleThatWasWritten) {
  for (verb const what :
       {verb::allreduce, verb::reduce, verb::reduce_scatter, verb::allgather, verb::broadcast, verb::barrier}) {
    schedule const original = schedule_of("generalized(radix=3)", 5, what, 2);
    plan_in_file const file(original);
    schedule made = make(named(file), 5, what, 2);
    EXPECT_EQ(made.algorithm, "plan");
    made.algorithm = original.algorithm;
    made.parameters = original.parameters;
    EXPECT_EQ(written(made), written(original));
  }
}

TEST(PlanOfFile, ServesItsOwnVerbRanksAndRootOnly) {
  plan_in_file const file(schedule_of("binomial", 4, verb::reduce, 1));
  auto const said = [&](rank_t ranks, verb what, rank_t root) {
    return refusal([&] { make(named(file), ranks, what, root); });
  };
  EXPECT_EQ(said(4, verb::reduce, 1), "accepted");
  EXPECT_EQ(said(4, verb::allreduce, 0), file.path() + " is a plan of reduce, not allreduce");
  EXPECT_EQ(said(5, verb::reduce, 1), file.path() + " is a plan for 4 ranks, not 5");
  EXPECT_EQ(said(4, verb::reduce, 2), file.path() + " is a plan for root 1, not 2");
}

TEST(PlanOfFile, InAnotherOrderHasTheRootThatPlaysItsOwn) {
  plan_in_file const file(schedule_of("binomial", 4, verb::reduce, 1));
  auto how = named(file);
  how.parameters[permute] = "3+2+0+1";
  EXPECT_EQ(make(how, 4, verb::reduce, 2).root, 2u);
  EXPECT_EQ(refusal([&] { make(how, 4, verb::reduce, 1); }),
            file.path() + " is a plan for root 1, which rank 2 plays, not 1");
}

TEST(PlanOfFile, IsRefusedWithTheFirstThingWrong) {
  std::string text = written(schedule_of("direct", 3));
  plan_in_file const file(schedule_of("direct", 3));
  auto const said = [&](std::string const& content) {
    file.write(content);
    return refusal([&] { pinned(named(file)); });
  };
  EXPECT_EQ(said(text), "accepted");
  schedule twice = schedule_of("direct", 3);
  twice.sources[1] = twice.sources[0];
  EXPECT_NE(said(written(twice))
                .find(file.path() + " is a wrong plan: step 0, rank 0, block 0, slot 1: counts a "
                                    "contribution of slot 0 of rank 0 twice"),
            std::string::npos)
      << said(written(twice));
  EXPECT_EQ(said("{}"), file.path() + " is not a plan: coset_plan is missing");
  EXPECT_NE(said("").find("parse error"), std::string::npos);
  algorithm const absent{"plan", {{"file", file.path() + ".absent"}}};
  EXPECT_EQ(refusal([&] { pinned(absent); }), file.path() + ".absent cannot be read: No such file or directory");
  EXPECT_EQ(refusal([&] { make({"plan", {}}, 3); }), "plan needs the parameter file");
}

TEST(PlanOfFile, IsReadOfFilesOnlyThatEnd) {
  plan_in_file const file(schedule_of("direct", 3));
  auto const said = [](std::string const& path) { return refusal([&] { pinned({"plan", {{"file", path}}}); }); };
  std::filesystem::resize_file(file.path(), std::uintmax_t{1} << 29);
  EXPECT_EQ(said(file.path()), file.path() + " has 536870912 bytes, at most 268435456 are read");
  EXPECT_EQ(said("/"), "/ is a directory");
  EXPECT_EQ(said("/dev/zero"), "/dev/zero is a pipe or device, not a file");
  std::string const pipe = file.path() + ".pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(said(pipe), pipe + " is a pipe or device, not a file");
  std::filesystem::remove(pipe);
}

TEST(PlanOfFile, IsPinnedToItsContent) {
  plan_in_file const file(schedule_of("direct", 3));
  algorithm const first = pinned(named(file));
  EXPECT_EQ(pinned(first), first);
  EXPECT_EQ(identity(first), "plan(content=" + first.value("content") + ")");
  std::string const ring = written(schedule_of("ring", 3));
  file.write(ring);
  algorithm const second = pinned(named(file));
  EXPECT_NE(first.value("content"), second.value("content"));
  EXPECT_EQ(make(first, 3).steps.size(), 2u) << "what has been read stays";
  EXPECT_EQ(make(second, 3).steps.size(), schedule_of("ring", 3).steps.size());
  algorithm never = second;
  never.parameters["content"] = "0123456789abcdef";
  EXPECT_NE(refusal([&] { make(never, 3); }).find("has other content"), std::string::npos);
  algorithm const other{"ring", {}};
  EXPECT_EQ(pinned(other), other);
  EXPECT_EQ(identity(other), "ring");
}

/// All schedules in which one assignment reads one thing else, reads one thing less or twice, goes elsewhere, or is missing.
std::vector<schedule> with_one_wrong_transfer(schedule const& right) {
  std::vector<schedule> all;
  slot_t slots = 0;
  for (auto const& step : right.steps)
    for (assignment const& a : step) slots = std::max(slots, a.slot);
  auto const each = [&](auto change) {
    for (std::size_t i = 0; i < right.steps.size(); ++i)
      for (std::size_t a = 0; a < right.steps[i].size(); ++a) change(i, a);
  };
  auto const with_sources = [&](std::size_t i, std::size_t a, std::vector<source> const& from) {
    schedule& wrong = all.emplace_back(right);
    wrong.steps[i][a].first = static_cast<std::uint32_t>(wrong.sources.size());
    wrong.steps[i][a].count = static_cast<std::uint32_t>(from.size());
    wrong.sources.insert(wrong.sources.end(), from.begin(), from.end());
  };
  each([&](std::size_t i, std::size_t a) {
    auto const span = right.from(right.steps[i][a]);
    std::vector<source> const from(span.begin(), span.end());
    for (std::size_t s = 0; s < from.size(); ++s) {
      for (rank_t rank = 0; rank < right.ranks; ++rank)
        for (slot_t slot = 0; slot <= slots; ++slot) {
          auto changed = from;
          changed[s] = {rank, slot};
          with_sources(i, a, changed);
        }
      auto fewer = from, more = from;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(s));
      more.push_back(from[s]);
      with_sources(i, a, fewer);
      with_sources(i, a, more);
    }
    schedule& missing = all.emplace_back(right);
    missing.steps[i].erase(missing.steps[i].begin() + static_cast<std::ptrdiff_t>(a));
    for (std::size_t later = 0; later < right.steps.size(); ++later) {
      if (later == i) continue;
      schedule& moved = all.emplace_back(right);
      moved.steps[i].erase(moved.steps[i].begin() + static_cast<std::ptrdiff_t>(a));
      moved.steps[later].push_back(right.steps[i][a]);
    }
  });
  return all;
}

bool has_empty_list(schedule const& s) {
  return std::ranges::any_of(s.steps, [](auto const& step) {
    return std::ranges::any_of(step, [](assignment const& a) { return a.count == 0; });
  });
}

TEST(PlanOfFile, MayBeAnythingThatIsRight) {
  plan_in_file const file({});
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    schedule const plan = test::random_plan(1 + static_cast<rank_t>(seed % 7), seed).plan();
    ASSERT_TRUE(executes_rightly(plan)) << seed;
    file.write(written(plan));
    ASSERT_EQ(refusal([&] { make(pinned(named(file)), plan.ranks); }), "accepted") << seed << "\n" << written(plan);
  }
}

TEST(PlanOfFile, WithOneWrongTransferIsRefusedUnlessItDoesTheSame) {
  plan_in_file const file({});
  std::size_t refused = 0, equal = 0;
  for (char const* const name : {"direct", "ring", "generalized(saved_steps=1)", "recursive_doubling"}) {
    for (rank_t const ranks : {3u, 4u}) {
      schedule right;
      try {
        right = schedule_of(name, ranks);
      } catch (schedule_error const&) {
        continue;  // undefined for this number of ranks
      }
      for (schedule const& changed : with_one_wrong_transfer(right)) {
        file.write(written(changed));
        std::string const said = refusal([&] { make(pinned(named(file)), ranks); });
        bool const is_right = !has_empty_list(changed) && executes_rightly(changed);
        (said == "accepted" ? equal : refused) += 1;
        ASSERT_EQ(said == "accepted", is_right) << name << " P=" << ranks << ": " << said << "\n" << written(changed);
        if (!is_right) {
          EXPECT_EQ(said.find(file.path() + " is "), 0u) << said;
        }
      }
    }
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(equal, 50u);  // what was there before is one of the things it may be changed to
}

}  // namespace
}  // namespace coset::schedule
