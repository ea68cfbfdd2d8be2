// SPDX-License-Identifier: Apache-2.0
// Several arrays and values in one allreduce.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <utility>

#include "coset/detail/joint_call.hpp"
#include "coset/detail/visibility.h"
#include "coset/reducers/targets.hpp"
#include "coset/reducers/written_types.hpp"

namespace coset::inline COSET_ABI {
namespace detail {

/// How elements travel: sums that would be rounded at each step travel as what they are kept in.
template <class T, class Op>
struct travelling {
  using type = T;
  using operation = Op;
};
template <half_float T, class Op>
requires is_one_of<Op, plus, multiplies>
struct travelling<T, Op> {
  using type = float;
  using operation = Op;
};
template <class T>
struct travelling<T, reproducible_plus> {
  using type = binned<T>;
  using operation = plus;
};

template <class From, class To>
void convert(void* to, void const* from, std::size_t count) noexcept {
  if constexpr (std::same_as<From, To>) {
    if (count > 0) std::memcpy(to, from, count * sizeof(To));
  } else {
    auto const* const source = static_cast<From const*>(from);
    auto* const made = static_cast<To*>(to);
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (requires { source[i].value(); }) {
        std::construct_at(made + i, source[i].value());
      } else {
        std::construct_at(made + i, source[i]);
      }
    }
  }
}

/// An array or value with the operation of its own, or else with `op`.
template <class Part, class Op>
auto with_operation(Part const& part, Op const& op) {
  if constexpr (is_target<Part>) {
    return target<decltype(part.place), decltype(part.op), no_identity>{part.place, part.op, {}};
  } else if constexpr (is_operation<Op, typename Part::value_type>()) {
    return target<Part, Op, no_identity>{part, present(op), {}};
  } else {
    return missing<target<Part, plus, no_identity>>();
  }
}
template <class Part, class Op>
using with_operation_of = decltype(with_operation(std::declval<Part const&>(), std::declval<Op const&>()));

template <class Target>
struct joint_types;
template <class Place, class Op>
struct joint_types<target<Place, Op, no_identity>> {
  using value_type = typename Place::value_type;
  using travels = typename travelling<value_type, Op>::type;
  using operation = typename travelling<value_type, Op>::operation;
  static constexpr std::size_t most_bytes = sizeof(travels) + alignof(travels);

  static reduction_table const& table() { return table_of<value_type, Op>(); }
  static joint_part part(target<Place, Op, no_identity> const& of) {
    static constexpr plus sum;
    void const* sum_or_own = std::addressof(of.op);
    if constexpr (!std::same_as<operation, Op>) sum_or_own = &sum;
    return {.travelling = {&table_of<travels, operation>(), sum_or_own},
            .own = {&table(), std::addressof(of.op)},
            .place = of.place.data(),
            .count = of.place.count(),
            .element_bytes = sizeof(value_type),
            .alignment = alignof(travels),
            .pack = convert<value_type, travels>,
            .unpack = convert<travels, value_type>};
  }
};

template <class... Targets>
COSET_PER_COPY joint_kind const& kind_of() {
  static_assert((joint_types<Targets>::most_bytes + ... + sizeof(std::size_t)) <= longest_row,
                "one element of each has to fit in 4 KiB: reduce larger structs by calls of their own");
  // Used until the process ends, and without the heap: a rank that throws here could not tell the others.
  alignas(joint_kind) static std::byte room[sizeof(joint_kind)];
  static joint_kind const& kind = *::new (room) joint_kind{&joint_types<Targets>::table()...};
  return kind;
}

/// The arrays and values with all their operations: what the erased core works on.
template <class... Targets>
struct joint_arguments {
  std::tuple<Targets...> targets;

  static joint_kind const& kind() { return kind_of<Targets...>(); }
  std::array<joint_part, sizeof...(Targets)> parts() const {
    return std::apply([](auto const&... each) { return std::array{joint_types<Targets>::part(each)...}; }, targets);
  }
};

}  // namespace detail

/// Arrays and values that one operation reduces. Made by together().
template <class... Parts>
struct joined {
  std::tuple<Parts...> parts;

  template <class Op>
  auto arguments(Op const& op) const {
    return std::apply(
        [&op](Parts const&... each) {
          return detail::joint_arguments<detail::with_operation_of<Parts, Op>...>{
              {detail::with_operation(each, op)...}};
        },
        parts);
  }
};

