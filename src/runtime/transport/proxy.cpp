// SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/proxy.hpp"

#include "base/text/format.hpp"
#include "runtime/failure/argument_check.hpp"

namespace coset::runtime {
namespace {

using detail::rank_state;
using program::instruction;

/// Looks in vain between two words with the transport, and between two questions for the time.
constexpr std::uint32_t looks_per_progress = 8, looks_per_clock = 64;
static_assert(looks_per_clock % looks_per_progress == 0);
/// What a message may well take without anything being wrong.
constexpr std::chrono::milliseconds time_between_questions(20);

/// The operands' bytes, neighbours joined.
std::span<piece const> pieces_of(rank_state& me, flight const& f, instruction const& i) {
  program::layout const& layout = *f.layout;
  std::size_t const blocks = f.plan->code->blocks.size();
  detail::reduction_table const& reduction = *f.plan->what.reduction;
  me.memory.pieces.clear();
  for (std::uint32_t k = i.operands; k < i.operands + i.sources + i.destinations; ++k) {
    program::operand const& o = f.code->operands[k];
    std::size_t const block = o.piece % blocks;
    bool const partial = f.code->forms[k] == detail::form::partial;
    std::size_t const bytes = (layout.boundary[block + 1] - layout.boundary[block]) *
                              (partial ? reduction.partial_bytes : reduction.element_bytes);
    std::byte* const data = moved(me.ends[f.line.channel].bases[o.base[f.line.parity]], layout.offset[o.piece]);
    if (bytes == 0) continue;
    if (!me.memory.pieces.empty() && me.memory.pieces.back().data + me.memory.pieces.back().bytes == data) {
      me.memory.pieces.back().bytes += bytes;
    } else {
      me.memory.pieces.push_back({data, bytes});
    }
  }
  return me.memory.pieces;
}

}  // namespace

void expect_messages(rank_state& me, flight const& f) {
  if (f.code->received.empty() && !f.code->sends) return;
  require_this_process(me.shared, "a collective");
  auto& messages = me.ends[f.line.channel].messages;
  if (!messages) messages = me.shared.part.messages->open(me.number, f.line.channel);
  messages->begin();
  for (std::uint32_t const at : f.code->received) {
    instruction const& i = f.code->code[at];
    messages->expect(i.peer, pieces_of(me, f, i));
  }
}

void send_message(rank_state& me, flight const& f, instruction const& i) {
  described_signature said;
  f.plan->describe(said, f.line.started, f.line.by);
  envelope const opening{f.line.tag, said.count.load(std::memory_order_relaxed),
                         said.rest.load(std::memory_order_relaxed), me.number,
                         said.kind.load(std::memory_order_relaxed)};
  me.ends[f.line.channel].messages->send(i.peer, opening, pieces_of(me, f, i));
}

bool message_is_here(rank_state& me, flight const& f, instruction const& i) {
  endpoint& messages = *me.ends[f.line.channel].messages;
  auto const state = messages.look(i.message);
  if (state == endpoint::state::awaited) return false;
  envelope const& opening = messages.envelope_of(i.message);
  if (opening.tag != f.line.tag) fail_mismatch(me, f, opening);
  return state == endpoint::state::here;
}

bool all_sent(rank_state& me, flight const& f) {
  require_this_process(me.shared, "a collective");
  return !f.code->sends || me.ends[f.line.channel].messages->all_sent();
}

void look_around(rank_state& me, flight& f) {
  domain const& part = me.shared.part;
  if (++f.looks.stuck % looks_per_progress != 0) return;
  bool const is_proxy = part.spread.proxy_of(me.number) == me.number;
  if (is_proxy) part.messages->progress(me);
  if (f.looks.stuck % looks_per_clock != 0) return;
  auto const now = std::chrono::steady_clock::now().time_since_epoch();
  if (f.looks.stuck == looks_per_clock) f.looks.stuck_since = f.looks.asked = now;
  instruction const* const at = f.line.entered && f.at < f.code->code.size() ? &f.code->code[f.at] : nullptr;
  rank_t const awaited = at != nullptr ? at->peer : instruction::nobody;
  // Ever less often: who computes for an hour is not asked a thousand times.
  if (is_proxy && awaited != instruction::nobody && now - f.looks.asked > time_between_questions &&
      now - f.looks.asked > (f.looks.asked - f.looks.stuck_since) / 2) {
    f.looks.asked = now;
    part.messages->ask(me, f, awaited);
  }
  auto const longest = part.messages->deadline();
  if (longest.count() == 0 || now - f.looks.stuck_since < longest) return;
  fail(me, cause::messages,
       text::format("{}: rank {} has waited for {} for {} ms", f.plan->what.text(f.line.by), me.number,
                    awaited != instruction::nobody ? text::format("a message of rank {}", awaited)
                    : at != nullptr && at->what == program::action::await_offload ? "the other hosts to combine"
                                                                                  : "a rank of its host",
                    std::chrono::duration_cast<std::chrono::milliseconds>(longest).count()));
}

}  // namespace coset::runtime
