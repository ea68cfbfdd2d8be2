// SPDX-License-Identifier: Apache-2.0
#include "runtime/repeated/resolved.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "runtime/await.hpp"
#include "runtime/executor.hpp"
#include "runtime/rank_state.hpp"

namespace coset::runtime {
namespace {

using detail::bound_plan;
using detail::extent;
using detail::rank_state;
using program::instruction;
using program::operand;
using array = resolved_program::array;
using act = resolved_program::act;

/// Some 200 B each, per plan and rank: of many ranks the parts themselves take the time.
constexpr std::size_t most_parts = 32;

/// More is faster in vectors.
constexpr std::size_t word_bytes = sizeof(std::uint64_t), most_copied_inline = 8 * word_bytes;

bool can_be_resolved(rank_state const& me, bound_plan const& plan) {
  capabilities const& kind = me.shared.kind;
  if (kind.has_messages || me.shared.origin.kind.has_messages || !kind.ranks_may_wait || me.memory.watched)
    return false;
  if (plan.segments.number != 1) return false;
  program::program const& own = plan.code->of[me.rank];
  if (own.operands.size() + own.waits.size() + own.unmet.size() > most_parts) return false;
  return std::ranges::none_of(
      own.code, [](instruction const& i) { return i.foreign || i.mixed || i.what != program::action::fold; });
}

/// An array of the caller's, as a call has it: a rank's piece may be all that there is.
array of_caller(array::base from, extent const& own, std::size_t offset) {
  array made{from, {}};
  made.at.fill(offset - own.begin);
  return made;
}

std::size_t turn_of(std::uint32_t epoch, bool is_exchanged) { return (epoch & 1) | (is_exchanged ? 2 : 0); }
std::size_t parity_of(std::size_t turn) { return turn & 1; }
bool is_exchanged(std::size_t turn) { return turn > 1; }

[[gnu::cold]] array resolved(rank_state const& me, bound_plan const& plan, operand const& o) {
  auto const& offsets = plan.segments.last_layout.offset;
  std::size_t const offset = offsets[o.piece];
  rank_t const ranks = me.shared.ranks;
  if (o.base[0] == program::row_input * ranks + me.rank)
    return of_caller(array::input, plan.arrays.gives[me.rank], offset);
  if (o.base[0] == program::row_output * ranks + me.rank)
    return of_caller(array::output, plan.arrays.gets[me.rank], offset);
  auto const& bases = me.ends[0].bases;
  array made{array::nowhere, {}};
  for (std::size_t turn = 0; turn < resolved_program::all_turns; ++turn) {
    program::place const& at = o.at(is_exchanged(turn));
    made.at[turn] = reinterpret_cast<std::uintptr_t>(bases[at.base[parity_of(turn)]]) + offsets[at.piece];
  }
  return made;
}

/// What makes the acts of one turn.
struct acts_of {
  resolved_program& program;
  rank_state const& me;
  std::size_t number;
  std::size_t first_array = 0;  ///< of the next fold

