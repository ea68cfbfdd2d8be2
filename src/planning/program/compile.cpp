// SPDX-License-Identifier: Apache-2.0
// The compiler's last pass: numbering signals, and emitting each rank's instructions.
#include <algorithm>

#include "base/text/format.hpp"
#include "planning/program/operation.hpp"

namespace coset::program {
namespace {

linear_order in_order(split_schedule const& s, policy const& p, std::vector<rank_t> const& output_of) {
  auto order = assign_locations(s, p, output_of);
  if (p.returns) return_lines(order);
  return order;
}

class emission {
 public:
  /// `ranks`: of all domains.
  emission(split_schedule const& s, policy const& p, std::vector<rank_t> const& output_of, rank_t ranks)
      : storage_(p),
        keeps_pieces_apart_(p.staging == home::pieces && detail::is_derived(s.own.verb) &&
                            !detail::is_to_root(s.own.verb)),
        here_(s.own.ranks),
        order_(in_order(s, p, output_of)),
        dependences_(insert_waits(order_, p)),
        exchanged_(may_exchange(s, p, ranks) ? exchange_lines(order_) : std::vector<std::size_t>{}),
        number_(order_.operations.size(), 0),
        latest_look_(here_, std::vector<std::uint32_t>(here_, 0)) {
    out_.ranks = ranks;
    out_.blocks = s.own.blocks;
    out_.grain = s.grain;
    out_.layers = order_.layers;
    bool const alike = s.bound.hosts_are_alike && !(p.first == area::input && s.bound.has_several_processes);
    out_.most_layers = alike ? 0 : s.bound.most;
    out_.full = std::ranges::all_of(dependences_.knows, [](auto const& entered) {
      return std::ranges::all_of(entered, [](char knows) { return knows != 0; });
    });
    out_.storage = p;
    out_.wide = std::ranges::any_of(order_.operations, [](operation const& o) {
      return std::ranges::any_of(o.from, &location::partial) || std::ranges::any_of(o.to, &location::partial);
    });
    out_.of.resize(here_);
    out_.storage.exchanges = !exchanged_.empty();
  }

  compiled run() {
    number_signals();
    std::vector<std::vector<char>> entered(here_, std::vector<char>(here_, false));
    for (std::uint32_t i = 0; i < order_.operations.size(); ++i) {
      emit_waits(i, entered[order_.operations[i].rank]);
      emit_instruction(i);
      note_looks(i);
    }
    out_.all_meet = out_.full && here_ == out_.ranks && all_meet(entered);
    if (out_.full && !somebody_meets_all(entered)) introduce(entered);
    add_readers_of_staging(entered);
    for (rank_t r = 0; r < here_; ++r) {
      for (rank_t q = 0; q < here_; ++q) {
        if (q != r && entered[q][r]) out_.of[r].readers.push_back({q, tells_when_done_with(r, q)});
        out_.of[r].stays.push_back(dependences_.knows[q][r]);
      }
      out_.of[r].last_step = order_.operations.back().step;
    }
    return std::move(out_);
  }

  bool all_meet(std::vector<std::vector<char>> const& entered) const {
    for (rank_t r = 0; r < here_; ++r) {
      if (std::ranges::count(entered[r], char{true}) + 1 != out_.ranks) return false;
    }
    return true;
  }

  /// If all outputs are one array, a rank that meets all others compares it with their outputs and inputs.
  bool somebody_meets_all(std::vector<std::vector<char>> const& entered) const {
    auto const& output_of = order_.output_of;
    if (output_of.empty() || std::ranges::count(output_of, output_of[0]) != here_) return false;
    for (rank_t r = 0; r < here_; ++r) {
      rank_t met = 1;
      for (rank_t q = 0; q < here_; ++q) met += q != r && (entered[r][q] || entered[q][r]);
      if (met == here_) return true;
    }
    return false;
  }

  /// In each pair of ranks that do not meet, one looks at the other's entry at the end; each rank looks at half of its
  /// pairs.
  void introduce(std::vector<std::vector<char>>& entered) {
    for (rank_t step = 1; step < here_; ++step) {
      for (rank_t r = 0; r < here_; ++r) {
        rank_t const q = (r + step) % here_;
        if (entered[r][q] || entered[q][r]) continue;
        out_.of[r].unmet.push_back(q);
        entered[r][q] = true;
      }
    }
  }

 private:
  /// Lines that go back to their owners are not exchanged as well, and entry lines stay their ranks'. Ranks that exchange messages
  /// do so from staging of their own.
  static bool may_exchange(split_schedule const& s, policy const& p, rank_t ranks) {
    return p.exchanges && p.staging == home::pieces && !p.returns && s.own.ranks == ranks;
  }

