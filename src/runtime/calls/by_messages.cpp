// SPDX-License-Identifier: Apache-2.0
// all_to_all of pieces of any length between processes, a message at a time: who has nothing for another sends it nothing.
#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "base/text/format.hpp"
#include "coset/operations.hpp"
#include "runtime/calls/exchange.hpp"
#include "runtime/failure/argument_check.hpp"
#include "runtime/failure/long_waits.hpp"
#include "runtime/memory/foreign.hpp"
#include "runtime/rank_state.hpp"
#include "runtime/requests.hpp"

namespace coset::inline COSET_ABI::detail {
namespace {

using runtime::exchange_memory;
using runtime::proxy_share;

/// A proxy exchanges messages with so many others at once. Messages are long beside what it costs to send one.
constexpr std::size_t peers_at_once = 16, message_bytes = 256 * 1024;
constexpr std::uint32_t looks_per_progress = 8, looks_per_clock = 64;

/// Proxies in the order of their ranks, the same everywhere.
std::vector<proxy_share> const& shares_of(rank_state& me) {
  auto& known = me.memory.exchanged->shares;
  if (!known.empty()) return known;
  std::vector<proxy_share> all;  // kept only once it is whole: a part of it would be taken for all
  auto const& processes = me.shared.part.spread.processes;
  for (std::size_t p = 0; p < processes.size(); ++p) {
    auto const& [first, carriers, skipped] = processes[p];
    rank_t const end = p + 1 < processes.size() ? processes[p + 1].first : me.shared.size();
    for (rank_t k = 0; k < carriers; ++k) all.push_back({first + skipped + k, first + k, carriers, end});
  }
  return known = std::move(all);
}

/// Of a rank of this process.
exchange_memory const& pieces_of(rank_state const& me, rank_t rank) {
  return *(*me.here.beside)[rank - me.shared.part.first]->memory.exchanged;
}

/// All that the ranks of one proxy have for those of another, piece after piece; the same to both. Where it has come to.
class stream {
 public:
  stream() = default;
  stream(proxy_share const& from, proxy_share const& to)
      : from_(&from), to_(&to), origin_(from.first), destination_(to.first) {}

  /// Goes on by `most` bytes, or by what is left. Calls visit(origin, destination, bytes of the piece so far, bytes).
  template <class PieceBytes, class Visit>
  std::size_t advance(std::size_t most, PieceBytes piece_bytes, Visit visit) {
    std::size_t all = 0;
    while (from_ != nullptr && all < most) {
      std::size_t const left = piece_bytes(origin_, destination_) - done_, now = std::min(left, most - all);
      if (now != 0) visit(origin_, destination_, done_, now);
      all += now;
      done_ += now;
      if (now == left) next_piece();
    }
    return all;
  }

 private:
  void next_piece() {
    done_ = 0;
    if ((destination_ += to_->step) < to_->end) return;
    destination_ = to_->first;
    if ((origin_ += from_->step) >= from_->end) from_ = nullptr;
  }

  proxy_share const *from_ = nullptr, *to_ = nullptr;  ///< null once all has been visited
  rank_t origin_ = 0, destination_ = 0;
  std::size_t done_ = 0;
};

/// A proxy's part: whom it sends to and receives from, and where their messages have come to.
class messenger {
 public:
  /// `told`: what ranks have told each other of their pieces by. Who waits for long names it.
  messenger(rank_state& me, bound_plan const& told)
      : me_(me),
        shares_(shares_of(me)),
        room_(me.memory.exchanged->room_for(2 * std::min(peers_at_once, shares_.size()) * message_bytes)) {
    auto& messages = me.ends[0].messages;
    if (!messages) messages = me.shared.part.messages->open(me.number, 0);
    messages_ = messages.get();
    runtime::prepare(waiting_, me, 0, told, nullptr, nullptr, nullptr);
    waiting_.code = &nothing_but_messages_;
    waiting_.act = {me.acts.number, me.acts.history};
    waiting_.line.entered = true;
    waiting_.line.tag = std::uint64_t{me.ends[0].epoch} << 32 | me.acts.history;
    told.describe(described_, false, me.acts.by);
  }

  /// With all others, some at a time: in each round of it a rank sends to those behind it as far as it receives from those
  /// before it. So whoever is awaited in the earliest round waits for nobody in a later one.
  void run(std::size_t own) {
    std::size_t const all = shares_.size();
    for (std::size_t begin = 1; begin < all; begin += peers_at_once) {
      std::size_t const end = std::min(begin + peers_at_once, all);
      for (std::size_t k = begin; k < end; ++k) {
        proxy_share const &mine = shares_[own], &next = shares_[(own + k) % all],
                          &last = shares_[(own + all - k) % all];
        pairs_[k - begin] = {next.proxy, last.proxy, is_here(next) ? stream() : stream(mine, next),
                             is_here(last) ? stream() : stream(last, mine)};
      }
      while (exchange(std::span(pairs_).first(end - begin))) continue;
    }
  }

 private:
  struct pair {
    rank_t next = 0, last = 0;
    stream out, in;
  };

  /// Ranks of one process read each other's arrays.
  bool is_here(proxy_share const& other) const { return other.end == shares_of_own_end(); }
  rank_t shares_of_own_end() const {
    auto const& spread = me_.shared.part.spread;
    std::size_t const p = spread.process_of(me_.number) + 1;
    return p < spread.processes.size() ? spread.processes[p].first : me_.shared.size();
  }

  std::byte* room_to_send(std::size_t k) const { return room_ + 2 * k * message_bytes; }
  std::byte* room_to_receive(std::size_t k) const { return room_to_send(k) + message_bytes; }
  std::size_t bytes_sent(rank_t o, rank_t d) const {
    auto const& at = pieces_of(me_, o).sent_at;
    return at[d + 1] - at[d];
  }
  std::size_t bytes_received(rank_t o, rank_t d) const {
    auto const& at = pieces_of(me_, d).received_at;
    return at[o + 1] - at[o];
  }

