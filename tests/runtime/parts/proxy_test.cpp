// SPDX-License-Identifier: Apache-2.0
// What a rank does for the messages of its domain while it waits, and whom it tells what.
#include "runtime/transport/proxy.hpp"

#include <gmock/gmock.h>

#include <latch>
#include <optional>
#include <thread>

#include "runtime/executor.hpp"
#include "runtime/memory/busy_mark.hpp"
#include "runtime/requests.hpp"
#include "support/teams.hpp"
#include "team/domain_team.hpp"

namespace coset::team_test {
namespace {

using runtime::flight;
using runtime::look_around;
using ::testing::HasSubstr;

/// Nothing ever comes.
class silent_endpoint : public runtime::endpoint {
 public:
  silent_endpoint(int& begun, bool const& breaks) : begun_(begun), breaks_(breaks) {}
  void begin() override { ++begun_; }
  void expect(rank_t, std::span<runtime::piece const>) override {}
  void send(rank_t, runtime::envelope const&, std::span<runtime::piece const>) override {
    if (breaks_) throw mpi::error("the line is dead");
  }
  state look(std::size_t) override { return state::awaited; }
  runtime::envelope const& envelope_of(std::size_t) const override { return none_; }
  bool all_sent() override { return true; }
  std::byte* room(std::uint32_t, std::size_t) override { return nullptr; }
  void offload(std::uint32_t, runtime::offloaded_items const&, std::size_t) override {}
  std::byte const* offloaded(std::uint32_t) override { return nullptr; }

 private:
  int& begun_;
  bool const& breaks_;
  runtime::envelope none_{};
};

/// Counts what it is called for.
class counting_transport : public runtime::transport {
 public:
  std::unique_ptr<runtime::endpoint> open(rank_t, std::uint32_t) override {
    return std::make_unique<silent_endpoint>(begun, breaks_sending);
  }
  void progress(detail::rank_state&) override {
    ++progressed;
    if (breaks) throw mpi::error("the line is dead");
  }
  void ask(detail::rank_state&, flight const&, rank_t peer) override { asked.push_back(peer); }
  void tell_failure(detail::rank_state&) noexcept override { ++told; }
  std::chrono::nanoseconds deadline() const noexcept override { return longest; }
  bool has_left_behind() const noexcept override { return false; }
  runtime::rules_of_parts rules() const noexcept override { return {}; }
  std::unique_ptr<runtime::transport> open_part(runtime::part_of_team const&) override { return nullptr; }

  int progressed = 0, told = 0, begun = 0;
  bool breaks = false, breaks_sending = false;
  std::vector<rank_t> asked;
  std::chrono::nanoseconds longest{};
};

/// Two hosts of two ranks, whose first ranks are proxies; the first host is here.
class Proxy : public ::testing::Test {
 protected:
  static constexpr rank_t proxy = 0, other = 1;

  Proxy() : host_(threads_.state(), part(), 2, 0, {}) {
    host_.begin(1, {});
    threads_.state().begin_generation();
    for (rank_t const r : {proxy, other})
      runtime::prepare(flights_[r], rank(r), 0, *plans().apart, nullptr, nullptr, nullptr);
  }

  detail::rank_state& rank(rank_t r) { return *host_.state().members[r]; }
  flight& of(rank_t r) { return flights_[r]; }
  void look(rank_t r, std::uint32_t times = 1) {
    for (std::uint32_t k = 0; k < times; ++k) look_around(rank(r), flights_[r]);
  }
  /// As if it had been under way for so long, and had asked so long ago; the next look asks for the time.
  void is_stuck(rank_t r, std::chrono::seconds since, std::chrono::seconds asked) {
    auto const now = std::chrono::steady_clock::now().time_since_epoch();
    flights_[r].looks = {0, 127, now - since, now - asked};
  }
  /// As if it waited for a message.
  void waits_for_a_message(rank_t r) {
    auto const& code = flights_[r].code->code;
    auto const at = std::ranges::find(code, program::action::receive, &program::instruction::what);
    ASSERT_NE(at, code.end());
    flights_[r].line.entered = true;
    flights_[r].at = static_cast<std::uint32_t>(at - code.begin());
  }

  void give_up_messages() { host_.give_up_messages(); }

  counting_transport transport;

 private:
  runtime::domain part() {
    runtime::domain d{.total = 4};
    d.spread = {{0, 2, 4}, {{0, 1}, {2, 1}}};
    d.messages = &transport;
    return d;
  }
  detail::plan_pair const& plans() {
    if (!plans_) plans_ = detail::make_plans(host_.state(), verb::allreduce, 12, detail::table_of<int, plus>(), {});
    return *plans_;
  }

