// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure/argument_check.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <new>
#include <utility>

#include "base/text/format.hpp"
#include "coset/detail/collective.hpp"
#include "runtime/failure/long_waits.hpp"

namespace coset::runtime {
namespace {

struct bytes {
  std::uintptr_t begin, end;
  bool meets(bytes other) const {
    return begin < other.end && other.begin < end && begin != end && other.begin != other.end;
  }
};

std::uint32_t number_of(std::uint64_t begun) { return static_cast<std::uint32_t>(begun >> 32); }

bytes of(std::byte const* base, detail::extent part) {
  auto const at = reinterpret_cast<std::uintptr_t>(base);
  return {at + part.begin, at + part.end};
}

[[noreturn]] void fail_overlap(detail::rank_state& me, rank_t other, char const* mine, bytes my_range,
                               char const* theirs, bytes their_range) {
  fail(me, cause::argument,
       text::format(
           "the arrays of rank {} and rank {} overlap: {} [{:#x}, {:#x}) of the one, {} [{:#x}, {:#x}) of the other",
           me.number, me.shared.part.first + other, mine, my_range.begin, my_range.end, theirs, their_range.begin,
           their_range.end));
}

/// What a rank has told of its operation `number`, or of its latest if it has forgotten that one.
struct told {
  described_signature const& act;
  bool forgotten;

