// SPDX-License-Identifier: Apache-2.0
// Under OMP_PROC_BIND and OMP_PLACES, which confine the thread that OpenMP's runtime finds. Run with both set.
#include <gtest/gtest.h>
#include <omp.h>

#include <vector>

#include "coset/coset.hpp"
#include "numa/affinity.hpp"
#include "numa/binding.hpp"
#include "numa/mask.hpp"

namespace coset::inline COSET_ABI {
namespace {

/// After a region, since LLVM's runtime confines nobody before.
int number_of_places() {
  int found = 0;
#pragma omp parallel
#pragma omp master
  found = omp_get_num_places();
  return found;
}

struct Confined : ::testing::Test {
  int const places = number_of_places();

  void SetUp() override {
    if (places < 2) GTEST_SKIP() << "OpenMP has " << places << " places to bind threads to";
    ASSERT_LT(numa::mask::of_thread(0).count(), topology::whole_machine().processors.size());
  }
};

/// Red if the initial thread's mask is taken for the process's: a team of one rank.
TEST_F(Confined, TeamsHaveAllOfOpenMPsPlaces) {
  EXPECT_EQ(topology::machine().cores(), static_cast<unsigned>(places));
  team all;
  EXPECT_EQ(all.size(), static_cast<unsigned>(places));
  EXPECT_EQ(numa::affinity_of_process().warning, "");
}

/// The caller is rank 0 for a while, and confined as before afterwards.
TEST_F(Confined, ThreadsStaySoAfterwards) {
  auto const before = numa::mask::of_thread(0);
  team().run([](member& me) { barrier(me); });
  EXPECT_EQ(numa::mask::of_thread(0), before);
}

/// Red if places are looked at inside of regions: all threads' teams would share all processors.
TEST_F(Confined, ThreadsOfARegionKeepToThemselves) {
  std::vector<unsigned> cores(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel
  cores[static_cast<std::size_t>(omp_get_thread_num())] = topology::machine().cores();
  EXPECT_EQ(cores, std::vector(cores.size(), 1u));
}

/// Red if workers that nobody pins inherit the place of the thread that makes them: all on one core.
TEST_F(Confined, TeamsThatAreNotPinnedRunOnAllPlaces) {
  team all({.place = placement::unbound});
  ASSERT_EQ(all.size(), static_cast<unsigned>(places));
  std::vector<unsigned> usable(all.size());
  all.run([&](member& me) { usable[me.rank()] = numa::mask::of_thread(0).count(); });
  for (rank_t r = 1; r < all.size(); ++r) EXPECT_EQ(usable[r], topology::machine().processors.size()) << "rank " << r;
}

/// Red if a rank's own pin is taken for OpenMP's: teams within ranks would all be of all cores.
TEST_F(Confined, TeamsWithinRanksStayWhereThoseArePinned) {
  team all;
  std::vector<unsigned> found(all.size());
  all.run([&](member& me) { found[me.rank()] = topology::machine().cores(); });
  EXPECT_EQ(found, std::vector(all.size(), 1u));
}

/// A mask that is no place is somebody's intention.
TEST_F(Confined, OtherMasksAreLeftAlone) {
  auto const two = topology::machine().place(2, placement::compact);
  numa::mask both = numa::mask::single(two[0].os_index);
  both.merge(numa::mask::single(two[1].os_index));
  numa::saved_mask const own;
  ASSERT_TRUE(both.apply());
  EXPECT_EQ(topology::machine().processors.size(), 2u);
}

}  // namespace
}  // namespace coset
