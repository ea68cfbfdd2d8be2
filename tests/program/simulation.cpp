// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>

#include "memory.hpp"
#include "results.hpp"
#include "schedule/by_definition.hpp"

namespace coset::program::testing {
namespace {

/// A call and what it must do, known before anybody starts.
struct expected_call {
  call const* what;
  schedule::testing::definition asked;
  std::uint64_t base;                         ///< of the progress of this operation
  bool is_exchanged;                          ///< pairs have each other's staging
  std::vector<std::vector<content>> results;  ///< [rank][block]
};

/// A rank on its way through the calls.
struct actor {
  enum class stage { outside, entered, introducing, done };
  stage now = stage::outside;
  std::uint32_t operation = 1;
  std::size_t at = 0, wait = 0;
  bool signalled_entry = false;
  std::uint64_t progress = 0;  ///< the progress line
  std::vector<char> met;       ///< whose entry it has looked at in this operation
  vector_clock clock;
};

class machine {
 public:
  machine(std::vector<call> const& calls, std::uint64_t seed, protocol const& rules)
      : rules_(rules), ranks_(calls.front().code->ranks), random_(seed), actors_(ranks_), tags_(ranks_ * 2, 0) {
    std::uint64_t base = 0;
    std::array<bool, 2> exchanged{true, true};
    for (call const& c : calls) {
      auto const operation = static_cast<std::uint32_t>(calls_.size() + 1);
      bool& is_exchanged = exchanged[parity(operation)];
      is_exchanged = is_exchanged != c.code->storage.exchanges;
      calls_.push_back({&c, schedule::testing::definition(*c.plan), base, is_exchanged && c.code->storage.exchanges,
                        results_of(*c.plan, operation, c.code->storage.widens)});
      base += c.code->span;
    }
    signals_.assign(ranks_, std::vector<vector_clock>(base + 1));
    for (std::uint32_t row = 0; row < all_rows; ++row) {
      for (rank_t r = 0; r < ranks_; ++r) memory_.emplace_back(fmt::format("{} of rank {}", names[row], r), ranks_);
    }
    for (rank_t r = 0; r < ranks_; ++r) {
      actors_[r].clock.assign(ranks_, 0);
      actors_[r].clock[r] = 1;
      write_arguments(r);
    }
  }

  /// Steps of ranks in random order; one rank drawn at the beginning moves only when nobody else can.
  void run() {
    auto const pick = [&](rank_t below) { return static_cast<rank_t>(random_() % below); };
    rank_t const delayed = pick(ranks_ + 1);
    std::vector<rank_t> order;
    for (rank_t r = 0; r < ranks_; ++r) order.push_back(r);
    for (;;) {
      bool moved = false, all_done = true;
      std::shuffle(order.begin(), order.end(), random_);
      for (rank_t const r : order) {
        if (r == delayed) continue;
        for (rank_t steps = 1 + pick(4); steps > 0 && step(r); --steps) moved = true;
        all_done &= actors_[r].now == actor::stage::done;
      }
      if (delayed < ranks_ && !moved) moved = step(delayed);
      all_done &= delayed == ranks_ || actors_[delayed].now == actor::stage::done;
      if (all_done) return;
      if (!moved) throw violation(fmt::format("nobody can go on in operation {}", actors_[order.front()].operation));
    }
  }

 private:
  /// Rows of memory_: those of operands, then pointers beside the tags, then outputs that ranks share.
  enum : std::uint32_t { row_pointers = rows, row_shared_output = row_pointers + 2, all_rows };
  static constexpr std::array<char const*, all_rows> names{
      "input",         "output",        "staging 0",  "staging 1",  "entry line 0", "entry line 1",
      "second line 0", "second line 1", "pointers 0", "pointers 1", "shared output"};

  expected_call const& call_of(std::uint32_t operation) const { return calls_[operation - 1]; }
  std::uint32_t parity(std::uint32_t operation) const { return operation % rules_.parities; }
  array& memory(std::uint32_t row, rank_t rank) { return memory_[row * ranks_ + rank]; }
  array& caller_array(arrays how, std::uint32_t row, rank_t rank) {
    if (row == row_output && how == arrays::one) return memory(row_input, rank);
    if (row == row_output && how == arrays::shared) return memory(row_shared_output, rank);
    return memory(row, rank);
  }

