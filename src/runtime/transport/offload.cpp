// SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/offload.hpp"

#include <cstring>

namespace coset::runtime {
namespace {

using detail::form;
using detail::rank_state;
using detail::reduction_table;
using program::instruction;

std::size_t bytes_of(reduction_table const& reduction, form what) {
  return what == form::partial ? reduction.partial_bytes : reduction.element_bytes;
}

/// The form of values in transit: partial results if these are wider than elements, as a domain may have only these.
form form_on_the_way(reduction_table const& reduction) {
  return reduction.mixed != nullptr ? form::partial : form::element;
}

void copy(reduction_table const& reduction, form to_form, void* to, form from_form, void const* from,
          std::size_t count) {
  form const forms[]{from_form, to_form};
  if (to_form == from_form)
    std::memcpy(to, from, count * bytes_of(reduction, to_form));
  else
    reduction.mixed(&to, 1, &from, 1, forms, count);
}

/// One block of the slice, in staging.
struct block {
  std::byte* data;
  form what;
  std::size_t count;
};

block block_of(rank_state& me, flight const& f, std::uint32_t at) {
  program::operand const& o = f.code->operands[at];
  std::size_t const b = o.piece % f.plan->code->blocks.size();
  return {me.ends[f.line.channel].bases[o.base[f.line.parity]] + f.layout->offset[o.piece], f.code->forms[at],
          f.layout->boundary[b + 1] - f.layout->boundary[b]};
}

std::size_t count_of(rank_state& me, flight const& f, instruction const& i) {
  std::size_t all = 0;
  for (std::uint32_t k = 0; k < i.sources + i.destinations; ++k) all += block_of(me, f, i.operands + k).count;
  return all;
}

}  // namespace

void start_offload(rank_state& me, flight const& f, instruction const& i) {
  std::size_t const count = count_of(me, f, i);
  if (count == 0) return;  // the same everywhere
  reduction_table const& reduction = *f.plan->what.reduction;
  form const wire = form_on_the_way(reduction);
  endpoint& messages = *me.ends[f.line.channel].messages;
  std::byte* to = messages.room(i.message, count * bytes_of(reduction, wire));
  computing_in const mode(me.shared.mode(), reduction.code.computes);
  for (std::uint32_t k = 0; k < i.sources; ++k) {
    block const from = block_of(me, f, i.operands + k);
    copy(reduction, wire, to, from.what, from.data, from.count);
    to += from.count * bytes_of(reduction, wire);
  }
  messages.offload(i.message, {&reduction, wire, me.shared.mode()}, count);
}

bool finish_offload(rank_state& me, flight const& f, instruction const& i) {
  if (count_of(me, f, i) == 0) return true;
  std::byte const* from = me.ends[f.line.channel].messages->offloaded(i.message);
  if (from == nullptr) return false;
  reduction_table const& reduction = *f.plan->what.reduction;
  form const wire = form_on_the_way(reduction);
  computing_in const mode(me.shared.mode(), reduction.code.computes);
  for (std::uint32_t k = 0; k < i.destinations; ++k) {
    block const to = block_of(me, f, i.operands + k);
    copy(reduction, to.what, to.data, wire, from, to.count);
    from += to.count * bytes_of(reduction, wire);
  }
  return true;
}

void fold_onto(offloaded_items const& items, void const* lower, void* higher, std::size_t count) noexcept {
  reduction_table const& reduction = *items.reduction;
  computing_in const mode(items.mode, reduction.code.computes);
  alignas(std::max_align_t) static constexpr std::byte no_state{};
  void const* const from[]{lower, higher};
  form const forms[]{items.what, items.what, items.what};
  if (items.what == form::partial)
    reduction.mixed(&higher, 1, from, 2, forms, count);
  else
    reduction.folds->for_sources(2)(&no_state, &higher, 1, from, 2, count);
}

}  // namespace coset::runtime
