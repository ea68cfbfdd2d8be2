// SPDX-License-Identifier: Apache-2.0
// What the ranks of a team must agree on in each operation.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "coset/detail/reduction.hpp"
#include "coset/error.hpp"
#include "coset/verbs/verb.hpp"

namespace coset::planning {

/// What a rank is doing, for messages: relaxed, because a finder that races with the next operation only words it worse.
struct described_signature {
  std::atomic<detail::reduction_table const*> reduction;
  std::atomic<std::uint64_t> count;
  std::atomic<std::uint64_t> rest;  ///< verb, in place, root, plan, who asks: see signature::describe()
  static constexpr std::size_t most_counts = 4;
  std::atomic<std::uint32_t> pieces;  ///< how many counts the caller named
  std::atomic<std::uint32_t> kind;    ///< hash of type and operation, whose own names other processes cannot read
  std::array<std::atomic<std::uint64_t>, most_counts> counts;
};

/// Who asks for an operation, for messages: the program itself, or a reducer's combine(), which adds to targets or assigns
/// them.
enum class asked_by : std::uint8_t { program, combine_add, combine_assign };

struct signature {
  verb what;
  detail::reduction_table const* reduction;
  std::uint64_t count;
  rank_t root = 0;
  bool in_place = false;
  std::uint32_t plan = 0;    ///< distinguishes explicit plans; 0 where the library chose
  std::uint64_t counts = 0;  ///< hash of the pieces' lengths, 0 where they are equal

  /// Goes into the tag. Ranks with equal signatures get equal hashes; different ones collide once in 2^32.
  std::uint32_t hash() const;
  /// "allreduce of 1000 float (plus), in place"
  std::string text(asked_by = asked_by::program) const;

  /// `pieces`: the counts that the caller named, if any; `started`: in split phase.
  void describe(described_signature&, std::span<std::size_t const> pieces, bool started,
                asked_by = asked_by::program) const noexcept;
  /// "calls allreduce of 1000 float (plus), in place" or "starts …". Without `one_process` the names of a
  /// caller's own types and operations are not to be had.
  static std::string act_of(described_signature const&, bool one_process);
  /// The same without "calls"; and whether it was started.
  static std::string words_of(described_signature const&, bool one_process);
  static bool was_started(described_signature const&);
  /// The same of a peer: where types have no names and nothing else differs, that they do.
  static std::string peer_act_of(described_signature const& peer, described_signature const& mine, bool one_process);
};

/// For signatures and plan keys.
constexpr std::uint64_t mixed(std::uint64_t seed, std::uint64_t value) {
  std::uint64_t const x = (seed ^ value) * 0x9E3779B97F4A7C15u;
  return x ^ x >> 29;
}

/// The history of a rank's operations after one more.
constexpr std::uint32_t following(std::uint32_t history, std::uint32_t signature_hash, std::uint32_t channel) {
  return static_cast<std::uint32_t>(mixed(std::uint64_t{history} << 32 | signature_hash, channel) >> 32);
}
/// The same after something else that the ranks have to agree on, which their next operation will show.
constexpr std::uint32_t following(std::uint32_t history, std::uint64_t what) {
  return static_cast<std::uint32_t>(mixed(mixed(history, what), 1) >> 32);
}

}  // namespace coset::planning