  program::program const& code() const { return program.plan->code->of[me.rank]; }
  resolved_program::turn& turn() const { return program.turns[number]; }
};

[[gnu::cold]] void add_wait(acts_of const& to, program::wait const& w, act made) {
  bool const is_entry = w.signal == program::entry_signal;
  made.what = !is_entry                      ? act::await_progress
              : to.code().stays[w.rank] != 0 ? act::await_compared_entry
                                             : act::await_entry;
  channel_lines& lines = *to.me.ends[0].lines[w.rank];
  made.peer = w.rank;
  made.signal = w.signal;
  made.entry = &lines.entry[parity_of(to.number)];
  made.reached = &lines.progress.signalled;
  to.turn().acts.push_back(made);
}

act::kind kind_of_fold(detail::arithmetic computes) {
  if (computes == detail::arithmetic::any) return act::fold_by_caller;
  return computes == detail::arithmetic::integer ? act::fold : act::fold_numbers;
}

[[gnu::cold]] void add_fold(acts_of& to, instruction const& i, act made) {
  bound_plan const& plan = *to.program.plan;
  program::layout const& layout = plan.segments.last_layout;
  std::size_t const count = layout.boundary[i.block_end] - layout.boundary[i.block];
  if (i.destinations == 0 || count == 0) return;
  void* const* const arrays = to.turn().arrays.data() + to.first_array;
  to.first_array += i.sources + i.destinations;
  made.folds = {plan.folds->for_sources(i.sources), arrays, i.sources, i.destinations, count};
  bool const is_copy = i.sources == 1;
  if (!is_copy) made.computes = plan.what.reduction->code.computes;
  made.what = kind_of_fold(made.computes);
  to.program.computes_numbers = to.program.computes_numbers || made.what == act::fold_numbers;
  std::size_t const bytes = count * plan.what.reduction->element_bytes;
  if (is_copy && i.destinations == 1 && bytes <= most_copied_inline && bytes % word_bytes == 0) {
    made.what = act::copy_words;
    made.folds.count = bytes / word_bytes;
  }
  to.turn().acts.push_back(made);
}

[[gnu::cold]] void add_signal(acts_of const& to, instruction const& i, act made) {
  if (i.signal == 0 || to.program.is_alone) return;
  made.what = i.signal == program::entry_signal ? act::tell_entry : act::tell_progress;
  made.signal = i.signal;
  made.entry = &to.me.ends[0].lines[to.me.rank]->entry[parity_of(to.number)];
  to.turn().acts.push_back(made);
  if (made.what != act::tell_entry || to.program.own.when != detail::own_copy::once_told) return;
  made.what = act::copy_own;
  to.turn().acts.push_back(made);
}

[[gnu::cold]] void add_acts(acts_of to) {
  program::program const& code = to.code();
  to.turn().acts.reserve(code.waits.size() + code.unmet.size() + 2 * code.code.size() + 2);
  std::uint32_t waits = 0;
  act made;
  made.what = act::copy_own;
  if (to.program.own.when == detail::own_copy::first) to.turn().acts.push_back(made);
  for (instruction const& i : code.code) {
    made.at.instruction = static_cast<std::uint32_t>(&i - code.code.data());
    for (; waits < i.waits_end; made.at.wait = ++waits) add_wait(to, code.waits[waits], made);
    add_fold(to, i, made);
    add_signal(to, i, made);
  }
  made.at.instruction = static_cast<std::uint32_t>(code.code.size());
  for (rank_t const other : code.unmet) {
    add_wait(to, {other, program::entry_signal}, made);
    ++made.at.wait;
  }
  to.turn().acts.emplace_back();
}

/// Of all folds, in their order.
[[gnu::cold]] std::vector<array> arrays_of(rank_state const& me, bound_plan const& plan) {
  std::vector<array> all;
  program::program const& code = plan.code->of[me.rank];
  all.reserve(code.operands.size());
  auto const& boundary = plan.segments.last_layout.boundary;
  for (instruction const& i : code.code) {
    if (i.destinations == 0 || boundary[i.block_end] == boundary[i.block]) continue;
    for (std::uint32_t k = 0; k < i.sources + i.destinations; ++k)
      all.push_back(resolved(me, plan, code.operands[i.operands + k]));
  }
  return all;
}

/// The caller's arrays are others than in its latest call of this turn.
[[gnu::noinline]] void take_addresses(resolved_program& program, std::size_t turn, void const* in, void* out) {
  resolved_program::turn& now = program.turns[turn];
  std::array<std::uintptr_t, 3> const from{reinterpret_cast<std::uintptr_t>(in), reinterpret_cast<std::uintptr_t>(out),
                                           0};
  now.in = in;
  now.out = out;
  now.told_in = moved(static_cast<std::byte const*>(in), program.to_whole_in);
  now.told_out = moved(static_cast<std::byte*>(out), program.to_whole_out);
  for (std::size_t k = 0; k < program.arrays.size(); ++k)
    now.arrays[k] = reinterpret_cast<void*>(from[program.arrays[k].from] + program.arrays[k].at[turn]);
  for (act& a : now.acts) a.compared = {&a, nullptr};
}

[[gnu::cold]] void resolve(resolved_program& to, rank_state const& me, bound_plan const& plan) {
  to.plan = &plan;
  to.computes_numbers = false;
  to.is_alone = me.shared.size() == 1;
  extent const gives = plan.arrays.gives[me.rank], gets = plan.arrays.gets[me.rank];
  bool const has_own = gives.begin != gives.end;  // or its array may be null
  to.own = {has_own ? plan.arrays.own : detail::own_copy::none, gives.begin - gets.begin, gives.end - gives.begin};
  to.to_whole_in = 0 - gives.begin;
  to.to_whole_out = 0 - gets.begin;
  to.arrays = arrays_of(me, plan);
  to.exchanges = plan.segments.last_layout.exchanges;
  for (std::size_t turn = 0; turn < (to.exchanges ? resolved_program::all_turns : 2); ++turn) {
    to.turns[turn].arrays.resize(to.arrays.size());
    to.turns[turn].acts.clear();
    add_acts({to, me, turn});
    take_addresses(to, turn, nullptr, nullptr);
  }
  to.readers = &plan.code->of[me.rank].readers;
  to.capacity = me.ends[0].capacity;
}

/// The call as others of this room know operations, once it has entered. All else follows from where the rank is.
[[gnu::cold]] flight flight_of(rank_state const& me, resolved_program const& program, resolved_program::place at) {
  channel_end const& end = me.ends[0];
  flight f;
  prepare(f, me, 0, *program.plan, program.now.arrays->in, program.now.arrays->out, program.now.operation);
  f.act = {me.acts.number, me.acts.history};
  f.layout = &program.plan->segments.last_layout;
  f.line.parity = static_cast<std::uint8_t>(end.epoch & 1);
  f.line.exchanged = program.exchanges && end.is_exchanged(end.epoch);
  f.line.tag = std::uint64_t{end.epoch} << 32 | me.acts.history;
  f.line.base = end.base - program.plan->code->span;
  f.line.entered = true;
  f.at = at.instruction;
  f.wait = at.wait;
  return f;
}

[[gnu::noinline, gnu::cold]] void await_signal_blocking(rank_state& me, resolved_program const& program, act const& a) {
  flight const f = flight_of(me, program, a.at);
  await_blocking(me, f, a.peer, *a.reached, {awaited::kind::signal, f.line.base + a.signal});
}

[[gnu::noinline, gnu::cold]] void await_entry_blocking(rank_state& me, resolved_program const& program, act const& a) {
  flight const f = flight_of(me, program, a.at);
  await_blocking(me, f, a.peer, a.entry->tag, {awaited::kind::entry, f.line.tag});
}

/// A comparison holds as long as both ranks' arrays stay where they are.
[[gnu::noinline, gnu::cold]] void compare_arrays_at(rank_state& me, resolved_program const& program, act& a) {
  flight const f = flight_of(me, program, a.at);
  entry_line const& line = *a.entry;
  if (may_overlap(f, static_cast<std::byte const*>(line.in), static_cast<std::byte const*>(line.out)))
    compare_arrays_of(me, f, a.peer, line);
  a.compared = {line.in, line.out};
}

/// Ranks that read this one's lines two operations ago have left that one. Before the next epoch is taken.
[[gnu::noinline]] void await_readers(rank_state& me, resolved_program const& program) {
  channel_end& end = me.ends[0];
  std::uint32_t const epoch = end.epoch + 1;
  users_of_lines const users(end, epoch, program.plan->segments.last_layout, me.rank, me.shared.ranks);
  for (std::size_t k = 0; k < users.size(); ++k) {
    program::reader const each = users[k];
    perturb();
    std::uint32_t const entry = entry_after_reading(each, epoch);
    awaited const what{awaited::kind::reuse, std::uint64_t{entry} << 32};
    std::atomic<std::uint64_t> const& tag = end.lines[each.rank]->entry[entry & 1].tag;
    if (!what.is_in(tag.load(std::memory_order_acquire)))
      await_blocking(me, flight_of(me, program, {}), each.rank, tag, what);
  }
}

/// Takes the next epoch of the channel.
[[gnu::always_inline]] inline void enter(rank_state& me, resolved_program const& program, std::uint32_t epoch) {
  channel_end& end = me.ends[0];
  if (!end.peers_entered && end.readers[epoch & 1] != nullptr) await_readers(me, program);
  end.epoch = epoch;
  if (program.exchanges) end.exchange(epoch);
  program::compiled const& code = *program.plan->code;
  end.base += code.span;
  end.peers_entered = code.full;
  end.readers[epoch & 1] = program.readers;
}

[[gnu::always_inline]] inline void fold(resolved_program const& program, act const& a) {
  auto const& f = a.folds;
  f.function(program.now.operation, f.arrays + f.sources, f.destinations, f.arrays, f.sources, f.count);
}

/// By the caller's operation, which may throw and is refused collectives, or by a rank whose thread has another floating-point mode
/// than the team.
[[gnu::noinline]] void fold_with_care(rank_state& me, resolved_program const& program, act const& a) {
  folding_mark const here(me.root);
  computing_in const mode(me.shared.mode(), a.computes);
  fold(program, a);
}

[[gnu::always_inline]] inline void copy_words(resolved_program::folding const& f) {
  auto const* const from = static_cast<std::byte const*>(f.arrays[0]);
  auto* const to = static_cast<std::byte*>(f.arrays[1]);
  for (std::size_t at = 0; at < f.count * word_bytes; at += word_bytes) {
    std::uint64_t word;
    std::memcpy(&word, from + at, word_bytes);
    std::memcpy(to + at, &word, word_bytes);
  }
}

[[gnu::noinline]] void copy_own(resolved_program const& program) {
  std::byte* const to = moved(static_cast<std::byte*>(program.now.arrays->out), program.own.to);
  if (program.now.arrays->in != to) std::memcpy(to, program.now.arrays->in, program.own.bytes);
}

[[gnu::always_inline]] inline void await_entry(rank_state& me, resolved_program const& program, act const& a,
                                               std::uint64_t tag) {
  if (a.entry->tag.load(std::memory_order_acquire) != tag)
    await_entry_blocking(me, program, a);      // partner: tell_entry()
  __builtin_prefetch(a.entry->second.data());  // a payload there is on its way while the pointers are looked at
}

/// `Alone`: a team of one, in which nobody is told anything or awaited.
template <bool Alone>
[[gnu::always_inline]] inline void run_acts(rank_state& me, resolved_program& program, resolved_program::turn& now,
                                            std::uint64_t tag) {
  // The mode is looked at before anything is awaited, since the look takes as long as a short fold. Nobody but this thread changes
  // the mode.
  bool const computes_elsewhere =
      program.computes_numbers && me.shared.mode().differs_here(detail::arithmetic::floating_point);
  for (act* a = now.acts.data();; ++a) {
    switch (a->what) {
      case act::copy_words:
        copy_words(a->folds);
        break;
      case act::fold_numbers:
        if (computes_elsewhere) [[unlikely]]
          fold_with_care(me, program, *a);
        else
          fold(program, *a);
        break;
      case act::fold:
        fold(program, *a);
        break;
      case act::fold_by_caller:
        fold_with_care(me, program, *a);
        break;
      case act::copy_own:
        copy_own(program);
        break;
      case act::done:
        return;
      case act::tell_entry:
        if constexpr (!Alone) tell_entry(me, *a->entry, now.told_in, now.told_out, tag);
        break;
      case act::tell_progress:
        if constexpr (!Alone)
          tell_progress(me, me.ends[0].lines[me.rank]->progress,
                        me.ends[0].base - program.plan->code->span + a->signal);
        break;
      case act::await_entry:
        if constexpr (!Alone) {
          perturb();
          await_entry(me, program, *a, tag);
        }
        break;
      case act::await_compared_entry:
        if constexpr (!Alone) {
          perturb();
          await_entry(me, program, *a, tag);
          if (a->compared != std::pair<void const*, void const*>(a->entry->in, a->entry->out)) [[unlikely]]
            compare_arrays_at(me, program, *a);
        }
        break;
      case act::await_progress:
        if constexpr (!Alone) {
          perturb();
          std::uint64_t const wanted = me.ends[0].base - program.plan->code->span + a->signal;
          if (a->reached->load(std::memory_order_acquire) < wanted) [[unlikely]]  // partner: tell_progress()
            await_signal_blocking(me, program, *a);
        }
        break;
      default:
        __builtin_unreachable();
    }
  }
}

/// From here on the program knows its call, whoever asks.
[[gnu::always_inline]] inline resolved_program::turn& begin(resolved_program& program, std::size_t turn, void const* in,
                                                            void* out, void const* operation) {
  resolved_program::turn& now = program.turns[turn];
  if (now.in != in || now.out != out) [[unlikely]]
    take_addresses(program, turn, in, out);
  program.now = {operation, &now};
  return now;
}

/// A function of its own, so that it has few registers to save.
[[gnu::noinline]] void run_alone(rank_state& me, resolved_program& program, void const* in, void* out,
                                 void const* operation) {
  resolved_program::turn& now = begin(program, me.ends[0].epoch & 1, in, out, operation);
  if (me.shared.failed()) [[unlikely]]
    leave(me);
  try {
    run_acts<true>(me, program, now, 0);
  } catch (...) {
    leave_by_exception(me, flight_of(me, program, {}));
  }
}

}  // namespace

void resolved_programs::called(rank_state const& me, bound_plan const& plan, std::uint64_t wanted) noexcept try {
  auto& [id, known] = front_[wanted % front_.size()];
  if (id == wanted && known == nullptr) return;
  id = wanted;
  known = nullptr;
  if (!can_be_resolved(me, plan)) return;
  bool const is_new = !all_.contains(wanted);
  if (is_new && rests_ > 0) {
    --rests_;
    id = 0;
    return;
  }
  if (is_new && all_.size() >= most) {
    front_ = {};
    all_.clear();
    rests_ = 4 * most;
  }
  std::unique_ptr<resolved_program>& mine = all_[wanted];
  if (mine == nullptr) mine = std::make_unique<resolved_program>();
  if (mine->capacity != me.ends[0].capacity || mine->readers == nullptr) resolve(*mine, me, plan);
  front_[wanted % front_.size()] = {wanted, mine.get()};
} catch (std::bad_alloc const&) {
  // The call is complete; the next goes as this one did.
}

void run_resolved(rank_state& me, bound_plan const& plan, resolved_program& program, void const* in, void* out,
                  void const* operation) {
  if (program.is_alone) return run_alone(me, program, in, out, operation);
  channel_end const& end = me.ends[0];
  std::uint32_t const epoch = end.epoch + 1;
  std::size_t const turn = turn_of(epoch, program.exchanges && !end.is_exchanged(epoch));
  resolved_program::turn& now = begin(program, turn, in, out, operation);
  announce(me, plan, 0, me.acts.by, false);
  if (me.shared.failed()) [[unlikely]]
    leave(me);
  try {
    enter(me, program, epoch);
    run_acts<false>(me, program, now, std::uint64_t{epoch} << 32 | me.acts.history);
  } catch (...) {
    leave_by_exception(me, flight_of(me, program, {}));
  }
}

}  // namespace coset::runtime