  team threads_{{.ranks = 2, .place = placement::unbound}};
  team_room::domain_team host_;
  std::optional<detail::plan_pair> plans_;
  std::array<flight, 2> flights_;
};

TEST_F(Proxy, LetsMessagesProgressNowAndThen) {
  look(proxy, 7);
  EXPECT_EQ(transport.progressed, 0);
  look(proxy);
  EXPECT_EQ(transport.progressed, 1);
  look(proxy, 80);
  EXPECT_EQ(transport.progressed, 11);
  look(other, 88);
  EXPECT_EQ(transport.progressed, 11);
}

/// What an endpoint expected when its operation failed lies in arrays that may be gone.
TEST_F(Proxy, GivesUpWhatItsEndpointsExpect) {
  give_up_messages();
  EXPECT_EQ(transport.begun, 0);
  of(proxy).layout = &of(proxy).plan->segments.layout;
  of(proxy).line.parity = 0;
  runtime::expect_messages(rank(proxy), of(proxy));
  EXPECT_EQ(transport.begun, 1);
  give_up_messages();
  EXPECT_EQ(transport.begun, 2);
}

TEST_F(Proxy, AsksForWhomItWaits) {
  waits_for_a_message(proxy);
  is_stuck(proxy, std::chrono::seconds(2), std::chrono::seconds(1));
  look(proxy);
  EXPECT_EQ(transport.asked, std::vector<rank_t>{2});
  is_stuck(proxy, std::chrono::hours(5), std::chrono::hours(4));
  of(proxy).looks.stuck = 128;  // not at this look
  look(proxy);
  EXPECT_EQ(transport.asked.size(), 1u);
}

TEST_F(Proxy, AsksEverLessOften) {
  waits_for_a_message(proxy);
  is_stuck(proxy, std::chrono::hours(5), std::chrono::hours(1));
  look(proxy);
  EXPECT_TRUE(transport.asked.empty());
  is_stuck(proxy, std::chrono::hours(5), std::chrono::hours(2));
  look(proxy);
  EXPECT_EQ(transport.asked.size(), 1u);
  // It has just asked.
  of(proxy).looks.stuck = 127;
  look(proxy);
  EXPECT_EQ(transport.asked.size(), 1u);
}

/// What a message may take is no reason to ask.
TEST_F(Proxy, DoesNotAskAtOnce) {
  waits_for_a_message(proxy);
  look(proxy, 64);
  EXPECT_EQ(of(proxy).looks.asked, of(proxy).looks.stuck_since);
  EXPECT_GT(of(proxy).looks.asked.count(), 0);
  EXPECT_TRUE(transport.asked.empty());
}

TEST_F(Proxy, AsksForNobodyWhereItWaitsForItsHost) {
  for (bool const entered : {false, true}) {
    is_stuck(proxy, std::chrono::hours(5), std::chrono::hours(4));
    of(proxy).line.entered = entered;
    of(proxy).at = static_cast<std::uint32_t>(of(proxy).code->code.size());
    look(proxy);
  }
  is_stuck(other, std::chrono::hours(5), std::chrono::hours(4));
  look(other);
  EXPECT_TRUE(transport.asked.empty());
}

TEST_F(Proxy, EndsAtTheDeadlineWithWhatItWaitedFor) {
  transport.longest = std::chrono::hours(3);
  waits_for_a_message(proxy);
  is_stuck(proxy, std::chrono::hours(2), std::chrono::hours(1));
  EXPECT_NO_THROW(look(proxy));
  is_stuck(proxy, std::chrono::hours(4), std::chrono::hours(1));
  outcome const left = outcome_of([&] { look(proxy); });
  EXPECT_EQ(left.type, type_name<mpi::error>());
  EXPECT_THAT(left.message, HasSubstr("rank 0 has waited for a message of rank 2 for 10800000 ms"));
  EXPECT_TRUE(rank(other).shared.failed());
  EXPECT_EQ(transport.told, 1);
}

TEST_F(Proxy, NamesItsHostWhereNoMessageIsMissing) {
  transport.longest = std::chrono::hours(3);
  is_stuck(other, std::chrono::hours(4), std::chrono::hours(1));
  EXPECT_THAT(outcome_of([&] { look(other); }).message, HasSubstr("rank 1 has waited for a rank of its host"));
}

TEST_F(Proxy, NamesTheOtherHostsWhereTheyHaveToCombine) {
  transport.longest = std::chrono::hours(3);
  program::program code = *of(proxy).code;
  code.code = {program::instruction{}, program::instruction{}};
  code.code[1].what = program::action::await_offload;
  of(proxy).code = &code;
  of(proxy).line.entered = true;
  for (std::uint32_t const at : {0u, 1u}) {
    is_stuck(proxy, std::chrono::hours(4), std::chrono::hours(1));
    of(proxy).at = at;
    EXPECT_THAT(outcome_of([&] { look(proxy); }).message,
                HasSubstr(at == 0 ? "a rank of its host" : "the other hosts to combine"));
    rank(proxy).shared.failure.clear();
  }
}

/// A deadline is for those that nothing comes to: counted from what came last.
TEST_F(Proxy, CountsFromWhenItLastGotOn) {
  transport.longest = std::chrono::hours(3);
  detail::rank_state& me = rank(other);
  runtime::pending& started = me.requests.channels[0];
  std::array<int, 12> values{}, sums{};
  runtime::prepare(started.under_way, me, 1, *of(other).plan, values.data(), sums.data(), nullptr);
  is_stuck(other, std::chrono::hours(4), std::chrono::hours(1));
  started.under_way.looks = of(other).looks;
  started.live = true;
  me.requests.live = 1;
  EXPECT_NO_THROW(runtime::advance_all(me.root));  // enters, and so gets on
  started.under_way.looks = of(other).looks;
  EXPECT_THROW(runtime::advance_all(me.root), mpi::error);
  started.live = false;
  me.requests.live = 0;
}

TEST_F(Proxy, RanksHaveLinesOfTheirOwn) { EXPECT_NE(&rank(proxy).lines.own, &rank(other).lines.own); }

/// Whoever finds the messages broken leaves no sooner than peers have let go of its arrays.
TEST_F(Proxy, LeavesBrokenMessagesNoSoonerThanPeersItsArrays) {
  for (bool const in_sending : {false, true}) {
    transport.breaks = !in_sending;
    transport.breaks_sending = in_sending;
    std::latch is_busy(1);
    std::atomic<bool> has_let_go = false;
    std::thread peer([&] {
      runtime::busy_mark const busy(rank(other).lines.own);
      is_busy.count_down();
      while (!rank(other).shared.failed()) std::this_thread::yield();
      for (int k = 0; k < 1000; ++k) std::this_thread::yield();
      has_let_go = true;
    });
    is_busy.wait();
    detail::rank_state& me = rank(proxy);
    me.here.thread = std::this_thread::get_id();
    // The root of a broadcast sends before it waits for anything.
    std::array<float, 12> values{};
    auto const sends = detail::make_plans(me.team, verb::broadcast, 1, detail::copy_of<float>(), {});
    runtime::prepare(of(proxy), me, 0, in_sending ? *sends.apart : *of(proxy).plan, values.data(), values.data(),
                     nullptr);
    EXPECT_THROW(runtime::complete(me, of(proxy)), mpi::error);
    EXPECT_TRUE(has_let_go) << (in_sending ? "in sending" : "while waiting");
    peer.join();
    me.shared.failure.clear();
  }
}

TEST_F(Proxy, WaitsForEverWithoutADeadline) {
  is_stuck(other, std::chrono::hours(400), std::chrono::hours(1));
  EXPECT_NO_THROW(look(other));
}

/// A rank that finds the messages broken tells those that it shares memory with.
TEST_F(Proxy, OfBrokenMessagesFailsTheTeam) {
  transport.breaks = true;
  detail::rank_state& me = rank(proxy);
  me.here.thread = std::this_thread::get_id();
  auto const plan = detail::make_plans(me.team, verb::barrier, 0, detail::copy_of<char>(), {});
  EXPECT_EQ(outcome_of([&] { detail::execute(me, plan, {}, nullptr); }).type, type_name<mpi::error>());
  EXPECT_TRUE(rank(other).shared.failed());
  EXPECT_EQ(outcome_of([&] { rank(other).shared.failure.raise(); }).type, type_name<mpi::error>());
}

TEST_F(Proxy, TellsOtherHostsOfARefusal) {
  EXPECT_THROW(detail::refuse(rank(other), "for no reason"), argument_error);
  EXPECT_EQ(transport.told, 1);
}

}  // namespace
}  // namespace coset::team_test
