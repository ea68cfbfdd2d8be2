// SPDX-License-Identifier: Apache-2.0
// Reducers over processes that one process combines otherwise than the others: an error on every rank, never a wait, and never
// a wrong total that nobody hears of.
#include <functional>
#include <stdexcept>

#include "mpi/processes.hpp"

namespace coset::mpi_test {
namespace {

/// What one process does is `odd`; each rank has to throw, and then the team has to work.
class Otherwise : public ::testing::TestWithParam<std::size_t> {
 protected:
  hybrid on{1, options()};
  bool const odd = process() == processes() - 1;

  static mpi::options options() {
    mpi::options wanted = usual_options();
    if (GetParam() == 0) wanted.staging_bytes = 0;
    return wanted;
  }
  void SetUp() override {
    if (processes() == 1) GTEST_SKIP() << "one process, which agrees with itself";
  }
  /// `body` on all ranks; each has to throw something, with these words on some rank.
  void expect_told(std::function<void(member&)> const& body, std::string const& words = "") {
    std::vector<outcome> left(on.all.threads());
    std::string fault = on.faults([&](member& me) -> std::string {
      left[me.rank() - on.all.first()] = outcome_of([&] {
        body(me);
        barrier(me);
      });
      return "";
    });
    bool is_said = false;
    for (auto const& each : left) {
      if (each.type.empty()) fault = "no error";
      is_said |= each.message.find(words) != std::string::npos;
    }
    if (!is_said) fault += "not in words: " + left[0].type + " " + left[0].message;
    EXPECT_EQ(said_anywhere(fault), "");
    on.expect_works();
  }
};

constexpr std::size_t length = 5'000;

template <class T, class Op>
void combine(member& me, reducer<T, Op>& sum, combining how, destination const& to = {}) {
  static std::vector<T> target(length);
  std::ranges::fill(sum.local(me), T(1));
  sum.combine_into(target, me, how, to);
}
template <class T, class Op>
void combine(member& me, sparse_reducer<T, Op>& sum, combining how, destination const& to = {}) {
  static std::vector<T> target(length);
  sum.local(me)[me.rank()].reduce(T(1));
  sum.combine_into(target, me, how, to);
}

TEST_P(Otherwise, AddedOrAssigned) {
  std::vector<std::size_t> parts(static_cast<std::size_t>(processes()), 1);
  parts[0] = length - parts.size() + 1;
  auto const how = odd ? combining::add : combining::assign;
  for (auto const& to :
       {destination(), destination::one_process(0), destination::one_process(1), destination::parts(parts)}) {
    SCOPED_TRACE(static_cast<int>(to.what()));
    reducer<double> sum(length);
    expect_told([&](member& me) { combine(me, sum, how, to); });
  }
  sparse_reducer<double> sum(length);
  expect_told([&](member& me) { combine(me, sum, how); });
}

TEST_P(Otherwise, ToAnotherProcess) {
  auto const number = destination::one_process(odd ? 1 : 0);
  reducer<double> sum(length);
  expect_told([&](member& me) { combine(me, sum, combining::assign, number); });
  sparse_reducer<double> sparse(length);
  expect_told([&](member& me) { combine(me, sparse, combining::add, number); });
  expect_told(
      [&](member& me) { combine(me, sparse, combining::add, odd ? destination() : destination::one_process(0)); });
  expect_told([&](member& me) { combine(me, sum, combining::add, odd ? destination() : destination::one_process(0)); });
  auto const none = destination::one_process(odd ? static_cast<rank_t>(processes()) : 0);
  expect_told([&](member& me) { combine(me, sum, combining::add, none); }, "there is no process");
}

TEST_P(Otherwise, InOtherParts) {
  std::vector<std::size_t> parts(static_cast<std::size_t>(processes()), odd ? 2 : 1);
  parts[0] = length - (parts.size() - 1) * (odd ? 2 : 1);
  reducer<int> sum(length);
  expect_told([&](member& me) { combine(me, sum, combining::assign, destination::parts(parts)); });
  expect_told([&](member& me) { combine(me, sum, combining::add, destination::parts(parts)); });
  parts[0] += odd ? 1 : 0;
  expect_told([&](member& me) { combine(me, sum, combining::add, destination::parts(parts)); }, "add up to");
}

TEST_P(Otherwise, OfAnotherType) {
  reducer<float> a(length);
  reducer<std::int32_t> b(length);
  expect_told([&](member& me) { odd ? combine(me, a, combining::add) : combine(me, b, combining::add); }, "float");
  sparse_reducer<float> c(length);
  sparse_reducer<std::int32_t> d(length);
  expect_told([&](member& me) { odd ? combine(me, c, combining::add) : combine(me, d, combining::add); });
}

TEST_P(Otherwise, ByAnotherOperation) {
  reducer<double> a(length);
  reducer<double, maximum> b(length);
  expect_told([&](member& me) { odd ? combine(me, a, combining::add) : combine(me, b, combining::add); }, "maximum");
  sparse_reducer<double> c(length);
  sparse_reducer<double, maximum> d(length);
  expect_told([&](member& me) { odd ? combine(me, c, combining::add) : combine(me, d, combining::add); });
  expect_told([&](member& me) { odd ? combine(me, a, combining::add) : combine(me, c, combining::add); });
}

TEST_P(Otherwise, IntoAnArrayOfAnotherLength) {
  reducer<double> sum(length);
  sparse_reducer<double> sparse(length);
  std::vector<double> target(odd ? length + 1 : length);
  expect_told([&](member& me) { sum.combine_into(target, me); }, "5001");
  expect_told([&](member& me) { sparse.combine_into(target, me); }, "5001");
  expect_told([&](member& me) { sum.start_combine_into(target, me).wait(); }, "5001");
}

TEST_P(Otherwise, WithMoreArrays) {
  std::vector<double> a(length), b(length);
  joint_reducer<double, double> two(a, b);
  joint_reducer<double> one(a);
  expect_told([&](member& me) { odd ? one.combine(me) : two.combine(me); });
}

struct throws_at_seven {
  int operator()(int a, int b) const {
    if (a == 7 || b == 7) throw std::runtime_error("seven");
    return a + b;
  }
};

TEST_P(Otherwise, ByAnOperationThatThrows) {
  std::vector<int> target(length);
  std::vector<std::size_t> parts(static_cast<std::size_t>(processes()), 1);
  parts[0] = length - parts.size() + 1;
  for (bool const in_target : {false, true})
    for (auto const how : {combining::add, combining::assign})
      for (auto const& to : {destination(), destination::one_process(1), destination::parts(parts)}) {
        // In the target nobody sees it who assigns, or whose target stays.
        bool const is_seen =
            !in_target ||
            (how == combining::add && (to.what() != destination::kind::one_process || on.all.process_number() == 1));
        if (said_anywhere(odd && is_seen ? "seen" : "").empty()) continue;
        SCOPED_TRACE(static_cast<int>(to.what()) * 10 + (how == combining::add ? 2 : 0) + (in_target ? 1 : 0));
        reducer<int, throws_at_seven> sum(length, throws_at_seven(), 0);
        std::ranges::fill(target, in_target && odd ? 7 : 0);
        expect_told([&](member& me) {
          std::ranges::fill(sum.local(me), odd && !in_target ? 7 : 1);
          sum.combine_into(target, me, how, to);
        });
      }
  for (auto const by : {way::partition, way::private_copies}) {
    sparse_options options;
    options.by = by;
    sparse_reducer<int, throws_at_seven> sum(length, throws_at_seven(), 0, options);
    std::ranges::fill(target, odd ? 7 : 0);
    expect_told([&](member& me) {
      for (std::size_t k = 0; k < length; k += 7) sum.local(me)[k].reduce(1);
      sum.combine_into(target, me);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(By, Otherwise, ::testing::Values(0, 1),
                         [](auto const& each) { return each.param == 0 ? "messages" : "windows"; });

}  // namespace
}  // namespace coset::mpi_test
