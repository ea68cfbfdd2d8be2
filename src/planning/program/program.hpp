// SPDX-License-Identifier: Apache-2.0
// What a rank executes: folds with derived waits and signals, free of counts, types and addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coset/detail/fold.hpp"
#include "coset/error.hpp"
#include "planning/schedule/core/schedule.hpp"
#include "planning/schedule/model/cost.hpp"
#include "planning/schedule/parts/part.hpp"

namespace coset::program {

/// Where values lie. Staging is the team's own memory: peers reach it without knowing any caller's pointer.
enum class area : std::uint8_t { input, output, staging };

/// How a value that others only copy reaches them.
enum class copies : std::uint8_t {
  pull,     ///< its reader fetches it
  forward,  ///< the fold at the root of the chain of copies writes it to all of them at once
  push,     ///< whoever gets a copy writes it on, level by level
  store     ///< as forward, and owners write inputs; the root of a broadcast one block, whose readers fetch the others
};

/// What staging is made of: the team's staging pieces, or for small payloads the entry lines themselves.
enum class home : std::uint8_t { pieces, entry_line, second_line };
/// A cache line, what fits into an entry's beside its tag and pointers, and what into the line behind it. The same where
/// lines are longer: blocks begin on multiples of it, and bits follow from where blocks begin.
inline constexpr std::size_t line_bytes = 64, entry_payload_bytes = 40, second_line_bytes = line_bytes;

/// The storage of a program: design in one line each, all fast paths are such choices over some schedule.
struct policy {
  area first = area::staging;  ///< where peers reach a rank's input
  area later = area::staging;  ///< where peers reach its partial results
  copies how = copies::forward;
  bool in_place = false;  ///< the caller's input is its output
  home staging = home::pieces;
  bool streams = false;  ///< folds store past the caches
  bool widens = false;   ///< partial results are wider than elements: they lie in staging, whatever `later` says
  /// Who alone reads a line of another's staging stores there, too: to its owner, it is at hand again.
  bool returns = false;
  /// Pairs exchange staging: asked for where it is long enough, and kept if all of it is theirs.
  bool exchanges = false;
  bool offloads = false;  ///< one value of each domain is combined by the transport, see endpoint::offload
  friend bool operator==(policy const&, policy const&) = default;
  friend auto operator<=>(policy const&, policy const&) = default;
};

/// A policy by its name and back: "staged", "pull", "zero_copy+stream", "staged+library" …; throws schedule_error
/// listing the names.
policy parse_policy(std::string const& name);
std::string policy_name(policy const&);
std::vector<std::string> policy_names();

/// Rows of the table of base pointers that operands index: row · ranks + rank.
enum row : std::uint32_t {
  row_input,
  row_output,
  row_staging,
  row_entry_line = row_staging + 2,
  row_second_line = row_entry_line + 2,
  rows = row_second_line + 2
};

/// Where an array of an instruction begins: a base pointer by parity, and the piece of the vector that starts there.
struct place {
  std::uint32_t base[2];
  std::uint32_t piece;  ///< block of a caller's array, (layer + 1) · blocks + block of staging
  friend bool operator==(place const&, place const&) = default;
};

/// One array of an instruction. Pairs that read each other's staging exchange it from one operation of a parity to the next, see
/// exchange_lines(): then it is elsewhere every other time.
struct operand : place {
  place exchanged;  ///< as usual where nobody exchanges it

  place const& at(bool is_exchanged) const { return is_exchanged ? exchanged : *this; }
};

/// What lies at the same base whenever it is used.
inline operand caller_operand(std::uint32_t base, std::uint32_t piece) {
  place const always{{base, base}, piece};
  return {always, always};
}

/// "Rank `rank` has made its signal number `signal` of this operation"; its first signal is its entry.
struct wait {
  rank_t rank;
  std::uint32_t signal;
  friend bool operator==(wait const&, wait const&) = default;
};

inline constexpr std::uint32_t entry_signal = 1;

/// What an instruction does with its operands: folds them; sends the sources as one message, or waits for the message
/// that brings the destinations; hands the sources over as this domain's part of an offload, a reduction between domains
/// that the transport makes, or waits for its result.
enum class action : std::uint8_t { fold, send, receive, offload, await_offload };

/// Wait, act, signal. Each part may be absent.
struct instruction {
  std::uint32_t waits_end;  ///< waits [previous end, waits_end)
  std::uint32_t operands;   ///< the first: sources, then destinations
  std::uint32_t sources;
  std::uint32_t destinations;  ///< 0: nothing to fold
  std::uint32_t block, block_end;
  std::uint32_t signal;  ///< 0: none
  bool foreign;          ///< touches a peer's caller memory
  bool mixed;            ///< some operand is partial results, wider than elements
  action what = action::fold;
  rank_t peer = nobody;       ///< of a message: the rank at its other end
  std::uint32_t message = 0;  ///< received: its number among those of this rank; of an offload: its slice
  static constexpr rank_t nobody = UINT32_MAX;
};

/// Which ranks share memory, and who of them sends and receives messages for whom. A domain's ranks are consecutive.
struct distribution {
  /// Ranks whose proxies are `carriers` of them, in turn, from the `skipped`-th on; until the next one's first.
  struct process {
    rank_t first, carriers, skipped = 0;
  };
  std::vector<rank_t> domains = {};  ///< the first rank of each, then how many ranks there are; none: all share memory
  std::vector<process> processes = {};              ///< in the order of their ranks
  std::size_t own = 0;                              ///< the domain that programs are for
  std::vector<std::vector<rank_t>> combiners = {};  ///< [slice][domain]: the proxy that takes part in its offload
  std::vector<rank_t> switches = {};                ///< how their network groups domains, neighbours first; if known
  std::optional<schedule::link> network = {};       ///< what domains pay to reach each other, if it has been measured
  /// The first rank of each stretch of ranks of one process, as a proxy may serve several; none: `processes` are these.
  std::vector<rank_t> stretches = {};
  bool scattered = false;  ///< the ranks of some process are several stretches

