// SPDX-License-Identifier: Apache-2.0
// A thousand runs over processes in which one rank does something wrong: none hangs, and the team works afterwards. Pairs
// of calls that differ, where domains meet in a window and where all they have is messages.
#include "support/faults.hpp"

#include "mpi/processes.hpp"

namespace coset::mpi_test {
namespace {

using team_test::fault_options;
using team_test::faulty_run;
using team_test::kept_things;
using team_test::manner;
using team_test::way;

/// Processes that share memory, and those that share none.
std::vector<mpi::options> meetings() {
  mpi::options window = usual_options(), messages = usual_options();
  window.staging_bytes = 64 * 1024;
  messages.staging_bytes = 0;
  return {window, messages};
}

/// `body` on all ranks, and what came out of this process's run().
template <class Body>
outcome run(hybrid& on, Body&& body) {
  try {
    on.all.run(body);
  } catch (std::exception const& thrown) {
    return {typeid(thrown).name(), thrown.what()};
  } catch (int) {
    return {"int", ""};
  }
  return {};
}

TEST(Faults, OfAllKindsEndOnAllProcessesAndLeaveATeamThatWorks) {
  for (mpi::options const& options : meetings()) {
    std::mt19937_64 choices(test::seed());
    hybrid on(3, options);
    std::vector<kept_things> kept(on.all.threads());
    int const runs = test::by_effort(30, 150, 500);
    for (int k = 0; k < runs; ++k) {
      std::uint64_t const seed = choices();
      faulty_run const faulty(seed, on.all.size(), {.one_process = false, .most_pieces = 32});
      SCOPED_TRACE("run " + std::to_string(k) + ": " + faulty.text());
      outcome const faulted = run(on, [&](member& me) {
        faulty.go_through(
            me, kept[me.rank() - on.all.first()], nullptr, [&] { on.threads.abort("by somebody"); },
            [&] { on.all.run([](member&) {}); });
      });
      bool const wrong = faulted.type == type_name<std::logic_error>();
      for (kept_things& each : kept) each.let_go(seed >> 32);
      outcome const after = run(on, [&](member& me) { team_test::check_everything(me, seed >> 16, false); });
      ASSERT_EQ(said_anywhere(wrong ? faulted.message : after.message), "");
    }
  }
}

TEST(Pairs, OfCallsThatDifferEndInAnErrorOnAllProcesses) {
  std::vector<std::pair<way, way>> const pairs{
      {{.what = verb::allreduce, .count = 1000}, {.what = verb::allreduce, .count = 1'000'001}},
      {{.what = verb::allreduce, .count = 100}, {.what = verb::allreduce, .how = manner::started, .count = 100}},
      {{.what = verb::allreduce, .how = manner::started, .count = 500'000}, {.what = verb::barrier}},
      {{.what = verb::broadcast, .count = 1000, .root = 0}, {.what = verb::broadcast, .count = 1000, .root = 1}},
      {{.what = verb::broadcast, .count = 400'000, .root = 0}, {.what = verb::reduce, .count = 400'000, .root = 0}},
      {{.what = verb::scan, .count = 10}, {.what = verb::exclusive_scan, .count = 10}},
      {{.what = verb::allgather, .count = 10}, {.what = verb::allgather, .how = manner::started, .count = 50'000}},
      {{.what = verb::barrier}, {.what = verb::barrier, .how = manner::started}}};
  for (mpi::options const& options : meetings()) {
    hybrid on(3, options);
    if (on.all.size() < 2) GTEST_SKIP();
    for (std::size_t k = 0; k < 2 * pairs.size(); ++k) {
      auto const& [first, second] = pairs[k / 2];
      way const &one = k % 2 == 0 ? first : second, &other = k % 2 == 0 ? second : first;
      SCOPED_TRACE(team_test::text(one) + "  beside  " + team_test::text(other));
      rank_t const odd = static_cast<rank_t>(k * 5) % on.all.size();
      outcome const faulted = run(on, [&](member& me) {
        way const& mine = me.rank() == odd ? one : other;
        team_test::journey call(mine, 5, me.rank(), me.size());
        call.set_off(me, nullptr);
        call.under_way.wait();
        barrier(me);
      });
      ASSERT_EQ(said_anywhere(faulted.type == type_name<mismatch_error>() ? "" : faulted.type + faulted.message), "");
      on.expect_works();
    }
  }
}

}  // namespace
}  // namespace coset::mpi_test