  /// The caller's doing, before the first call and after each: arrays that the next call does not own in full have no
  /// cells there, all others are overwritten.
  void write_arguments(rank_t r) {
    std::uint32_t const n = actors_[r].operation;
    if (n > calls_.size()) {
      for (std::uint32_t row : {row_input, row_output}) memory(row, r).mention(n, r, actors_[r].clock);
      return;
    }
    expected_call const& next = call_of(n);
    vector_clock const& clock = actors_[r].clock;
    bool const one = next.what->how == arrays::one;
    for (schedule::block_t b = 0; b < next.what->code->blocks.size(); ++b) {
      bool const gives = next.asked.has_input(r, b), gets = gets_from_outside(next, r, b);
      array& in = memory(row_input, r);
      std::size_t const i = cell(next, row_input, r, b), o = cell(next, row_output, r, b);
      gives        ? in.write(n, i, r, clock, input_of(n, r, b))
      : one&& gets ? in.write(n, i, r, clock, 0)
                   : in.forbid(n, i, r, clock);
      array& out = memory(row_output, r);
      gets && !one ? out.write(n, o, r, clock, 0) : out.forbid(n, o, r, clock);
    }
  }

  /// Where a block lies in a caller's array: in an all_to_all in its piece, which is one block.
  std::size_t cell(expected_call const& c, std::uint32_t row, rank_t r, schedule::block_t b) const {
    if (c.what->plan->verb != verb::all_to_all) return b;
    return row == row_input ? c.asked.given_in(r, b) : c.asked.got_in(r, b);
  }

  /// Whether rank r's caller has an output for block b. The root of a broadcast passes one array, which is its input.
  static bool gets_from_outside(expected_call const& c, rank_t r, schedule::block_t b) {
    bool const sender = c.what->plan->verb == verb::broadcast && c.what->plan->root == r;
    return c.what->plan->result[r][b] != schedule::no_slot && !(sender && c.what->how == arrays::either);
  }

  /// One instruction, one wait or one look at what is not there yet: then false.
  bool step(rank_t r) {
    actor& me = actors_[r];
    switch (me.now) {
      case actor::stage::outside:
        return may_reuse(r, me) && (enter(r, me), true);
      case actor::stage::entered:
        return me.at < program_of(r).code.size() ? execute(r, me)
                                                 : (me.now = actor::stage::introducing, me.wait = 0, true);
      case actor::stage::introducing: {
        auto const& unmet = program_of(r).unmet;
        if (me.wait < unmet.size()) return look_at_entry(r, me, unmet[me.wait]) && (++me.wait, true);
        return_to_caller(r, me);
        return true;
      }
      case actor::stage::done:
        break;
    }
    return false;
  }

  program const& program_of(rank_t r) const { return call_of(actors_[r].operation).what->code->of[r]; }

  /// Whoever reads what this rank left two operations ago must have told so by its entry, or have entered the operation in between.
  bool may_reuse(rank_t r, actor& me) {
    std::uint32_t const n = me.operation;
    if (n <= 2 || !rules_.waits_before_reuse || call_of(n - 1).what->code->full) return true;
    for (reader const& q : users_of_lines(r, n)) {
      std::uint32_t const entry = q.tells_when_done || rules_.takes_all_as_done ? n - 2 : n - 1;
      vector_clock const& entered = signals_[q.rank][call_of(entry).base + entry_signal];
      if (entered.empty()) return false;
      join(me.clock, entered);
    }
    return true;
  }

  /// Whoever writes staging of others' has to know more than who read its own.
  std::vector<reader> users_of_lines(rank_t r, std::uint32_t operation) const {
    if (!call_of(operation).what->code->storage.exchanges || !rules_.asks_everybody)
      return call_of(operation - 2).what->code->of[r].readers;
    std::vector<reader> all;
    for (rank_t q = 0; q < ranks_; ++q)
      if (q != r) all.push_back({q, false});
    return all;
  }

  void enter(rank_t r, actor& me) {
    expected_call const& c = call_of(me.operation);
    if (me.operation > 1) read_shared_results(r, me.operation - 1);
    memory(row_pointers + parity(me.operation), r).write(me.operation, 0, r, me.clock, me.operation);
    if (c.what->how == arrays::either) copy_own(r, me, c);
    me.met.assign(ranks_, false);
    me.met[r] = true;
    me.at = me.wait = 0;
    me.signalled_entry = false;
    me.now = actor::stage::entered;
  }

  /// Where a rank's input is its part of the result, the executor puts it there before anybody can be told.
  void copy_own(rank_t r, actor& me, expected_call const& c) {
    for (schedule::block_t b = 0; b < c.what->code->blocks.size(); ++b) {
      if (c.what->plan->result[r][b] != 0 || !gets_from_outside(c, r, b)) continue;
      memory(row_output, r)
          .write(me.operation, b, r, me.clock, memory(row_input, r).read(me.operation, b, r, me.clock));
    }
  }

