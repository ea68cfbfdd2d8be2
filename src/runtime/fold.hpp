// SPDX-License-Identifier: Apache-2.0
// What folding takes: the arrays of an instruction, and the kernels.
#pragma once

#include <cstddef>

#include "runtime/await.hpp"
#include "runtime/modes/floating_point_mode.hpp"
#include "runtime/rank_state.hpp"

namespace coset::runtime {

/// Sources, then destinations.
[[gnu::always_inline]] inline void resolve(detail::rank_state& me, flight const& f, program::instruction const& i) {
  std::byte* const* const bases = me.ends[f.line.channel].bases.data();
  std::size_t const* const offsets = f.layout->offset.data();
  program::operand const* const operands = f.code->operands.data() + i.operands;
  void** const resolved = me.memory.operands.data();
  for (std::uint32_t k = 0, all = i.sources + i.destinations; k < all; ++k) {
    program::place const& at = operands[k].at(f.line.exchanged);
    resolved[k] = moved(bases[at.base[f.line.parity]], offsets[at.piece]);
  }
}

[[gnu::always_inline]] inline void fold_now(detail::rank_state& me, flight const& f, program::instruction const& i,
                                            std::size_t count) {
  void* const* const from = me.memory.operands.data();
  void* const* const to = from + i.sources;
  if (i.mixed) [[unlikely]] {
    detail::form const* const forms = f.code->forms.data() + i.operands;
    f.plan->what.reduction->mixed(to, i.destinations, from, i.sources, forms, count);
  } else {
    f.plan->folds->for_sources(i.sources)(f.operation, to, i.destinations, from, i.sources, count);
  }
}

/// By a rank whose thread has another floating-point mode than the team. Apart, as it has something to give back.
[[gnu::noinline]] inline void fold_in_mode_of_team(detail::rank_state& me, flight const& f,
                                                   program::instruction const& i, std::size_t count) {
  computing_in const mode(me.shared.mode(), f.plan->what.reduction->code.computes);
  fold_now(me, f, i, count);
}

/// The same bits on every rank, whatever modes their threads have; copies have none.
inline void fold_arrays(detail::rank_state& me, flight const& f, program::instruction const& i, std::size_t count) {
  folding_mark const here(me.root);
  bool const computes = i.sources != 1 || i.mixed;
  if (computes && me.shared.mode().differs_here(f.plan->what.reduction->code.computes)) [[unlikely]]
    return fold_in_mode_of_team(me, f, i, count);
  fold_now(me, f, i, count);
}

/// All arrays of an instruction `count` items on.
inline void step_on(detail::rank_state& me, flight const& f, program::instruction const& i, std::size_t count) {
  detail::reduction_table const& reduction = *f.plan->what.reduction;
  detail::form const* form = f.code->forms.data() + i.operands;
  auto const bytes = [&] {
    return count * (*form++ == detail::form::partial ? reduction.partial_bytes : reduction.element_bytes);
  };
  for (std::uint32_t k = 0; k < i.sources + i.destinations; ++k)
    me.memory.operands[k] = static_cast<std::byte*>(me.memory.operands[k]) + bytes();
}

}  // namespace coset::runtime
