// SPDX-License-Identifier: Apache-2.0
// What goes wrong in a part is told to all ranks of the whole team, and the next run is clean.
#include <optional>

#include "mpi/split/parts.hpp"

namespace coset::mpi_test {
namespace {

/// Every second process, all of its threads: parts across processes wherever there are three of these.
int by_process(origins const& of, rank_t rank) { return of.process[rank] % 2; }

/// `body` on all ranks; what each rank of this process threw out of it, itself caught.
struct caught {
  std::vector<outcome> all;
  std::string fault;

  template <class Body>
  caught(hybrid& on, Body&& body) : all(on.all.threads()) {
    fault = on.faults([&](member& me) {
      all[me.rank() - on.all.first()] = outcome_of([&] { body(me); });
      return std::string();
    });
  }

  template <class Error>
  std::string unless_all_threw(std::string const& word) const {
    for (auto const& each : all) {
      if (each.type != type_name<Error>()) return "threw " + each.type + ": " + each.message;
      if (each.message.find(word) == std::string::npos) return "said " + each.message;
    }
    return fault;
  }
};

class SplitFailure : public ::testing::Test {
 protected:
  hybrid on{1};
  origins const of{on.all};
};

TEST_F(SplitFailure, ADisagreementInAPartIsToldToAll) {
  if (on.all.size() < 3) GTEST_SKIP();
  for (int turn = 0; turn < 3; ++turn) {
    caught const found(on, [&](member& me) {
      member part = me.split(by_process(of, me.rank()));
      barrier(me);
      std::vector<double> values(me.rank() == 0 ? 100 : 200);
      for (;;) allreduce(part, values);  // other parts learn of it, too
    });
    EXPECT_EQ(said_anywhere(found.unless_all_threw<mismatch_error>("100")), "") << on.all.describe();
    on.expect_works();
  }
}

TEST_F(SplitFailure, AnExceptionInAPartAbortsAll) {
  if (on.all.size() < 3) GTEST_SKIP();
  for (rank_t const odd : {rank_t{0}, on.all.size() - 1}) {
    auto const thrown = outcome_of([&] {
      on.all.run([&](member& me) {
        member part = me.split(by_process(of, me.rank()));
        if (me.rank() == odd) throw std::domain_error("told so");
        for (;;) barrier(part);
      });
    });
    bool const here = of.process[odd] == process();
    std::string const expected = here ? type_name<std::domain_error>() : type_name<aborted>();
    EXPECT_EQ(said_anywhere(thrown.type == expected ? "" : "threw " + thrown.type + ": " + thrown.message), "");
    on.expect_works();
  }
}

/// Whether or not it keeps its member of the part.
TEST_F(SplitFailure, ARankThatLeavesIsAMismatchForItsPart) {
  if (processes() < 3) GTEST_SKIP();
  auto const odd = static_cast<rank_t>(std::ranges::find(of.process, processes() - 1) - of.process.begin());
  for (bool const keeps : {false, true}) {
    std::optional<member> kept;
    caught const found(on, [&](member& me) {
      member part = me.split(me.rank() == odd ? 0 : of.process[me.rank()]);
      barrier(part);
      if (me.rank() == odd && keeps) kept.emplace(std::move(part));
      if (me.rank() == odd) throw mismatch_error("has left");  // caught around this body: it leaves run()
      // Who would loop here would keep his process from answering once the only rank that sends has left.
      if (!any_rank_sends() && of.process[me.rank()] == of.process[odd]) throw mismatch_error("has left");
      for (;;) barrier(part);
    });
    EXPECT_EQ(said_anywhere(found.unless_all_threw<mismatch_error>("left")), "") << keeps;
    kept.reset();
    on.expect_works();
  }
}

/// Messages may be under way for a part whose members are gone.
TEST_F(SplitFailure, LongMessagesOfAPartThatFailsAreGivenUp) {
  if (on.all.size() < 3) GTEST_SKIP();
  for (int turn = 0; turn < 5; ++turn) {
    auto const thrown = outcome_of([&] {
      on.all.run([&](member& me) {
        std::vector<double> values(300'000, 1.0), more(300'000, 1.0);
        member part = me.split(by_process(of, me.rank()));
        member other = part.split(0, -static_cast<int>(of.process[me.rank()]));
        request first = start_allreduce(part, values), second = start_allreduce(other, more);
        first.test();
        if (me.rank() == static_cast<rank_t>(turn) % me.size()) throw aborted("left in the middle");
        second.wait();
        for (;;) barrier(other);
      });
    });
    EXPECT_EQ(said_anywhere(thrown.type == type_name<aborted>() ? "" : "threw " + thrown.type), "");
    on.expect_works();
    on.expect_no_faults([&](member& me) -> std::string {
      member part = me.split(by_process(of, me.rank()));
      return errands(part, 9 + static_cast<std::uint64_t>(by_process(of, me.rank())), 5);
    });
  }
}

/// The request and the member are still there when the body has ended: the others do not wait until they are destroyed.
TEST_F(SplitFailure, ARequestThatIsLeftInAPartAbortsAll) {
  if (on.all.size() < 2) GTEST_SKIP();
  for (bool const in_this_process : {false, true}) {
    std::vector<double> values(100'000, 1.0);
    std::optional<member> part;
    std::optional<request> left;
    auto const thrown = outcome_of([&] {
      on.all.run([&](member& me) {
        member mine = me.split(in_this_process ? of.process[me.rank()] : 0);
        barrier(me);
        if (me.rank() != 0) {
          std::vector<double> others(100'000, 1.0);
          // Without the last rank nobody's is complete, however late the others see that rank 0 has ended.
          if (mine.rank() + 1 < mine.size()) start_allreduce(mine, others).wait();
          for (;;) barrier(me);
        }
        part.emplace(std::move(mine));
        left.emplace(start_allreduce(*part, values));
      });
    });
    EXPECT_EQ(said_anywhere(thrown.type == type_name<aborted>() ? "" : "threw " + thrown.type + thrown.message), "");
    left.reset();
    part.reset();
    on.expect_works();
  }
}

/// What a thread waits for in a part of its own process, ranks of other processes may spoil.
TEST_F(SplitFailure, RanksOfOneProcessHearOfOthers) {
  if (processes() < 2) GTEST_SKIP();
  for (bool const within : {false, true}) {
    caught const found(on, [&](member& me) {
      member here = me.split(of.process[me.rank()]);
      if (me.rank() == 0 && within) {
        auto const thrown = outcome_of([&] { allreduce(here, std::vector<int>(3), std::span<int>()); });
        throw argument_error(thrown.message);
      }
      if (me.rank() == 0) throw argument_error("3 elements of its own");
      for (;;) {
        barrier(here);
        barrier(me);
      }
    });
    EXPECT_EQ(said_anywhere(found.all[0].type.empty() ? "threw nothing" : ""), "");
    on.expect_works();
  }
}

TEST_F(SplitFailure, OtherColoursAndKeysAreNoDisagreement) {
  on.expect_no_faults([&](member& me) -> std::string {
    member alone = me.split(static_cast<int>(me.rank()) - 2, -5);
    if (alone.size() != 1 || alone.rank() != 0) return "not alone";
    barrier(alone);
    return allreduce(alone, 4) == 4 ? errands(alone, 3 + me.rank(), 5) : "a sum of one";
  });
}

}  // namespace
}  // namespace coset::mpi_test