  bool whole() const { return domains.empty(); }
  bool is_one_domain() const { return domains.size() <= 2; }
  rank_t first() const { return whole() ? 0 : domains[own]; }
  rank_t last(rank_t all) const { return whole() ? all : domains[own + 1]; }  ///< one past the last, of so many ranks
  std::size_t domain_of(rank_t) const;
  std::size_t process_of(rank_t) const;
  /// Whose arrays ranks read where they are: how many stretches there are, and the first rank of each.
  std::size_t number_of_stretches() const { return stretches.empty() ? processes.size() : stretches.size(); }
  rank_t first_of_stretch(std::size_t k) const { return stretches.empty() ? processes[k].first : stretches[k]; }
  std::size_t stretch_of(rank_t) const;
  /// Whether each stretch has proxies of its own, which read its ranks' arrays.
  bool sends_by_stretches() const { return number_of_stretches() == processes.size(); }
  rank_t proxy_of(rank_t) const;  ///< who sends and receives for it
  /// [rank of the own domain]: the first there of the same process; of so many ranks in all.
  std::vector<rank_t> leaders(rank_t all) const;
};

/// Combiners for so many slices: of each domain its proxies, in turn.
std::vector<std::vector<rank_t>> combiners_of(distribution const&, rank_t slices);

/// A rank that reads another's lines or staging. Before their owner writes them again, two operations later, it looks at the reader's
/// entry: into this operation if the reader tells that once it has read, else into the next one.
struct reader {
  rank_t rank;
  bool tells_when_done;
  friend bool operator==(reader const&, reader const&) = default;
};

/// One rank's part of a compiled schedule.
struct program {
  std::vector<instruction> code;
  std::vector<std::uint32_t> steps;  ///< [instruction]: the schedule's step that it belongs to, from 1; 0: entering
  std::vector<operand> operands;
  std::vector<detail::form> forms;  ///< of the operands
  std::vector<wait> waits;
  std::vector<reader> readers;  ///< of this one's lines and staging: they must have left before a parity is reused
  std::vector<char> stays;      ///< [rank]: leaves only after this one has entered, so that both have their arrays then
  std::vector<rank_t> unmet;    ///< full programs: whose entry to look at in the end, as neither waits on the other
  std::vector<std::uint32_t> received;  ///< [message]: the instruction that waits for it
  bool sends = false;
  std::uint32_t last_step = 0;  ///< of the schedule, whichever rank's it is
};

/// A schedule under a policy, for all ranks that share memory. Programs number these from 0, but for `peer`s.
struct compiled {
  rank_t ranks = 1;  ///< of all domains
  std::vector<schedule::block> blocks;
  std::uint32_t layers = 0;         ///< staging layers of the whole vector
  std::uint32_t span = 1;           ///< signals that any rank makes at most: how far progress advances
  bool full = false;                ///< whoever completes it knows that every rank has entered it
  bool all_meet = false;            ///< … and has waited for every other rank's entry itself
  std::uint32_t most_operands = 0;  ///< sources and destinations of any instruction
  bool wide = false;  ///< there are partial results wider than elements: staging has room for those everywhere
  policy storage;
  std::vector<program> of;        ///< [rank]
  std::size_t grain = 1;          ///< lengths are rounded as if there were so many blocks: in all domains alike
  std::uint32_t most_layers = 0;  ///< in any domain, at most; 0: as here
};

/// Compiles `s` under `p`. Throws schedule_error if the policy would lose a value that is still read: programs are
/// linear, so a write may come before a read of the same step. Cost: O(sources · log + waits · ranks).
///
/// If ranks share outputs, `output_of` names for each rank the rank whose output replaces its own: every result is
/// written there once and not copied again, and every rank leaves knowing that all results are there.
///
/// Ranks of different domains exchange messages, and only those of one are compiled. Those of a policy that offloads, in
/// a step in which one rank of every domain folds one value of each, hand these values over to the transport instead.
/// Messages are sent from staging and received into staging, so that no caller's array is touched by a message under
/// way; between two proxies they are received in the order in which they are sent.
compiled compile(schedule::schedule const& s, policy const& p, std::vector<rank_t> const& output_of = {},
                 distribution const& = {});
/// The same of the part of one domain, which offloads nothing.
compiled compile(schedule::part const&, policy const&, std::vector<rank_t> const& output_of, distribution const&);

/// Throws schedule_error, as compile() does, unless a policy that offloads has something to offload in this schedule.
void require_offloads(schedule::schedule const&, distribution const&);

}  // namespace coset::program
