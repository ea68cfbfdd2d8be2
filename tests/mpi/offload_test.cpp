// SPDX-License-Identifier: Apache-2.0
// MPI's own allreduce between hosts: that it is what runs, and what becomes of it when some begin it and others cannot.
#include <atomic>
#include <cmath>

#include "mpi/processes.hpp"

namespace {

std::atomic<int> offloads = 0;

}  // namespace

/// MPI's profiling interface: the library calls this one for offloads, which are in place, and for agreements, which are
/// not.
extern "C" int MPI_Iallreduce(void const* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                              MPI_Request* request) {
  if (from == MPI_IN_PLACE) ++offloads;
  return PMPI_Iallreduce(from, to, count, type, op, comm, request);
}

namespace coset::mpi_test {
namespace {

/// Since this was last asked, by all processes together.
int offloads_of_all() {
  int const mine = offloads.exchange(0);
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

bool combines(hybrid const& on) { return on.all.describe().find("MPI_Iallreduce combines up to") != std::string::npos; }

TEST(Offload, CombinesExactlyWhatItMay) {
  hybrid on(1);
  bool const several = on.all.hosts() > 1 || on.all.describe().find("within processes") != std::string::npos;
  EXPECT_EQ(combines(on), several) << on.all.describe();
  offloads_of_all();
  on.expect_works();
  EXPECT_EQ(offloads_of_all() > 0, several);
  on.expect_no_faults([](member& me) -> std::string {  // sums of floats have to have the same bits everywhere
    std::vector<float> x(1000, 0.1f);
    allreduce(me, x);
    int const sign = 1;  // and MPI knows of no state
    std::vector<int> y(1000, 2);
    allreduce(me, y, exact([sign](int a, int b) { return sign * (a + b); }));
    reduce(me, y, 0);
    return std::abs(x[7] - 0.1f * static_cast<float>(me.size())) < 1e-4f * static_cast<float>(me.size()) ? "" : "wrong";
  });
  EXPECT_EQ(offloads_of_all(), 0);
}

TEST(Offload, IsLeftAloneByTeamsThatDoNotAskForIt) {
  hybrid on(1, {});
  EXPECT_FALSE(combines(on));
  offloads_of_all();
  on.expect_works();
  EXPECT_EQ(offloads_of_all(), 0);
}

/// MPI has some two thousand communicators, and each failed offload costs one for good.
TEST(Offload, OutlivesManyFailedRuns) {
  hybrid on(1, {.staging_bytes = 0, .library_leaders = 8});
  for (int k = 0; k < 60; ++k) {
    auto const thrown = outcome_of([&] {
      on.all.run([](member& me) {
        std::vector<int> items(20'000, 1);
        allreduce(me, items);
        if (me.rank() == me.size() - 1) throw aborted("the last rank does not come again");
        allreduce(me, items);
      });
    });
    EXPECT_EQ(thrown.type, type_name<aborted>()) << k << ": " << thrown.message;
  }
  on.expect_works();
}

/// The other hosts' combiners have been told by then that theirs takes part, and begin what it cannot.
TEST(Offload, OutlivesOffloadsThatNotAllHostsBegin) {
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    hybrid on(seed);
    for (rank_t const odd : {rank_t{0}, on.all.size() / 2, on.all.size() - 1}) {
      std::vector<outcome> all(on.all.threads());
      auto const fault = on.faults([&](member& me) -> std::string {
        std::vector<int> items(20'000, 1);
        all[me.rank() - on.all.first()] = outcome_of([&] {
          if (me.rank() == odd) throw aborted("rank " + std::to_string(odd) + " does not come");
          allreduce(me, items);
        });
        return {};
      });
      EXPECT_EQ(said_anywhere(fault), "");
      std::string unheard;
      for (auto const& one : all) {
        if (one.type.empty()) unheard = "a rank has all there is";
      }
      EXPECT_EQ(said_anywhere(unheard), "");
      offloads_of_all();
      on.expect_works();
      on.expect_works();
      EXPECT_EQ(offloads_of_all() > 0, combines(on));
    }
  }
}

}  // namespace
}  // namespace coset::mpi_test
