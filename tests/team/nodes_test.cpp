// SPDX-License-Identifier: Apache-2.0
// Teams on machines of several nodes, described rather than owned: every verb by plans along the nodes, where pieces cross
// between them once and results are shared by the ranks of each.
#include <cctype>
#include <deque>

#include "numa/machines.hpp"
#include "planning/choice/choose.hpp"
#include "support/combination.hpp"
#include "support/verbs.hpp"
#include "variable.hpp"

namespace coset::team_test {
namespace {

struct machine_shape {
  char const* name;
  topology machine;
  rank_t ranks;
  placement place = placement::compact;
};

std::vector<machine_shape> const& shapes() {
  static std::vector<machine_shape> const all{
      {"even", topology::synthetic("node:2 core:5 pu:1"), 10},
      {"partly", topology::synthetic("node:3 core:4 pu:1"), 10},
      {"caches", topology::synthetic("pack:2 node:1 l3:2 core:3 pu:1"), 12},
      {"uneven", numa_test::unequal({5, 2, 4}, 1), 11},
      {"lopsided", numa_test::unequal({1, 8}, 1), 9},
      {"singles", topology::synthetic("node:9 core:1 pu:1"), 9},
      {"scattered", topology::synthetic("node:3 core:4 pu:1"), 12, placement::scatter},
      {"scattered_unevenly", topology::synthetic("node:3 core:4 pu:1"), 10, placement::scatter},
  };
  return all;
}

std::string variable_of(verb what) {
  std::string name = "COSET_" + std::string(name_of(what));
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

/// Elements that are folded as they are, by way of wider partial results, and as sums that are rounded in the end.
std::vector<combination> const& kinds() {
  static std::vector<combination> const all{combine<double>(plus{}), combine<bfloat16>(plus{}),
                                            combine<float>(reproducible_plus{})};
  return all;
}

/// Verbs that have plans along the nodes.
std::vector<verb> verbs_along_nodes() {
  std::vector<verb> all(all_verbs().begin(), all_verbs().end());
  std::erase_if(all,
                [](verb what) { return what == verb::scan || what == verb::exclusive_scan || what == verb::barrier; });
  return all;
}

constexpr std::array storages{"push", "zero_copy_push", "output_push", "staged_pull"};

class Nodes : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  std::size_t const machine = std::get<0>(GetParam()), storage = std::get<1>(GetParam());
  machine_shape const& shape = shapes()[machine];

  std::string plan() const {
    choice::question asked{.ranks = shape.ranks, .bytes = 1 << 20};
    choice::put_on_levels(asked, shape.machine.place(shape.ranks, shape.place));
    return choice::folds_by_level(asked).text();
  }

  static void check(team& ranks, erased_task const& t) {
    std::vector<std::byte> shared(t.what.total() * t.of->bytes);
    std::vector<std::string> faults(ranks.size());
    ranks.run([&](member& me) {
      rank_t const r = me.rank();
      auto mine = prepared<std::byte>(t, r);
      auto const c = call_of(t, places_of(t, r, mine, shared));
      std::vector<std::byte> viewed;
      if (t.what.what == verb::allreduce_view) {
        auto const* const view = static_cast<std::byte const*>(detail::run_view(me.state(), c));
        viewed.assign(view, view + t.what.total() * t.of->bytes);
      } else {
        detail::run(me.state(), c);
      }
      faults[r] = fault_of(t, r, mine, shared, viewed);
      barrier(me);  // all have looked at what is shared
    });
    for (auto const& f : faults) ASSERT_EQ(f, "");
  }
};

/// A verb meets each length of one kind, in place or not: it meets all six of those on each machine, under each storage and
/// at each length. Under small effort it meets one length; long effort crosses all.
TEST_P(Nodes, EveryVerbIsRightByPlansAlongThem) {
  std::string const rule = plan() + "/" + storages[storage];
  std::deque<test::variable> chosen;
  for (verb const what : verbs_along_nodes()) chosen.emplace_back(variable_of(what).c_str(), rule);
  team ranks(shape.machine, {.ranks = shape.ranks, .place = shape.place});
  std::array<std::size_t, 3> const lengths{1, 200, 3000};
  auto const effort = test::wanted_effort();
  std::uint64_t seed = 0;
  for (verb const what : verbs_along_nodes()) {
    bool const elsewhere_only = what == verb::reduce_shared || what == verb::allreduce_view;
    std::size_t const turn = machine + storage + static_cast<std::size_t>(what);
    for (std::size_t l = 0; l < lengths.size(); ++l) {
      if (effort == test::effort::small && l != turn % lengths.size()) continue;
      for (std::size_t kind = 0; kind < kinds().size(); ++kind) {
        for (bool const in_place : {false, true}) {
          bool const has_turn = kind == (turn + l) % 3 && (elsewhere_only || in_place == ((turn + l) % 2 == 0));
          if ((in_place && elsewhere_only) || (effort != test::effort::large && !has_turn)) continue;
          task t{.what = what, .root = shape.ranks / 2, .in_place = in_place, .seed = ++seed};
          for (rank_t r = 0; r < shape.ranks; ++r) t.counts.push_back(lengths[l] + lengths[l] * r % 3);
          check(ranks, folded({possible(std::move(t)), &kinds()[kind]}));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, Nodes,
                         ::testing::Combine(::testing::Range<std::size_t>(0, 8),
                                            ::testing::Range<std::size_t>(0, storages.size())),
                         [](auto const& test) {
                           return std::string(shapes()[std::get<0>(test.param)].name) + "_" +
                                  storages[std::get<1>(test.param)];
                         });

/// Nobody names a plan.
TEST(ScatteredRanks, FoldNodeByNodeByDefault) {
  auto const machine = topology::synthetic("node:3 core:4 pu:1");
  constexpr std::size_t count = 1 << 18;
  team near(machine, {.ranks = 12, .place = placement::compact}),
      far(machine, {.ranks = 12, .place = placement::scatter});
  auto const compact = make_plan<float>(near, count), scattered = make_plan<float>(far, count);
  EXPECT_EQ(compact.describe().find("permute"), std::string::npos) << compact.describe();
  EXPECT_NE(scattered.describe().find("permute=stride:3"), std::string::npos) << scattered.describe();
  std::vector<std::vector<float>> results(12);
  far.run([&](member& me) {
    std::vector<float> mine(count, static_cast<float>(me.rank() + 1));
    scattered.execute(me, mine);
    results[me.rank()] = std::move(mine);
  });
  for (auto const& result : results) EXPECT_EQ(result, std::vector<float>(count, 78));
}

}  // namespace
}  // namespace coset::team_test