  /// Signals are numbered per rank. The first is the entry; a rank that nobody waits for enters all the same, since the
  /// reuse of parities looks at entries, and last of all, so that its entry says that it has read what it reads.
  void number_signals() {
    std::vector<char> signals_at_all(here_, false);
    std::vector<std::uint32_t> count(here_, 0), last(here_, 0);
    for (std::uint32_t i = 0; i < number_.size(); ++i) {
      rank_t const r = order_.operations[i].rank;
      signals_at_all[r] |= dependences_.signals[i];
      last[r] = i;
    }
    for (std::uint32_t i = 0; i < number_.size(); ++i) {
      rank_t const r = order_.operations[i].rank;
      if (dependences_.signals[i] || (!signals_at_all[r] && i == last[r])) number_[i] = ++count[r];
    }
    out_.span = std::max(entry_signal, *std::max_element(count.begin(), count.end()));
  }

  /// The first wait on a rank looks at its entry, which has the signature, whatever the wait is for. A rank that
  /// touches its caller's memory looks there too, even if another wait implies the entry: the pointers come with it.
  void emit_waits(std::uint32_t i, std::vector<char>& entered) {
    auto& waits = out_.of[order_.operations[i].rank].waits;
    for (std::uint32_t e : dependences_.needs[i]) {
      rank_t const q = order_.operations[e].rank;
      if (!entered[q]) waits.push_back({q, entry_signal});
      if (number_[e] != entry_signal) waits.push_back({q, number_[e]});
      entered[q] = true;
    }
    for (auto const* side : {&order_.operations[i].from, &order_.operations[i].to}) {
      for (location const& at : *side) {
        if (at.where == area::staging || at.rank == order_.operations[i].rank || entered[at.rank]) continue;
        waits.push_back({at.rank, entry_signal});
        entered[at.rank] = true;
      }
    }
  }

  /// A rank's staging may be read on another's word alone, by ranks that never look at its lines. Whoever writes there unawaited
  /// has to be done, too, before the rank uses it again: a copy that is passed on to somebody may have no reader of its own.
  void add_readers_of_staging(std::vector<std::vector<char>>& readers) const {
    for (operation const& o : order_.operations) {
      for (location const& at : o.from) {
        if (at.where == area::staging) readers[o.rank][at.rank] = true;
      }
    }
    auto const writes_elsewhere = [](operation const& o) {
      return std::ranges::any_of(o.to,
                                 [&](location const& at) { return at.where == area::staging && at.rank != o.rank; });
    };
    if (std::ranges::none_of(order_.operations, writes_elsewhere)) return;
    auto const waiting = who_waits();
    for (std::uint32_t i = 0; i < waiting.size(); ++i) {
      operation const& o = order_.operations[i];
      for (location const& at : o.to) {
        bool const is_awaited = at.rank == o.rank || std::ranges::find(waiting[i], at.rank) != waiting[i].end();
        if (at.where == area::staging && !is_awaited) readers[o.rank][at.rank] = true;
      }
    }
  }

  /// [operation]: ranks that wait for it.
  std::vector<std::vector<rank_t>> who_waits() const {
    std::vector<std::vector<rank_t>> waiting(order_.operations.size());
    for (std::uint32_t i = 0; i < waiting.size(); ++i)
      for (std::uint32_t const e : dependences_.needs[i]) waiting[e].push_back(order_.operations[i].rank);
    return waiting;
  }

  /// In which instruction a rank last looks at another's lines or staging.
  void note_looks(std::uint32_t i) {
    operation const& o = order_.operations[i];
    auto& looks = latest_look_[o.rank];
    auto const now = static_cast<std::uint32_t>(out_.of[o.rank].code.size());
    for (std::uint32_t e : dependences_.needs[i]) looks[order_.operations[e].rank] = now;
    for (auto const* side : {&o.from, &o.to})
      for (location const& at : *side) looks[at.rank] = now;
  }

  bool tells_when_done_with(rank_t owner, rank_t reader) const {
    program const& p = out_.of[reader];
    auto const entry = std::ranges::find(p.code, entry_signal, &instruction::signal);
    bool const looks_in_the_end = std::ranges::find(p.unmet, owner) != p.unmet.end();
    return entry != p.code.end() && !looks_in_the_end && latest_look_[reader][owner] <= entry - p.code.begin() + 1;
  }

  operand operand_of(location const& p) const {
    if (p.where != area::staging) {
      std::uint32_t const row = p.where == area::input ? row_input : row_output;
      return caller_operand(row * here_ + p.rank, order_.piece(p.where, p.rank, p.block));
    }
    std::size_t const number = (std::size_t{p.rank} * order_.layers + p.layer) * order_.blocks + p.block;
    return {staged(number), staged(exchanged_.empty() ? number : exchanged_[number])};
  }

  /// A block of a rank's staging, numbered as exchange_lines() does.
  place staged(std::size_t number) const {
    auto const block = static_cast<std::uint32_t>(number % order_.blocks);
    auto const layer = static_cast<std::uint32_t>(number / order_.blocks % order_.layers);
    auto const rank = static_cast<rank_t>(number / order_.blocks / order_.layers);
    std::uint32_t const first = storage_.staging == home::pieces       ? row_staging
                                : storage_.staging == home::entry_line ? row_entry_line
                                                                       : row_second_line;
    return {{first * here_ + rank, (first + 1) * here_ + rank}, (layer + 1) * order_.blocks + block};
  }

