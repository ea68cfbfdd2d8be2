// SPDX-License-Identifier: Apache-2.0
// What is wrong between ranks, found while an operation runs: told to all of them, then thrown.
#pragma once

#include <string>

#include "runtime/failure/failure.hpp"
#include "runtime/rank_state.hpp"

namespace coset::runtime {

/// Throws what the team failed with, once no peer touches this rank's memory any more.
[[noreturn]] void leave(detail::rank_state&);
/// Makes it fail first.
[[noreturn]] void fail(detail::rank_state&, cause, std::string const& reason);
/// Whether a rank has begun an operation of this number in another way, by what it has told of its latest. If so it will
/// never come to this one, whichever channel it took.
bool has_gone_elsewhere(own_line const& theirs, std::uint32_t number, std::uint32_t history) noexcept;
/// The number of the latest operation that a rank has begun.
std::uint32_t latest_of(own_line const&) noexcept;
/// What a rank does or did as its operation `number`: "calls barrier". If it has forgotten: what it does now.
std::string act_of(own_line const&, std::uint32_t number, bool one_process);
/// Another rank is in an operation of the same number, or of the same epoch, with another history.
[[noreturn]] void fail_mismatch(detail::rank_state&, flight const&, rank_t other);
/// The same, known from a message.
[[noreturn]] void fail_mismatch(detail::rank_state&, flight const&, envelope const& other);
/// Another rank will never come.
[[noreturn]] void fail_left(detail::rank_state&, flight const&, rank_t other);

/// This rank cannot have the memory that a call of so many bytes needs: all ranks throw out_of_memory, which names the call
/// and what limits this process. An exception of the caller's own operation stays what it is. To be called while
/// std::bad_alloc is handled; makes no words on the heap.
[[noreturn]] void fail_for_memory(detail::rank_state&, verb, std::size_t bytes);
/// The same for what is no verb.
[[noreturn]] void fail_for_memory(detail::rank_state&, char const* call);
/// What this process may have at most, in bytes: its address space, or what the machine has.
std::uint64_t memory_limit() noexcept;

/// Whatever was thrown, an operation's own coset::error too, must find the team quiet: the caller's arrays die while it
/// unwinds. A failure that is recorded already stays the first. Called while it is handled.
void fail_by_exception(detail::rank_state&, char const* what) noexcept;
/// The same with the words of what is handled, which then leaves this rank.
[[noreturn]] void fail_by_operation(detail::rank_state&);
/// For a call that is no verb, while any exception is handled: argument_error is a refusal and std::bad_alloc a lack of memory,
/// which all ranks throw alike. Anything else is a caller's: it leaves this rank, and the others throw aborted.
[[noreturn]] void fail_by_thrown(detail::rank_state&, char const* call);

/// What this rank writes may meet neither what another one writes nor what it reads; a shared output is the same array.
/// `in` and `out` are the other's, as its entry has them.
void compare_arrays(detail::rank_state&, flight const&, rank_t other, std::byte const* in, std::byte const* out);

}  // namespace coset::runtime
