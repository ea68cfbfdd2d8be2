// SPDX-License-Identifier: Apache-2.0
// Parts of teams whose threads join and leave: they last as long as nothing fails.
#include <optional>
#include <vector>

#include "mpi/lifetimes/adopted.hpp"
#include "mpi/split/parts.hpp"

namespace coset::mpi_test {
namespace {

class SplitAdopted : public ::testing::Test {
 protected:
  std::optional<member>& kept(member const& me) { return kept_[me.rank() - on.all->first()]; }
  /// Of every second process, or of each process.
  int colour(member const& me, bool across) const { return across ? of.process[me.rank()] % 2 : of.process[me.rank()]; }

  adopted const on{1};
  origins const of{*on.all};

 private:
  std::vector<std::optional<member>> kept_ = std::vector<std::optional<member>>(on.threads.size);
};

TEST_F(SplitAdopted, PartsWorkWithinAStay) {
  for (bool const across : {false, true}) {
    on.expect_no_faults([&](member& me) -> std::string {
      member part = me.split(colour(me, across), -of.process[me.rank()]);
      member child = part.split(0);
      std::string const fault = errands(part, 1 + static_cast<std::uint64_t>(colour(me, across)), 5);
      if (!fault.empty()) return fault;
      return allreduce(child, 1u) == part.size() ? adopted::sums(me) : "a sum in a part of the part is wrong";
    });
  }
}

TEST_F(SplitAdopted, PartsAreKeptFromStayToStay) {
  for (bool const across : {false, true}) {
    on.expect_no_faults([&](member& me) {
      kept(me).emplace(me.split(colour(me, across)));
      return std::string();
    });
    for (int stay = 0; stay < 20; ++stay) {
      ASSERT_EQ(on.faults([&](member& me) { return adopted::sums(*kept(me)); }), "");
    }
    on.expect_no_faults([&](member& me) {
      kept(me).reset();
      return adopted::sums(me);
    });
  }
}

TEST_F(SplitAdopted, AFailureInAPartIsToldToAllUntilReset) {
  if (on.all->size() < 2) GTEST_SKIP();
  for (bool const across : {true, false}) {
    std::vector<std::string> found(on.threads.size);
    on.threads.run([&](rank_t t) {
      auto const thrown = outcome_of([&] {
        auto me = on.all->join(t);
        kept(*me).emplace(me->split(colour(*me, across)));
        barrier(*me);
        if (me->rank() == 0) throw std::domain_error("told so");
        for (;;) {
          barrier(*kept(*me));
          barrier(*me);
        }
      });
      if (thrown.type != type_name<aborted>() && thrown.message != "told so") found[t] = "threw " + thrown.message;
    });
    std::string fault;
    for (auto const& each : found) fault += each;
    EXPECT_EQ(said_anywhere(fault), "");
    on.all->reset();
    on.expect_no_faults([&](member& me) -> std::string {
      auto const thrown = outcome_of([&] { barrier(*kept(me)); });
      kept(me).reset();
      barrier(me);
      return thrown.type == type_name<argument_error>() ? "" : "not refused: " + thrown.message;
    });
    on.expect_works();
    on.expect_no_faults([&](member& me) {
      member part = me.split(colour(me, across));
      return adopted::sums(part);
    });
  }
}

}  // namespace
}  // namespace coset::mpi_test