  void emit_instruction(std::uint32_t i) {
    operation const& o = order_.operations[i];
    program& p = out_.of[o.rank];
    auto const waits_end = static_cast<std::uint32_t>(p.waits.size());
    bool const waits = waits_end > (p.code.empty() ? 0 : p.code.back().waits_end);
    action const what = action_of(o);
    bool const moves = o.what == operation::kind::move || what != action::fold;
    if (!waits && !moves && number_[i] == 0) return;
    instruction next{
        waits_end, static_cast<std::uint32_t>(p.operands.size()), 0, 0, o.block, o.block + 1, number_[i], false, false};
    next.what = what;
    if (what == action::send || what == action::receive) name_message(p, next, o);
    if (what == action::offload || what == action::await_offload) next.message = o.slice;
    if (moves) {
      next.sources = static_cast<std::uint32_t>(o.from.size());
      next.destinations = static_cast<std::uint32_t>(o.to.size());
      out_.most_operands = std::max(out_.most_operands, next.sources + next.destinations);
      for (auto const* side : {&o.from, &o.to}) {
        for (location const& at : *side) {
          next.foreign |= at.rank != o.rank && at.where != area::staging;
          next.mixed |= at.partial;
          p.operands.push_back(operand_of(at));
          p.forms.push_back(at.partial ? detail::form::partial : detail::form::element);
        }
      }
    }
    if (!waits && what == action::fold && joins(p, next)) {
      p.operands.resize(next.operands);
      p.forms.resize(next.operands);
      p.code.back().block_end = next.block_end;
      p.code.back().signal = next.signal;
    } else {
      p.code.push_back(next);
      p.steps.push_back(o.step);
    }
  }

  static action action_of(operation const& o) {
    switch (o.what) {
      case operation::kind::send:
        return action::send;
      case operation::kind::receive:
        return action::receive;
      case operation::kind::offload:
        return action::offload;
      case operation::kind::await_offload:
        return action::await_offload;
      case operation::kind::enter:
      case operation::kind::move:
      case operation::kind::leave:
        return action::fold;
    }
    __builtin_unreachable();
  }

  void name_message(program& p, instruction& next, operation const& o) {
    next.peer = o.peer;
    p.sends |= o.what == operation::kind::send;
    if (o.what != operation::kind::receive) return;
    next.message = static_cast<std::uint32_t>(p.received.size());
    p.received.push_back(static_cast<std::uint32_t>(p.code.size()));
  }

  /// The same move of the next block, with nothing to wait for or to signal between them, is one longer move.
  bool joins(program const& p, instruction const& next) const {
    if (p.code.empty() || p.code.back().what != action::fold || keeps_pieces_apart_) return false;
    instruction const& last = p.code.back();
    if (last.signal != 0 || last.sources != next.sources || last.destinations != next.destinations ||
        next.destinations == 0 || last.block_end != next.block || last.foreign != next.foreign) {
      return false;
    }
    std::uint32_t const distance = next.block - last.block;
    for (std::uint32_t k = 0; k < next.sources + next.destinations; ++k) {
      operand const& a = p.operands[last.operands + k];
      operand const& b = p.operands[next.operands + k];
      if (a.base[0] != b.base[0] || a.piece + distance != b.piece) return false;
      // Blocks that are exchanged lie apart, see bind().
      if (out_.storage.exchanges && a.base[0] / here_ >= row_staging) return false;
      if (p.forms[last.operands + k] != p.forms[next.operands + k]) return false;
      // Staging has room for partial results between the elements of one block and the next.
      bool const staged = a.base[0] / here_ >= row_staging;
      if (out_.wide && staged && p.forms[next.operands + k] == detail::form::element) return false;
    }
    return true;
  }

  policy const storage_;
  bool const keeps_pieces_apart_;  ///< so that they can be cut, though their owner has all of them
  rank_t const here_;              ///< so many ranks
  linear_order const order_;
  dependences const dependences_;
  std::vector<std::size_t> const exchanged_;  ///< see exchange_lines(); empty: nothing is
  std::vector<std::uint32_t> number_;
  std::vector<std::vector<std::uint32_t>> latest_look_;  ///< [reader][owner]: one more than the instruction
  compiled out_;
};

/// What is this rank's in one block is another's piece in another: they have to be of one size.
void require_whole_pieces(schedule::schedule const& s, std::size_t pieces) {
  if (!detail::swaps_pieces(s.verb) || s.blocks.size() == pieces) return;
  throw schedule_error(text::format("a schedule of all_to_all is run with one block for each of {} ranks, not with {}",
                                    pieces, s.blocks.size()));
}

}  // namespace

compiled compile(schedule::schedule const& s, policy const& p, std::vector<rank_t> const& output_of,
                 distribution const& d) {
  require_whole_pieces(s, s.ranks);
  return emission(with_messages(s, d, p.offloads), p, output_of, s.ranks).run();
}

compiled compile(schedule::part const& part, policy const& p, std::vector<rank_t> const& output_of,
                 distribution const& d) {
  require_whole_pieces(part.own, d.domains.back());
  return emission(with_messages(part, d), p, output_of, d.domains.back()).run();
}

}  // namespace coset::program