  std::string in_words(std::string act_in_words) const {
    return forgotten ? text::format("has gone on and {}", act_in_words) : act_in_words;
  }
};

told told_of(own_line const& of, std::uint32_t number) {
  std::uint32_t const latest = latest_of(of);
  bool const forgotten = latest - number >= described_operations;
  return {of.doing[(forgotten ? latest : number) % described_operations], forgotten};
}

/// Where this rank belongs to a team over processes, whatever team it has failed in.
void tell_failure(detail::rank_state& me) noexcept {
  shared_memory const& origin = me.shared.origin;
  if (origin.kind.has_messages) origin.part.messages->tell_failure(me);
}

}  // namespace

std::uint64_t memory_limit() noexcept {
  auto const installed =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  rlimit allowed{};
  return getrlimit(RLIMIT_AS, &allowed) == 0 ? std::min<std::uint64_t>(allowed.rlim_cur, installed) : installed;
}

void leave(detail::rank_state& me) {
  require_this_process(me.shared, "a collective");
  tell_of_no_wait(me.root);
  me.shared.quiesce(me);
  tell_failure(me);
  (me.shared.failure.recorded() ? me.shared.failure : me.shared.root.failure).raise();
}

void fail(detail::rank_state& me, cause why, std::string const& reason) {
  me.shared.fail(why, reason);
  leave(me);
}

void fail_for_memory(detail::rank_state& me, verb what, std::size_t bytes) {
  if (std::exchange(me.root.requests.operation_threw, false)) throw;
  auto const [named, all_bytes] =
      me.memory.part_of != nullptr ? *me.memory.part_of : whole_call{.what = what, .bytes = bytes};
  std::array<char, 64> call;
  std::snprintf(call.data(), call.size(), "%s of %zu bytes", name_of(named).data(), all_bytes);
  fail_for_memory(me, call.data());
}

void fail_for_memory(detail::rank_state& me, char const* call) {
  me.shared.fail(cause::memory,
                 words("%s: rank %u cannot have the memory that this needs; its process is limited to %llu bytes", call,
                       me.number, static_cast<unsigned long long>(memory_limit())));
  leave(me);
}

void fail_by_exception(detail::rank_state& me, char const* what) noexcept {
  me.shared.fail(cause::aborted, words("rank %u: the operation threw%s%s", me.number, *what != '\0' ? ": " : "", what),
                 std::current_exception());
  me.shared.quiesce(me);
}

void fail_by_operation(detail::rank_state& me) {
  try {
    throw;
  } catch (std::exception const& thrown) {
    fail_by_exception(me, thrown.what());
    throw;
  } catch (...) {
    fail_by_exception(me, "");
    throw;
  }
}

void fail_by_thrown(detail::rank_state& me, char const* call) {
  try {
    throw;
  } catch (argument_error const& wrong) {
    detail::refuse(me, wrong.what());
  } catch (std::bad_alloc const&) {
    fail_for_memory(me, call);
  } catch (...) {
    fail_by_operation(me);
  }
}

bool has_gone_elsewhere(own_line const& theirs, std::uint32_t number, std::uint32_t history) noexcept {
  // Partner: announce().
  std::uint64_t const begun = theirs.begun[number % told_operations].load(std::memory_order_acquire);
  return number_of(begun) == number && static_cast<std::uint32_t>(begun) != history;
}

std::uint32_t latest_of(own_line const& line) noexcept {
  // Those that it tells of are neighbours, so that numbers may wrap around.
  std::uint32_t latest = number_of(line.begun[0].load(std::memory_order_relaxed));
  for (auto const& begun : line.begun) {
    std::uint32_t const number = number_of(begun.load(std::memory_order_relaxed));
    if (static_cast<std::int32_t>(number - latest) > 0) latest = number;
  }
  return latest;
}

std::string act_of(own_line const& of, std::uint32_t number, bool one_process) {
  told const act = told_of(of, number);
  return act.in_words(signature::act_of(act.act, one_process));
}

namespace {

[[noreturn, gnu::cold]] void fail_earlier(detail::rank_state& me, rank_t other, std::string const& act) {
  fail(me, cause::mismatch,
       text::format("ranks disagree: rank {} and rank {} both {} now, but earlier they combined different reducers, in "
                    "different ways or into different arrays, or called different collectives",
                    me.number, other, act));
}

}  // namespace

void fail_mismatch(detail::rank_state& me, flight const& f, rank_t other) {
  own_line const& theirs = me.shared.arena.own(other);
  bool const one_process = me.shared.kind.one_process;
  rank_t const number = me.shared.part.first + other;
  described_signature now{};
  f.plan->describe(now, f.line.started, f.line.by);
  // Where both do the same now, they disagreed before.
  described_signature const* mine = &now;
  char const* before = "";
  for (std::uint32_t at = f.act.number; mine != nullptr; before = "before ") {
    told const peer = told_of(theirs, at);
    if (at != f.act.number && peer.forgotten) break;
    std::string const their_act = peer.in_words(signature::peer_act_of(peer.act, *mine, one_process));
    if (their_act != signature::act_of(*mine, one_process)) {
      fail(me, cause::mismatch,
           text::format("ranks disagree: {}rank {} {}, rank {} {}", before, me.number, signature::act_of(*mine, true),
                        number, their_act));
    }
    told const earlier = told_of(me.lines.told, --at);
    bool const known = at != 0 && f.act.number - at < described_operations && !earlier.forgotten;
    mine = known ? &earlier.act : nullptr;
  }
  fail_earlier(me, number, signature::act_of(now, true));
}

void fail_mismatch(detail::rank_state& me, flight const& f, envelope const& other) {
  described_signature theirs{}, mine{};
  f.plan->describe(mine, f.line.started, f.line.by);
  theirs.reduction.store(f.plan->what.reduction, std::memory_order_relaxed);  // only that there is one
  theirs.count.store(other.count, std::memory_order_relaxed);
  theirs.rest.store(other.rest, std::memory_order_relaxed);
  theirs.kind.store(other.kind, std::memory_order_relaxed);
  std::string const act = signature::act_of(mine, true), their_act = signature::peer_act_of(theirs, mine, false);
  if (act == their_act) fail_earlier(me, other.sender, act);
  fail(me, cause::mismatch,
       text::format("ranks disagree: rank {} {}, rank {} {}", me.number, act, other.sender, their_act));
}

void fail_left(detail::rank_state& me, flight const& f, rank_t other) {
  fail(me, cause::mismatch,
       text::format("ranks disagree: rank {} calls {}, rank {} has left", me.number, f.plan->what.text(f.line.by),
                    me.shared.part.first + other));
}

void compare_arrays(detail::rank_state& me, flight const& f, rank_t other, std::byte const* in, std::byte const* out) {
  if (f.plan->arrays.shares_outputs && out != f.out) {
    fail(me, cause::argument,
         text::format("reduce_shared: the output of rank {} begins at {}, of rank {} at {}", me.number,
                      static_cast<void const*>(f.out), me.shared.part.first + other, static_cast<void const*>(out)));
  }
  verb const what = f.plan->what.what;
  bytes const my_in = of(f.in, f.plan->arrays.gives[me.rank]), my_out = of(f.out, f.plan->arrays.gets[me.rank]);
  bytes const their_in = of(in, f.plan->arrays.gives[other]), their_out = of(out, f.plan->arrays.gets[other]);
  if (!detail::shares_result(what) && my_out.meets(their_out))
    fail_overlap(me, other, "output", my_out, "output", their_out);
  if (my_out.meets(their_in)) fail_overlap(me, other, "output", my_out, "input", their_in);
  if (my_in.meets(their_out)) fail_overlap(me, other, "input", my_in, "output", their_out);
}

}  // namespace coset::runtime

namespace coset::inline COSET_ABI::detail {

void refuse(rank_state& me, std::string const& message) {
  runtime::require_this_process(me.shared, "a collective");
  me.shared.fail(runtime::cause::argument, message);
  me.shared.quiesce(me);
  runtime::tell_failure(me);
  throw argument_error(message);
}

}  // namespace coset::detail