  bool execute(rank_t r, actor& me) {
    program const& code = program_of(r);
    instruction const& i = code.code[me.at];
    for (; me.wait < i.waits_end; ++me.wait) {
      if (!passes(r, me, code.waits[me.wait])) return false;
    }
    if (i.destinations != 0) fold(r, me, code, i);
    if (i.signal != 0) signal(r, me, i.signal);
    ++me.at;
    return true;
  }

  bool passes(rank_t r, actor& me, wait const& w) {
    if (w.signal == entry_signal) return look_at_entry(r, me, w.rank);
    if (!me.met[w.rank]) throw violation(fmt::format("rank {} trusts rank {} before it has seen its entry", r, w.rank));
    std::uint64_t const wanted = call_of(me.operation).base + w.signal;
    if (actors_[w.rank].progress < wanted) return false;
    if (signals_[w.rank][wanted].empty())
      throw violation(fmt::format("rank {} waits for signal {} of rank {}, which is never made", r, w.signal, w.rank));
    join(me.clock, signals_[w.rank][wanted]);
    return true;
  }

  bool look_at_entry(rank_t r, actor& me, rank_t q) {
    std::uint32_t const tag = tags_[q * 2 + parity(me.operation)];
    if (tag < me.operation) return false;
    if (tag > me.operation)
      throw violation(fmt::format("rank {} finds that rank {} entered operation {} already", r, q, tag));
    join(me.clock, signals_[q][call_of(me.operation).base + entry_signal]);
    memory(row_pointers + parity(me.operation), q).read(me.operation, 0, r, me.clock);
    me.met[q] = true;
    return true;
  }

  void fold(rank_t r, actor& me, program const& code, instruction const& i) {
    bool foreign = false;
    for (std::uint32_t k = i.operands; k < i.operands + i.sources + i.destinations; ++k)
      foreign |= require_pointer(r, me, code.operands[k]);
    if (foreign != i.foreign)
      throw violation(fmt::format("rank {} is wrong about instruction {} being foreign", r, me.at));
    require_equal_widths_in_place(r, code, i);
    require_contiguous(r, me, code, i);
    for (std::uint32_t b = 0; b < i.block_end - i.block; ++b) {
      content value = 0;
      bool whole = call_of(me.operation).what->code->storage.widens && i.sources > 1;  // to be rounded as an element
      for (std::uint32_t k = i.operands; k < i.operands + i.sources; ++k) {
        operand const& o = code.operands[k];
        content next = array_of(me, o).read(me.operation, place_of(me, o).piece + b, r, me.clock);
        if (is_partial(code, i, k)) next ^= wide, whole = true;
        value = k == i.operands ? next : folded(value, next);
      }
      for (std::uint32_t k = i.operands + i.sources; k < i.operands + i.sources + i.destinations; ++k) {
        operand const& o = code.operands[k];
        content const written = is_partial(code, i, k) ? value ^ wide : whole ? rounded(value) : value;
        array_of(me, o).write(me.operation, place_of(me, o).piece + b, r, me.clock, written);
      }
    }
  }

  /// A wider destination would overwrite what of the source has not been read yet.
  static void require_equal_widths_in_place(rank_t r, program const& code, instruction const& i) {
    for (std::size_t s = i.operands; s < i.operands + i.sources; ++s) {
      for (std::size_t d = i.operands + i.sources; d < i.operands + i.sources + i.destinations; ++d) {
        operand const &from = code.operands[s], &to = code.operands[d];
        bool const same = from.base[0] == to.base[0] && from.piece == to.piece;
        if (same && is_partial(code, i, s) != is_partial(code, i, d))
          throw violation(fmt::format("rank {} widens or narrows in place", r));
      }
    }
  }

  /// Where staging has room for partial results, elements of two blocks do not lie side by side there.
  void require_contiguous(rank_t r, actor const& me, program const& code, instruction const& i) const {
    if (!call_of(me.operation).what->code->wide || i.block_end - i.block == 1) return;
    for (std::size_t k = i.operands; k < i.operands + i.sources + i.destinations; ++k) {
      if (code.operands[k].base[0] / ranks_ >= row_staging && !is_partial(code, i, k))
        throw violation(fmt::format("rank {} takes elements of several blocks for one array", r));
    }
  }

