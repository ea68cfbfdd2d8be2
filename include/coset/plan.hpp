// SPDX-License-Identifier: Apache-2.0
// Plans: they separate choosing how a collective runs from running it.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "coset/detail/any_team.hpp"
#include "coset/detail/bits.hpp"
#include "coset/detail/collective.hpp"
#include "coset/detail/requirements.hpp"
#include "coset/detail/standard_parts.hpp"
#include "coset/detail/visibility.h"

namespace coset::inline COSET_ABI {

/// How to run a collective, for callers who know better than the library.
struct plan_options {
  /// "direct", "ring", "generalized(radix=4,saved_steps=1)", "product(dims=4x3)" …; "plan(file=mine.json)": Plan JSON
  std::string algorithm = "auto";
  std::string storage = "auto";  ///< where peers meet: "staged", "zero_copy", "output+stream", "staged+library" …
  bits required = bits::same_on_all_ranks;
  rank_t root = 0;  ///< of reduce, broadcast, gather and scatter
  /// Of reduce_scatter, allgather, gather and scatter: one per rank; empty if all are equal.
  std::vector<std::size_t> counts = {};
  std::size_t segment_bytes = 0;  ///< bytes of the vector staged at a time; 0: the library chooses
};

/// Parses "algorithm", "algorithm/storage" or "algorithm/storage/segment": "generalized(radix=4)",
/// "direct/zero_copy+stream", "direct/staged/256K", "auto/staged". Throws schedule_error quoting a name that does not
/// exist.
COSET_API plan_options plan_named(std::string_view);

namespace detail {

struct bound_plan;

/// Two plans, one for separate arrays and one for calls in place. Plan objects of one kind share them.
struct plan_pair {
  std::shared_ptr<bound_plan const> apart, in_place;
};
COSET_API plan_pair make_plans(team_state&, verb, std::size_t count, reduction_table const&, plan_options const&);
COSET_API std::string describe(bound_plan const&);

/// The arrays and lengths with which one rank executes a plan; lengths in elements.
struct plan_arrays {
  void const* in;
  std::size_t in_count;
  void* out;
  std::size_t out_count;
};
COSET_API void execute(rank_state&, plan_pair const&, plan_arrays const&, void const* operation);
COSET_API request start(rank_state&, plan_pair const&, plan_arrays const&, void const* operation);

}  // namespace detail

/// A persistent collective: planned once, executed any number of times by every rank of its team.
///
/// `count` is the length of the whole vector. A rank's input and output are those of the verb's function: for
/// reduce_scatter and scatter `out`, and for allgather and gather `in`, is the rank's piece. Of all_to_all either array is
/// `count` elements long, and all pieces are.
///
/// Over processes each makes a plan of its own, from the same arguments; making it sends nothing. Where processes have
/// chosen differently, the first call throws mismatch_error on every rank.
template <class T, class Op = plus>
class plan {
  static_assert((detail::reduces_value<T, Op>(), true));

 public:
  /// Any thread may call it. Throws schedule_error if the algorithm or storage does not exist, is undefined for this
  /// many ranks, or does not give the required bits, and if a file's plan is wrong or for another verb or root; the message
  /// names a remedy. Throws argument_error for a root that
  /// is no rank, counts that do not add up, and allreduce_view, which has no output to plan for; over processes also for
  /// reduce_shared, and for what is made of pieces, has a named plan, and is too long for `options::staging_bytes`.
  plan(detail::any_team owner, verb what, std::size_t count, Op op = {}, plan_options const& options = {})
      : op_(detail::present(op)),
        count_(count),
        plans_(detail::make_plans(owner.state(), what, count, table(what), options)) {}

  /// Collective: every rank executes the same plan. `in` may be `out` where the verb allows it.
  template <class In, class Out>
  void execute(member& me, In const& in, Out&& out) const {
    detail::execute(me.state(), plans_, arrays<Out>(in, out), &op_);
  }

  /// The same in place, or for a broadcast.
  template <class InOut>
  void execute(member& me, InOut&& inout) const {
    detail::execute(me.state(), plans_, arrays<InOut>(inout, inout), &op_);
  }

  /// The same in split phase, see request. The plan must outlive the request.
  template <class In, class Out>
  [[nodiscard]] request start(member& me, In const& in, Out&& out) const {
    return detail::start(me.state(), plans_, arrays<Out>(in, out), &op_);
  }

  std::size_t count() const noexcept { return count_; }
  /// "direct, staged, forward", for logs.
  std::string describe() const { return detail::describe(*plans_.apart); }

 private:
  static detail::reduction_table const& table(verb what) {
    bool const moves = detail::is_verb(what) && detail::only_moves(what);  // make_plans() refuses what is no verb
    return moves ? detail::copy_of<T>() : detail::table_of<T, Op>();
  }

  template <class Out, class In>
  static detail::plan_arrays arrays(In const& in, std::remove_reference_t<Out>& out) {
    if constexpr (detail::moves<In, Out>()) {
      constexpr bool of_the_plans_type = std::same_as<std::ranges::range_value_t<Out>, T>;
      static_assert(of_the_plans_type,
                    "the plan is for elements of another type: make one for the type of these arrays");
      return {std::ranges::data(in), std::ranges::size(in), std::ranges::data(out), std::ranges::size(out)};
    } else {
      return {};
    }
  }

  Op op_;
  std::size_t count_;
  detail::plan_pair plans_;
};

template <class T, class Op = plus>
plan<T, Op> make_plan(detail::any_team owner, verb what, std::size_t count, Op op = {},
                      plan_options const& options = {}) {
  return plan<T, Op>(owner, what, count, op, options);
}

/// The plan of an allreduce.
template <class T, class Op = plus>
plan<T, Op> make_plan(detail::any_team owner, std::size_t count, Op op = {}, plan_options const& options = {}) {
  return plan<T, Op>(owner, verb::allreduce, count, op, options);
}

}  // namespace coset
