// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure/for_debuggers.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string_view>

#include "coset/detail/visibility.h"
#include "numa/process/fork.hpp"
#include "runtime/memory/shared_memory.hpp"

namespace coset::inline COSET_ABI::detail {

/// The list, and where the script finds what it reads: all words of 64 bits, whose order and number it knows by heart.
struct teams_for_debuggers {
  using word = std::uint64_t;
  struct in_own_line {
    word wait, begun, doing, told_operations, described_operations;
  };
  struct in_told_wait {
    word since, in, among, number, of, awaited, step, steps, plan, plan_bytes;
  };
  struct in_described_signature {
    word bytes, reduction, count, rest;
  };
  struct in_reduction_table {
    word type, operation, text_begins_with_its_length;
  };
  /// How a verb's operations are told.
  struct verb_in_words {
    char const* name;
    word name_bytes;
    word tells_length;  ///< a barrier has none
    word tells_root;
    word tells_in_place;
    word combines;  ///< a reducer's combine() by it tells a length
  };

  word words;
  runtime::team_for_debuggers* first;
  in_own_line line;
  in_told_wait wait;
  in_described_signature signature;
  in_reduction_table table;
  verb_in_words const* verbs;
  word number_of_verbs, words_of_verb;
};

extern COSET_API teams_for_debuggers teams_to_look_at;

}  // namespace coset::detail

namespace coset::runtime {
namespace {

/// Of string_view, which C++ libraries lay out in two ways.
bool begins_with_its_length() {
  std::string_view const text = "abc";
  std::size_t first;
  std::memcpy(&first, &text, sizeof first);
  return first == text.size();
}

constinit numa::fork_safe_mutex listing;

}  // namespace
}  // namespace coset::runtime

namespace coset::inline COSET_ABI::detail {

/// As src/planning/plan/signature.cpp tells them.
constexpr auto verbs_in_words = [] {
  std::array<teams_for_debuggers::verb_in_words, verb_rows.size()> all{};
  for (std::size_t v = 0; v < all.size(); ++v) {
    verb const what = verb_rows[v].what;
    all[v] = {verb_rows[v].name.data(),
              verb_rows[v].name.size(),
              !is_barrier(what),
              is_rooted(what),
              row_of(what).in_place == same_array::told,
              shares_result(what) || is_to_root(what) || gets_pieces(what)};
  }
  return all;
}();

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // all of them are of standard layout but for atomics' base classes
teams_for_debuggers teams_to_look_at{
    sizeof(teams_for_debuggers) / sizeof(std::uint64_t),
    nullptr,
    {offsetof(runtime::own_line, wait), offsetof(runtime::own_line, begun), offsetof(runtime::own_line, doing),
     runtime::told_operations, runtime::described_operations},
    {offsetof(runtime::told_wait, since), offsetof(runtime::told_wait, in), offsetof(runtime::told_wait, among),
     offsetof(runtime::told_wait, number), offsetof(runtime::told_wait, of), offsetof(runtime::told_wait, awaited),
     offsetof(runtime::told_wait, step), offsetof(runtime::told_wait, steps), offsetof(runtime::told_wait, plan),
     sizeof(runtime::told_wait::plan)},
    {sizeof(runtime::described_signature), offsetof(runtime::described_signature, reduction),
     offsetof(runtime::described_signature, count), offsetof(runtime::described_signature, rest)},
    {offsetof(reduction_table, type), offsetof(reduction_table, operation), 0},
    verbs_in_words.data(),
    verbs_in_words.size(),
    sizeof verbs_in_words[0] / sizeof(std::uint64_t)};
#pragma GCC diagnostic pop

}  // namespace coset::detail

namespace coset::runtime {

using detail::teams_to_look_at;

shown_to_debuggers::shown_to_debuggers(shared_memory const& team) {
  shared_memory const& whole = team.kind.one_process ? team.root : team.origin;
  for (rank_t r = 0; r < team.ranks; ++r) {
    rank_t const there = team.kind.one_process ? team.root_ranks[r] : team.is_origin() ? r : team.origin_ranks[r];
    places_.push_back({&team.arena.own(r), &whole.arena.own(there), &team.left(r)});
  }
  team_ = {nullptr,       team.size(),           team.part.first,
           team.ranks,    team.kind.one_process, &(team.kind.one_process ? team : team.origin).marks.told_round,
           places_.data()};
  std::lock_guard const lock(listing);
  teams_to_look_at.table.text_begins_with_its_length = begins_with_its_length();
  team_.next = teams_to_look_at.first;
  teams_to_look_at.first = &team_;
}

shown_to_debuggers::~shown_to_debuggers() {
  std::lock_guard const lock(listing);
  team_for_debuggers** at = &teams_to_look_at.first;
  while (*at != &team_) at = &(*at)->next;
  *at = team_.next;
}

}  // namespace coset::runtime
