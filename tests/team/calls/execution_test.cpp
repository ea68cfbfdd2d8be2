// SPDX-License-Identifier: Apache-2.0
// coset's senders where there is an implementation of std::execution: here as much of one as its concepts are made of.
#include <gtest/gtest.h>

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/teams.hpp"

namespace execution {

struct sender_t {};
struct operation_state_t {};
struct set_value_t {
  template <class Receiver>
  void operator()(Receiver&& receiver) const noexcept {
    std::forward<Receiver>(receiver).set_value();
  }
};
struct set_error_t {
  template <class Receiver, class Error>
  void operator()(Receiver&& receiver, Error&& error) const noexcept {
    std::forward<Receiver>(receiver).set_error(std::forward<Error>(error));
  }
};
inline constexpr set_value_t set_value;
inline constexpr set_error_t set_error;
template <class...>
struct completion_signatures {};

template <class T>
concept operation_state = std::derived_from<typename T::operation_state_concept, operation_state_t> &&
    std::is_object_v<T> && requires(T& state) {
  { state.start() }
  noexcept;
};
template <class T>
concept sender = std::derived_from<typename T::sender_concept, sender_t> && std::move_constructible<T> && requires {
  typename T::completion_signatures;
};
template <class Sender, class Receiver>
concept sender_to = sender<Sender> && requires(Sender&& from, Receiver&& to) {
  { std::forward<Sender>(from).connect(std::forward<Receiver>(to)) } -> operation_state;
};

}  // namespace execution

#define COSET_EXECUTION ::execution
#include "coset/async/sender.hpp"

namespace coset::team_test {
namespace {

struct counting {
  int* values;
  void set_value() && noexcept { ++*values; }
  void set_error(std::exception_ptr) && noexcept { ADD_FAILURE() << "nothing is thrown"; }
};

TEST(Execution, ASenderMeetsTheConceptsAndCompletes) {
  team ranks(options_for(2));
  ranks.run([](member& me) {
    progress loop;
    std::vector<int> mine(10, 1);
    int values = 0;
    auto sender = sender_of(loop, [&] { return start_allreduce(me, mine); });
    static_assert(execution::sender_to<decltype(sender), counting>);
    static_assert(
        std::same_as<
            decltype(sender)::completion_signatures,
            execution::completion_signatures<execution::set_value_t(), execution::set_error_t(std::exception_ptr)>>);
    auto operation = std::move(sender).connect(counting{&values});
    operation.start();
    loop.run();
    EXPECT_EQ(values, 1);
    EXPECT_EQ(mine[0], 2);
  });
}

}  // namespace
}  // namespace coset::team_test