  /// The next message of each pair. False once there is none.
  bool exchange(std::span<pair> pairs) {
    auto const received = [this](rank_t o, rank_t d) { return bytes_received(o, d); };
    messages_->begin();
    std::size_t expected = 0, sent = 0;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      stream ahead = pairs[k].in;
      std::size_t const bytes = ahead.advance(message_bytes, received, [](auto...) {});
      runtime::piece const whole{room_to_receive(k), bytes};
      if (bytes != 0) messages_->expect(pairs[k].last, {&whole, 1});
      expected += bytes != 0 ? 1 : 0;
    }
    for (std::size_t k = 0; k < pairs.size(); ++k) sent += send(pairs[k], room_to_send(k));
    if (expected == 0 && sent == 0) return false;
    await(expected);
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      std::byte const* from = room_to_receive(k);
      pairs[k].in.advance(message_bytes, received, [&](rank_t o, rank_t d, std::size_t done, std::size_t bytes) {
        exchange_memory const& to = pieces_of(me_, d);
        runtime::copy_foreign(me_, to.out + to.received_at[o] + done, from, bytes);
        from += bytes;
      });
    }
    return true;
  }

  /// So many messages: none if there is nothing left.
  std::size_t send(pair& p, std::byte* room) {
    std::byte* to = room;
    auto const sent = [this](rank_t o, rank_t d) { return bytes_sent(o, d); };
    p.out.advance(message_bytes, sent, [&](rank_t o, rank_t d, std::size_t done, std::size_t bytes) {
      exchange_memory const& from = pieces_of(me_, o);
      runtime::copy_foreign(me_, to, from.in + from.sent_at[d] + done, bytes);
      to += bytes;
    });
    if (to == room) return 0;
    runtime::envelope const opening{waiting_.line.tag, described_.count.load(std::memory_order_relaxed),
                                    described_.rest.load(std::memory_order_relaxed), me_.number,
                                    described_.kind.load(std::memory_order_relaxed)};
    runtime::piece const whole{room, static_cast<std::size_t>(to - room)};
    messages_->send(p.next, opening, {&whole, 1});
    return 1;
  }

  /// Until all that was sent has gone, and all that is expected has come.
  void await(std::size_t expected) {
    auto const began = std::chrono::steady_clock::now();
    std::size_t here = 0;
    std::uint32_t looks = 0;
    for (runtime::backing_off wait(me_.shared.patience);;) {
      if (me_.shared.failed()) runtime::leave(me_);
      std::size_t const before = here;
      while (here < expected && is_here(here)) ++here;
      if (messages_->all_sent() && here == expected) break;
      if (++looks % looks_per_progress == 0) me_.shared.part.messages->progress(me_);
      if (looks % looks_per_clock == 0) require_in_time(std::chrono::steady_clock::now() - began);
      bool const moved = runtime::advance_all(me_.root) || here != before;
      if (wait(moved || runtime::did_something_meanwhile())) runtime::note_waiting(me_, waiting_);
    }
    runtime::note_moving(me_.root);
  }
  bool is_here(std::size_t message) {
    auto const state = messages_->look(message);
    if (state == runtime::endpoint::state::awaited) return false;
    runtime::envelope const& opening = messages_->envelope_of(message);
    if (opening.tag != waiting_.line.tag) runtime::fail_mismatch(me_, waiting_, opening);
    return state == runtime::endpoint::state::here;
  }
  void require_in_time(std::chrono::nanoseconds waited) {
    auto const longest = me_.shared.part.messages->deadline();
    if (longest.count() == 0 || waited < longest) return;
    runtime::fail(me_, runtime::cause::messages,
                  text::format("{}: rank {} has waited for messages of other processes for {} ms",
                               waiting_.plan->what.text(waiting_.line.by), me_.number,
                               std::chrono::duration_cast<std::chrono::milliseconds>(longest).count()));
  }

  rank_state& me_;
  std::vector<proxy_share> const& shares_;
  std::byte* const room_;
  runtime::endpoint* messages_;
  program::program const nothing_but_messages_{};
  runtime::flight waiting_;
  planning::described_signature described_{};
  std::array<pair, peers_at_once> pairs_;
};

void send_and_receive(rank_state& me, bound_plan const& told) {
  auto const& shares = shares_of(me);
  auto const own = std::ranges::find(shares, me.number, &proxy_share::proxy);
  if (own == shares.end()) return;  // another rank does it
  try {
    messenger(me, told).run(static_cast<std::size_t>(own - shares.begin()));
  } catch (mpi::error const& thrown) {
    me.shared.fail(runtime::cause::messages, thrown.what());
    me.shared.quiesce(me);
    throw;
  }
}

/// Of the other ranks of this process, and of itself.
void fetch_here(rank_state& me) {
  exchange_memory const& pieces = *me.memory.exchanged;
  auto const& spread = me.shared.part.spread;
  std::size_t const process = spread.process_of(me.number);
  for (rank_t o = spread.processes[process].first; o < me.shared.size() && spread.process_of(o) == process; ++o) {
    std::size_t const begin = pieces.received_at[o];
    runtime::copy_foreign(me, pieces.out + begin, reinterpret_cast<std::byte const*>(pieces.heard[o].at),
                          pieces.received_at[o + 1] - begin);
  }
}

}  // namespace

void exchange_by_messages(rank_state& me, bound_plan const& told) {
  run(me, meeting());  // all agree, and proxies see what their ranks have
  send_and_receive(me, told);
  fetch_here(me);
  run(me, meeting());
}

}  // namespace coset::detail
