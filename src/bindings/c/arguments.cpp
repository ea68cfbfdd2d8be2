// SPDX-License-Identifier: Apache-2.0
#include "bindings/c/arguments.hpp"

#include <span>
#include <stdexcept>
#include <vector>

#include "base/text/format.hpp"
#include "bindings/c/status.hpp"
#include "runtime/calls/checks.hpp"
#include "runtime/failure/argument_check.hpp"
#include "runtime/rank_state.hpp"

namespace coset::capi {
namespace {

using detail::product;
using detail::sum;
using detail::told;

/// What a rank has of a verb with pieces: `own` bytes of its piece, `all` of the whole vector.
places places_in(verb what, bool is_root, void const* in, void* out, std::size_t own, std::size_t all) {
  if (!detail::is_of_pieces(what)) throw std::logic_error(text::format("{} has no pieces", name_of(what)));
  auto const bytes = [&](detail::share of) {
    return of == detail::share::piece ? own : of == detail::share::whole ? all : 0;
  };
  return {in, bytes(detail::gives(what, is_root)), out, bytes(detail::gets(what, is_root))};
}

/// `counts` or, if they are nullptr, `piece` for every rank.
made_call in_pieces(verb what, coset_member* me, void const* in, void* out, std::size_t piece,
                    std::size_t const* counts, coset_type type, coset_operation op, rank_t root) try {
  rank_t const rank = me->of->rank(), ranks = me->of->size();
  std::size_t unit = 1;
  reduction const how = detail::only_moves(what) ? copy_of(type, unit) : reduction_of(type, op);
  std::vector<std::size_t>& lengths = me->of->state().memory.lengths;  // for as long as the call is looked up
  lengths.clear();
  std::size_t before = 0, all = 0;
  for (rank_t r = 0; r < ranks; ++r) {
    if (r == rank) before = all;
    lengths.push_back(product(counts != nullptr ? counts[r] : piece, unit));
    all = sum(all, lengths.back());
  }
  std::size_t const own = lengths[rank];
  std::size_t const bytes = how.table->element_bytes, all_bytes = product(all, bytes);
  places at = places_in(what, rank == root, in, out, own * bytes, all_bytes);
  settle(at, what, rank, before * bytes);
  return {{.what = what,
           .in = at.in,
           .out = at.out,
           .count = all,
           .reduction = how.table,
           .operation = how.context,
           .root = root,
           .counts = counts != nullptr ? std::span<std::size_t const>(lengths) : std::span<std::size_t const>()},
          how};
} catch (std::bad_alloc const&) {
  runtime::fail_for_memory(me->of->state(), what, me->of->size() * sizeof(std::size_t));
}

}  // namespace

detail::rank_state& state_of(coset_member* me) {
  require(me, "the member");
  return me->of->state();
}

void settle(places& at, verb what, rank_t rank, std::size_t before) {
  if (at.out == COSET_IN_PLACE && at.out_bytes != 0)
    throw argument_error(
        text::format("{}: the output of rank {} is COSET_IN_PLACE, which is only for inputs", name_of(what), rank));
  if (at.in == COSET_IN_PLACE) {
    if (detail::row_of(what).in_place == detail::same_array::never)
      throw argument_error(text::format("{}: rank {} asks for it in place, which it cannot be", name_of(what), rank));
    bool const ignored = detail::is_from_root(what) && detail::gets_pieces(what) && at.in_bytes == 0;
    if (detail::gathers_at_root(what) && at.out_bytes == 0 && at.in_bytes != 0)
      throw argument_error(
          text::format("{}: rank {} asks for it in place, which only the root can", name_of(what), rank));
    at.in = ignored ? nullptr : at.out;
    if (detail::gives_pieces(what)) at.in = static_cast<std::byte*>(at.out) + before;
    if (detail::gets_pieces(what) && !ignored) at.out = static_cast<std::byte*>(at.out) + before;
  }
}

made_call whole(verb what, coset_member* me, void const* in, void* out, std::size_t count, coset_type type,
                coset_operation op, rank_t root) {
  detail::rank_state& state = state_of(me);
  return told(state, [&]() -> made_call {
    rank_t const rank = me->of->rank();
    reduction const how = reduction_of(type, op);
    std::size_t const bytes = product(count, how.table->element_bytes);
    bool const gets_none =
        detail::row_of(what).in == detail::results::view || detail::gets_nothing(what, rank == root, rank == 0);
    places at{in, bytes, out, gets_none ? 0 : bytes};
    settle(at, what, rank, 0);
    return {{.what = what,
             .in = at.in,
             .out = at.out,
             .count = count,
             .reduction = how.table,
             .operation = how.context,
             .root = root},
            how};
  });
}

made_call in_pieces(verb what, coset_member* me, void const* in, void* out, std::size_t piece, coset_type type,
                    coset_operation op, rank_t root) {
  return told(state_of(me), [&] { return in_pieces(what, me, in, out, piece, nullptr, type, op, root); });
}

made_call in_pieces(verb what, coset_member* me, void const* in, void* out, std::size_t const* counts, coset_type type,
                    coset_operation op, rank_t root) {
  return told(state_of(me), [&] {
    require(counts, "counts");
    return in_pieces(what, me, in, out, 0, counts, type, op, root);
  });
}

void exchange(coset_member* me, void const* in, void* out, std::size_t const* sent, std::size_t const* received,
              coset_type type) {
  detail::rank_state& state = state_of(me);
  std::vector<std::size_t>&to_each = state.memory.lengths, &from_each = state.memory.lengths_received;
  to_each.clear();
  from_each.clear();
  made_call const c = told(state, [&]() -> made_call {
    require(sent, "send counts");
    require(received, "receive counts");
    std::size_t unit = 1, given = 0, got = 0;
    reduction const how = copy_of(type, unit);
    for (rank_t r = 0; r < me->of->size(); ++r) {
      given = sum(given, to_each.emplace_back(product(sent[r], unit)));
      got = sum(got, from_each.emplace_back(product(received[r], unit)));
    }
    if (in == COSET_IN_PLACE) throw argument_error("all_to_all with counts cannot be in place");
    places at{in, product(given, how.table->element_bytes), out, product(got, how.table->element_bytes)};
    settle(at, verb::all_to_all, me->of->rank(), 0);
    return {{.what = verb::all_to_all, .in = in, .out = out, .reduction = how.table, .counts = to_each}, how};
  });
  detail::run_exchange(state, c.erased, from_each);
}

made_call broadcast(coset_member* me, void* data, std::size_t count, coset_type type, rank_t root) {
  return told(state_of(me), [&]() -> made_call {
    std::size_t unit = 1;
    reduction const how = copy_of(type, unit);
    std::size_t const all = product(count, unit), bytes = product(all, how.table->element_bytes);
    places at{data, bytes, data, bytes};
    settle(at, verb::broadcast, me->of->rank(), 0);
    return {{.what = verb::broadcast, .in = data, .out = data, .count = all, .reduction = how.table, .root = root},
            how};
  });
}

made_call barrier(coset_member* me) {
  require(me, "the member");
  detail::call const meeting = detail::meeting();
  return {meeting, {meeting.reduction, nullptr}};
}

void require_told(coset_member* me, void const* pointer, char const* name) {
  if (pointer == nullptr) detail::refuse(state_of(me), text::format("{} is NULL", name));
}

void run(coset_member* me, made_call const& c) { detail::run(state_of(me), c.erased); }

void start(coset_member* me, made_call const& c, coset_request* started) {
  require_told(me, started, "the place for a request");
  put(detail::start(state_of(me), c.erased, c.how.kept()), started);
}

}  // namespace coset::capi