  /// Read as the other form, what an array holds is something else.
  static constexpr content wide = 0x57ADD1E57ADD1E57u;
  static bool is_partial(program const& code, instruction const& i, std::size_t operand) {
    bool const partial = code.forms.at(operand) == detail::form::partial;
    if (partial && !i.mixed) throw violation("partial results in an instruction that is not mixed");
    return partial;
  }

  /// Peers' pointers are those of this operation only once their entry has been seen. Returns whether it takes one.
  bool require_pointer(rank_t r, actor const& me, operand const& o) const {
    std::uint32_t const row = o.base[0] / ranks_;
    rank_t const q = o.base[0] % ranks_;
    if (row >= row_staging || q == r) return false;
    if (!me.met[q])
      throw violation(fmt::format("rank {} uses a pointer of rank {} before it has seen its entry", r, q));
    return true;
  }

  place const& place_of(actor const& me, operand const& o) const { return o.at(call_of(me.operation).is_exchanged); }

  array& array_of(actor const& me, operand const& o) {
    std::uint32_t const base = place_of(me, o).base[parity(me.operation)];
    return caller_array(call_of(me.operation).what->how, base / ranks_, base % ranks_);
  }

  void signal(rank_t r, actor& me, std::uint32_t number) {
    std::uint64_t const base = call_of(me.operation).base;
    if (number > call_of(me.operation).what->code->span)
      throw violation(fmt::format("rank {} makes signal {}, beyond the span", r, number));
    if (number == entry_signal) {
      me.signalled_entry = true;
      tags_[r * 2 + parity(me.operation)] = me.operation;
    } else {
      if (!me.signalled_entry || me.progress >= base + number)
        throw violation(fmt::format("signal {} of rank {} is out of order", number, r));
      me.progress = base + number;
    }
    signals_[r][base + number] = me.clock;
    ++me.clock[r];
  }

  void return_to_caller(rank_t r, actor& me) {
    expected_call const& c = call_of(me.operation);
    if (!me.signalled_entry) throw violation(fmt::format("rank {} has never entered operation {}", r, me.operation));
    require_known_entries(r, me, c);
    for (schedule::block_t b = 0; b < c.what->code->blocks.size(); ++b) {
      if (gets_from_outside(c, r, b)) require_result(r, me.operation, b);
    }
    ++me.operation;
    me.now = me.operation > calls_.size() ? actor::stage::done : actor::stage::outside;
    write_arguments(r);
  }

  /// What the executor concludes from `full` and `stays`.
  void require_known_entries(rank_t r, actor const& me, expected_call const& c) {
    for (rank_t q = 0; q < ranks_; ++q) {
      vector_clock const& entered = signals_[q][c.base + entry_signal];
      bool const known = !entered.empty() && entered[q] <= me.clock[q];
      if (c.what->code->full && !known)
        throw violation(fmt::format("full, but rank {} does not know that rank {} has entered", r, q));
      if (c.what->code->of[q].stays[r] && !known)
        throw violation(fmt::format("rank {} leaves although rank {} may not have entered", r, q));
    }
  }

  void require_result(rank_t r, std::uint32_t operation, schedule::block_t b) {
    expected_call const& c = call_of(operation);
    rank_t const where = c.what->how == arrays::shared ? c.what->output_of[r] : r;
    std::size_t const at = cell(c, row_output, r, b);
    content const got = caller_array(c.what->how, row_output, where).read(operation, at, r, actors_[r].clock);
    if (got != c.results[r][b])
      throw violation(fmt::format("operation {}: wrong result of rank {}, block {}", operation, r, b));
  }

  /// Shared results stay until their reader enters its next operation.
  void read_shared_results(rank_t r, std::uint32_t operation) {
    if (call_of(operation).what->how != arrays::shared) return;
    for (schedule::block_t b = 0; b < call_of(operation).what->code->blocks.size(); ++b)
      require_result(r, operation, b);
  }

  protocol const rules_;
  rank_t const ranks_;
  std::mt19937_64 random_;
  std::vector<expected_call> calls_;
  std::vector<actor> actors_;
  std::vector<std::uint32_t> tags_;                 ///< [rank · 2 + parity]: the epoch in an entry line
  std::vector<std::vector<vector_clock>> signals_;  ///< [rank][base + number]: what a signal promises
  std::vector<array> memory_;                       ///< [row · ranks + rank]
};

}  // namespace

std::optional<std::string> failure_of(std::vector<call> const& calls, std::uint64_t seed, protocol rules) {
  try {
    machine(calls, seed, rules).run();
  } catch (violation const& what) {
    return what.what();
  }
  return std::nullopt;
}

}  // namespace coset::program::testing