/// `together(std::span(a, n), b, x, into(top, coset::maximum{}))`: arrays, views and single variables, each of its own
/// type and length, and with into() of its own operation. None may overlap another: of one rank, that throws
/// argument_error on every rank. One that all ranks share is not found, as they reduce copies; each needs its own.
template <class... Things>
requires(sizeof...(Things) > 0) auto together(Things&&... things) {
  auto const part = []<class Thing>(Thing&& thing) {
    if constexpr (detail::is_target<std::remove_cvref_t<Thing>>) {
      return std::remove_cvref_t<Thing>(std::forward<Thing>(thing));
    } else if constexpr (!detail::is_place<Thing>()) {
      return detail::missing<detail::place_of_array<char>>();
    } else {
      return detail::place_of(std::forward<Thing>(thing));
    }
  };
  return joined<decltype(part(std::forward<Things>(things)))...>{{part(std::forward<Things>(things))...}};
}

/// Reduces several arrays and values in place, by one operation among the ranks:
///
///     coset::allreduce(me, coset::together(forces, energy, coset::into(fastest, coset::maximum{})));
///
/// Collective: every rank names as many, of the same types, lengths and operations; `op` is the operation of those
/// without one of their own. Order is kept if one of them needs it.
/// Bits: equal on every rank, and on every run with the same team size and lengths. What one array gets may depend on
/// the lengths of the others. Sums of 16-bit floats and reproducible sums are rounded once, as in calls of their own.
/// Cost: that of one allreduce of all bytes, and a copy of each array out and in. Arrays beyond 4 KiB, which would pay more
/// for the copies than for rounds, follow by operations of their own. For three arrays of up to 0.5 KiB and two values all
/// that is a third to a half of the time of five calls (two ranks). Each pair of arrays is compared, for overlaps, unless
/// they lie one behind the other. Up to 16 values of 8 bytes that travel as they are, take half the time of others. No
/// allocation once a call of these lengths has run, up to 16 arrays and values.
/// Throws mismatch_error on every rank if the ranks disagree in number, types, operations or lengths; the message tells
/// types, operations and the first four lengths of both sides. Otherwise as allreduce.
template <class... Parts, class Op = plus>
void allreduce(member& me, joined<Parts...> const& all, Op op = {}) {
  auto const arguments = all.arguments(op);
  auto parts = arguments.parts();
  detail::run_joint(me.state(), arguments.kind(), parts);
}

/// The same in split phase, see request: the arrays and values have the result once it is complete. Allocates, and copies
/// all of them, however long: start longer ones by themselves.
template <class... Parts, class Op = plus>
[[nodiscard]] request start_allreduce(member& me, joined<Parts...> const& all, Op op = {}) {
  using arguments = decltype(all.arguments(op));
  auto const mine = all.arguments(op);
  std::shared_ptr<arguments const> kept;
  try {
    kept = std::make_shared<arguments const>(mine);
  } catch (std::bad_alloc const&) {
    // start_joint() tells all ranks.
  }
  auto const parts = (kept ? *kept : mine).parts();
  return detail::start_joint(me.state(), mine.kind(), parts, kept);
}

/// A persistent allreduce of several arrays and values, all of which it copies; see plan.
///
///     coset::joint_plan<double, coset::value_of<double>> sums(  // or without the types
///         team, coset::together(forces, energy), coset::plus{}, {.algorithm = "ring"});
///     sums.execute(me, coset::together(forces, energy));  // each rank its own
template <class... Written>
class joint_plan {
 public:
  /// Takes the lengths and operations of `all`, of any rank. Throws schedule_error as plan does.
  template <class... Parts, class Op = plus>
  joint_plan(detail::any_team owner, joined<Parts...> const& all, Op op = {}, plan_options const& options = {})
      : joint_plan(owner, all.arguments(op), options) {}

  /// Collective. Throws argument_error on every rank if a length is not the plan's.
  template <class... Parts, class Op = plus>
  void execute(member& me, joined<Parts...> const& all, Op op = {}) const {
    auto const arguments = all.arguments(op);
    require_same<detail::with_operation_of<Parts, Op>...>();
    auto parts = arguments.parts();
    detail::execute_joint(me.state(), plans_, arguments.kind(), parts);
  }

  std::string describe() const { return detail::describe(*plans_.in_place); }

 private:
  template <class... Targets>
  joint_plan(detail::any_team owner, detail::joint_arguments<Targets...> const& arguments,
             plan_options const& options) {
    require_same<Targets...>();
    auto parts = arguments.parts();
    plans_ = detail::make_joint_plans(owner.state(), arguments.kind(), parts, options);
  }

  template <class... Targets>
  static void require_same() {
    constexpr bool is_as_written = std::same_as<joint_plan<detail::written_for<Targets>...>, joint_plan>;
    static_assert(is_as_written,
                  "as many arrays or values as the plan has, of the same kinds and with the same operations");
  }

  detail::plan_pair plans_;
};

template <class Team, class... Parts, class Op = plus>
joint_plan(Team&, joined<Parts...> const&, Op = {}, plan_options const& = {})
    -> joint_plan<detail::written_for<detail::with_operation_of<Parts, Op>>...>;

}  // namespace coset
