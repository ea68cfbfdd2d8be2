// SPDX-License-Identifier: Apache-2.0
// What every intercepted function does: asks the communicator's team, or MPI.
#pragma once

#include <utility>

#include "bindings/c/handles.hpp"
#include "mpi/preload/call.hpp"
#include "mpi/preload/flights/flights.hpp"
#include "mpi/preload/flights/persistent.hpp"
#include "mpi/preload/handles/packing.hpp"
#include "mpi/preload/judge.hpp"
#include "mpi/preload/real.hpp"
#include "mpi/preload/tally.hpp"

// COSET_ENTRY(name, (parameters), (their names), body): PMPI_name, which tools that see a program's calls go on to, and Open MPI's
// functions for Fortran; and MPI_name, which is for such a tool if there is one behind this library.
#define COSET_ENTRY(name, parameters, names, ...) COSET_ENTRY_OF(MPI, name, parameters, names, __VA_ARGS__)
#define COSET_ENTRY_OF(prefix, name, parameters, names, ...)                                           \
  extern "C" int P##prefix##_##name parameters __VA_ARGS__ extern "C" int prefix##_##name parameters { \
    return is_for_tool(tools.name) ? tools.name names : P##prefix##_##name names;                      \
  }

namespace coset::interpose {

enum class carried_out_by {
  team,
  mpi,
  nobody_as_wrong,  ///< MPI will say so, on this process alone
  nobody            ///< COSET_INTERPOSE_REQUIRE forbids that MPI does
};

inline constexpr reason mpi_is_faster = "MPI is faster";

/// `kind`: the calls whose sides are judged; nullptr: the team carries it out if it can.
inline carried_out_by decide(attachment* of, arguments const& c, form how, kind_of_calls const* kind, prepared& call) {
  if (of == nullptr) return carried_out_by::nobody_as_wrong;
  if (kind != nullptr && kind->is_decided_for(side::mpi))
    return may_be_left_to_mpi(c, how, mpi_is_faster) ? carried_out_by::mpi : carried_out_by::nobody;
  reason const why_not = of->me() != nullptr ? prepare(*of, c, how, call) : of->why_not();
  if (why_not == wrong_call) return carried_out_by::nobody_as_wrong;
  if (why_not != nullptr) return may_be_left_to_mpi(c, how, why_not) ? carried_out_by::mpi : carried_out_by::nobody;
  if (kind != nullptr && kind->next() == side::mpi) return carried_out_by::mpi;
  count_carried_out(c);
  return carried_out_by::team;
}

/// Of a communicator with a team. Once that has failed, so do all calls: none is left to MPI.
inline kind_of_calls* kind_of(attachment* of, arguments const& c) {
  bool const is_well = of != nullptr && of->me() != nullptr && !capi::has_failed(of->me());
  return is_well ? of->sides().kind_of(*of, c) : nullptr;
}

/// What the program gets instead of an exception, which must not cross its frames.
template <class Do>
int guarded(MPI_Comm on, Do const& what) try {
  return what();
} catch (std::exception const&) {  // there is no memory
  return attachment::call_handler({on, MPI_ERR_NO_MEM});
}

/// `by_mpi` is MPI's function; `start` its nonblocking form.
template <class ByMpi, class Start>
int blocking(arguments const& c, ByMpi const& by_mpi, Start const& start) {
  if (passes_through()) return by_mpi();
  attachment* const of = attachment::of(c.communicator);
  if (of != nullptr) {
    if (none_in_flight() && of->last.goes_again_to(side::team, c)) return run_again(*of, c);
    bool const has_failed = of->me() != nullptr && capi::has_failed(of->me());
    if (!has_failed && together(c.communicator) == within_mpi::goes_on && of->last.goes_again_to(side::mpi, c))
      return by_mpi();
  }
  return guarded(c.communicator, [&] {
    prepared call;
    if (of != nullptr && of->me() == nullptr) of->found(c, form::blocking);
    kind_of_calls* const kind = kind_of(of, c);
    auto const judged = [&](auto const& carry_out) {
      judged_call const now(kind, c.communicator);
      int const code = carry_out();
      now.ended();
      return code;
    };
    switch (decide(of, c, form::blocking, kind, call)) {
      case carried_out_by::team:
        of->last.note(*of, c, kind, call);
        return judged([&] { return run(std::move(call)); });
      case carried_out_by::mpi:
        if (kind != nullptr ? kind->is_decided_for(side::mpi) : of->size() == 1) of->last.note_left(c, kind);
        return judged([&] { return blocking_or_polled(together(c.communicator), by_mpi, start); });
      case carried_out_by::nobody_as_wrong:
        return by_mpi();
      case carried_out_by::nobody:
        return MPI_ERR_OTHER;
    }
    __builtin_unreachable();
  });
}

template <class ByMpi>
int nonblocking(arguments const& c, MPI_Request* request, ByMpi const& by_mpi) {
  if (passes_through()) return by_mpi();
  return guarded(c.communicator, [&] {
    prepared call;
    attachment* const of = attachment::of(c.communicator);
    if (of != nullptr && of->me() == nullptr) of->found(c, form::nonblocking);
    kind_of_calls const* const kind = kind_of(of, c);
    bool const is_known = kind != nullptr && !kind->is_tried();
    switch (decide(of, c, form::nonblocking, is_known ? kind : nullptr, call)) {
      case carried_out_by::team:
        return launch(std::move(call), request);
      case carried_out_by::nobody:
        return MPI_ERR_OTHER;
      case carried_out_by::mpi:
      case carried_out_by::nobody_as_wrong:
        return by_mpi();
    }
    __builtin_unreachable();
  });
}

/// MPI lets the making of a persistent request wait for other processes (MPI 4.0, section 6.13).
template <class ByMpi>
int persistent(arguments const& c, MPI_Request* request, ByMpi const& by_mpi) {
  if (passes_through()) return by_mpi();
  return guarded(c.communicator, [&] {
    prepared tried;
    attachment* const of = attachment::of(c.communicator);
    if (of != nullptr && of->me() == nullptr) of->found(c, form::persistent);
    switch (decide(of, c, form::persistent, nullptr, tried)) {
      case carried_out_by::team:
        if (attachment* const lent = of->lend_another()) return make_persistent(*of, *lent, c, tried, request);
        return may_be_left_to_mpi(c, form::persistent, "too many persistent requests") ? by_mpi() : MPI_ERR_OTHER;
      case carried_out_by::nobody:
        return MPI_ERR_OTHER;
      case carried_out_by::mpi:
      case carried_out_by::nobody_as_wrong:
        return by_mpi();
    }
    __builtin_unreachable();
  });
}

}  // namespace coset::interpose
