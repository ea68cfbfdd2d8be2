// SPDX-License-Identifier: Apache-2.0
#include "runtime/requests.hpp"

#include <array>
#include <cassert>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text/format.hpp"
#include "runtime/failure/argument_check.hpp"
#include "runtime/failure/long_waits.hpp"
#include "runtime/transport/proxy.hpp"

namespace coset::runtime {
namespace {

using detail::rank_state;
using clock = std::chrono::steady_clock;

/// Of a part of one process, whose ranks may never wait for long, and yet have to hear that other processes have failed.
constexpr std::uint32_t calls_per_look_around = 64;

/// It is complete, or given up.
void end(rank_state& me, pending& p) {
  p.live = false;
  p.deliver = nullptr;
  p.operation.reset();
  --me.requests.live;
  if (&me.root != &me) --me.root.requests.live;
}

void finish(rank_state& me, pending& p) {
  if (p.deliver != nullptr) p.deliver(p.operation.get(), p.delivered_to);
  end(me, p);
}

enum class progress : std::uint8_t { none, some, complete };

template <class Call>
void unless_messages_fail(rank_state& me, Call call) {
  try {
    call();
  } catch (mpi::error const& thrown) {
    me.shared.fail(cause::messages, thrown.what());
    me.shared.quiesce(me);
    throw;
  }
}

/// Advances the operation as far as possible without waiting. If there are messages, every waiting rank helps to
/// progress them.
progress advance_a_bit(rank_state& me, flight& f) {
  auto const position = [&f] { return std::tuple(f.segment.now, f.at, f.wait); };
  auto const before = position();
  if (advance<false>(me, f)) return progress::complete;
  bool const moved = position() != before;
  if (!me.shared.kind.has_messages) return moved ? progress::some : progress::none;
  if (moved) f.looks.stuck = 0;
  unless_messages_fail(me, [&] { look_around(me, f); });
  return moved ? progress::some : progress::none;
}

/// Whether that brought it on.
bool advance_one(rank_state& me, pending& p) {
  if (!p.live) return false;
  progress const made = advance_a_bit(me, p.under_way);
  if (made == progress::complete) finish(me, p);
  return made != progress::none;
}

bool is_complete(pending const& p, std::uint64_t serial) { return p.serial != serial || !p.live; }

/// What a thread does that blocks, between two looks at everything that it waits for.
class between_looks {
 public:
  between_looks(rank_state& me, flight const& f) : me_(me), awaited_(f), back_off_(me.shared.patience) {}
  ~between_looks() { note_moving(me_.root); }
  between_looks(between_looks const&) = delete;
  between_looks& operator=(between_looks const&) = delete;

  /// `moved`: whether the last look brought anything on.
  void operator()(bool moved) {
    if (moved) note_moving(me_.root);
    did_something_meanwhile();
    if (back_off_(moved)) note_waiting(me_, awaited_);
  }

 private:
  rank_state& me_;
  flight const& awaited_;
  backing_off back_off_;
};

/// The next channel in turn; completes the operation that still has it.
pending& free_channel(rank_state& me) {
  pending& next = me.requests.channels[me.requests.started % split_channels];
  for (between_looks wait(me, next.under_way); next.live;) wait(advance_all(me.root));
  return next;
}

void set_off(rank_state& me, pending& next) {
  next.under_way.line.channel = static_cast<std::uint32_t>(1 + me.requests.started % split_channels);
  announce(me, next.under_way);
  next.serial = ++me.requests.started;
  next.live = true;
  next.given_up = false;
  ++me.requests.live;
  if (&me.root != &me) ++me.root.requests.live;
}

/// Segments that travel are operations of their own, several at once: messages of one and folds of another overlap.
void complete_in_segments(rank_state& me, flight const& f) {
  constexpr std::size_t at_once = 4;
  detail::bound_plan const& plan = *f.plan;
  std::byte const* const in = moved(f.in, plan.arrays.gives[me.rank].begin);
  std::byte* const out = moved(f.out, plan.arrays.gets[me.rank].begin);
  std::size_t const bytes = plan.segments.count * plan.what.reduction->element_bytes;
  std::array<std::pair<pending*, std::uint64_t>, at_once> latest{};
  auto const finish_segment = [&](std::size_t s) {
    auto const [p, serial] = latest[s % at_once];
    if (p == nullptr) return;
    for (between_looks wait(me, p->under_way); !is_complete(*p, serial);) wait(advance_all(me.root));
  };
  for (std::size_t s = 0; s < plan.segments.number; ++s) {
    finish_segment(s);
    pending& next = free_channel(me);
    prepare(next.under_way, me, 0, plan, moved(in, s * bytes), moved(out, s * bytes), f.operation);
    next.under_way.segment = {s, s + 1};
    set_off(me, next);
    latest[s % at_once] = {&next, next.serial};
    advance_all(me.root);
  }
  for (std::size_t s = plan.segments.number; s < plan.segments.number + at_once; ++s) finish_segment(s);
}

/// Tasks may not wait: who could bring on what they wait for may be the very thread that waits.
[[noreturn]] void refuse_to_wait(rank_state& me, std::string_view what) {
  detail::refuse(me,
                 text::format("rank {} is a task, which may only start operations: {} would wait", me.number, what));
}

}  // namespace

bool may_launch(rank_state const& me) noexcept {
  return !me.requests.channels[me.requests.started % split_channels].live;
}

bool advance_all(rank_state& root) {
  bool moved = false;
  for (rank_state* me : root.requests.family) {
    if (me->requests.live == 0) continue;
    // From the oldest: its peers wait longest.
    for (std::uint32_t k = 0; k < split_channels; ++k)
      moved |= advance_one(*me, me->requests.channels[(me->requests.started + k) % split_channels]);
  }
  return moved;
}

void refuse_use(rank_state const& me) {
  require_this_process(me.shared, "a collective");
  if (me.root.requests.process == 0)
    throw argument_error(text::format("rank {}: an operation calls a collective of its own team", me.number));
  throw argument_error("a split team is used after the run() or the membership in which it was split has ended");
}

void complete(rank_state& me, flight& f) {
  if (!me.shared.kind.ranks_may_wait) [[unlikely]]
    refuse_to_wait(me, f.plan->what.text());
  bool const travels = me.shared.kind.has_messages;
  if (f.plan->segments.number > 1 && travels && !me.shared.part.spread.is_one_domain())
    return complete_in_segments(me, f);
  announce(me, f);
  if (me.root.requests.live == 0 && !travels) [[likely]] {
    if (me.acts.number % calls_per_look_around == 0) unless_messages_fail(me, [&] { listen_for_others(me); });
    advance<true>(me, f);
    return;
  }
  for (between_looks wait(me, f);;) {
    progress const made = advance_a_bit(me, f);
    if (made == progress::complete) return;
    wait(advance_all(me.root) || made == progress::some);
  }
}

[[gnu::cold]] void complete_by_segment(rank_state& me, detail::bound_plan const& plan, detail::call const& c,
                                       detail::segment_listener const& after) {
  bool const at_once = plan.segments.number == 1 || !me.shared.part.spread.is_one_domain();
  std::size_t const each = plan.segments.count, bytes = each * plan.what.reduction->element_bytes;
  for (std::size_t s = 0; s < plan.segments.number; ++s) {
    flight f;
    prepare(f, me, 0, plan, moved(static_cast<std::byte const*>(c.in), s * bytes),
            moved(static_cast<std::byte*>(c.out), s * bytes), c.operation);
    if (!at_once) f.segment = {s, s + 1};
    complete(me, f);
    if (at_once) return after.heard(after.context, c.out, 0, c.count);
    after.heard(after.context, c.out, s * each, std::min(each, c.count - s * each));
  }
}

request launch(rank_state& me, detail::bound_plan const& plan, void const* in, void* out,
               std::shared_ptr<void const> operation, void (*deliver)(void const*, void*) noexcept,
               void* delivered_to) {
  if (!me.shared.kind.ranks_may_wait && me.requests.started >= split_channels) [[unlikely]]
    refuse_to_wait(me, text::format("operation {} of one run", me.requests.started + 1));
  pending& next = free_channel(me);
  prepare(next.under_way, me, 0, plan, in, out, operation.get());
  next.under_way.line.started = true;
  next.operation = std::move(operation);
  next.deliver = deliver;
  next.delivered_to = delivered_to;
  set_off(me, next);
  request made(me.requests.handle.reference(), next.under_way.line.channel, next.serial, me.shared.marks.generation);
  advance_all(me.root);
  return made;
}

void abandon_requests(rank_state& me) noexcept {
  if (me.requests.live == 0 || !me.shared.is_of_this_process()) return;
  me.shared.fail(cause::aborted, words("rank %u gave up an operation that was under way", me.number));
  me.shared.quiesce(me);
  for (pending& p : me.requests.channels) {
    if (!p.live) continue;
    end(me, p);
    p.given_up = true;
  }
}

void abandon_requests_of_all(rank_state& me) noexcept {
  for (rank_state* const each : me.root.requests.family) {
    if (&each->shared.origin == &me.shared) abandon_requests(*each);
  }
}

}  // namespace coset::runtime

namespace coset::inline COSET_ABI {

using namespace runtime;

namespace {

/// The operation that a request stands for, if it is still under way. Throws what the team failed with when another
/// request was given up, and this one with it.
pending* live(detail::rank_state* me, std::uint32_t channel, std::uint64_t serial) {
  if (me == nullptr) return nullptr;
  pending& p = me->requests.channels[channel - 1];
  if (!is_complete(p, serial)) return &p;
  if (p.serial == serial && p.given_up) leave(*me);
  return nullptr;
}

}  // namespace

request::request(request&& other) noexcept
    : member_(std::exchange(other.member_, {})),
      serial_(other.serial_),
      channel_(other.channel_),
      generation_(other.generation_) {}

request& request::operator=(request&& other) noexcept {
  request taken(std::move(other));
  std::swap(member_, taken.member_);
  std::swap(channel_, taken.channel_);
  std::swap(serial_, taken.serial_);
  std::swap(generation_, taken.generation_);
  return *this;
}

request::~request() {
  detail::rank_state* const me = member_.rank();
  if (me == nullptr || !me->shared.is_of_this_process()) return;
  if (me->shared.root.marks.generation != generation_) return;
  if (!is_complete(me->requests.channels[channel_ - 1], serial_)) abandon_requests(*me);
}

/// None where it is complete from the start.
detail::rank_state* request::live_member() const {
  if (member_.handle == nullptr) return nullptr;
  detail::rank_state* const me = member_.rank();
  if (me != nullptr) require_this_process(me->shared, "a request is used");
  if (me == nullptr || me->shared.root.marks.generation != generation_)
    throw argument_error("a request is used after the run() or the membership in which it was started has ended");
  return me;
}

bool request::belongs_to(member const& me) const noexcept {
  if (member_.handle == nullptr) return true;
  return member_.rank() == &me.state() && generation_ == me.state().shared.root.marks.generation;
}

bool request::advances_with(request const& other) const noexcept {
  if (member_.handle == other.member_.handle && member_.life == other.member_.life) return true;
  detail::rank_state const *const mine = member_.rank(), *const others = other.member_.rank();
  return mine != nullptr && others != nullptr && &mine->root == &others->root;
}

bool request::test() {
  detail::rank_state* const me = live_member();
  pending* const p = live(me, channel_, serial_);
  if (p == nullptr) return true;
  advance_all(me->root);
  return is_complete(*p, serial_);
}

void request::wait() {
  detail::rank_state* const me = live_member();
  pending* const p = live(me, channel_, serial_);
  if (p == nullptr) return;
  if (!me->shared.kind.ranks_may_wait) refuse_to_wait(*me, "request::wait()");
  if (me->root.requests.live == 1 && !me->shared.kind.has_messages) {
    advance<true>(*me, p->under_way);
    finish(*me, *p);
    return;
  }
  wait([](void*) noexcept {}, nullptr);
}

void request::wait(void (*between)(void*) noexcept, void* context) {
  detail::rank_state* const me = live_member();
  pending* const p = live(me, channel_, serial_);
  if (p == nullptr) return;
  if (!me->shared.kind.ranks_may_wait) refuse_to_wait(*me, "request::wait()");
  for (between_looks wait(*me, p->under_way); !is_complete(*p, serial_);) {
    between(context);
    wait(advance_all(me->root));
  }
}

bool request::wait_for(std::chrono::nanoseconds longest) {
  detail::rank_state* const me = live_member();
  pending* const p = live(me, channel_, serial_);
  if (p == nullptr) return true;
  if (!me->shared.kind.ranks_may_wait) refuse_to_wait(*me, "request::wait_for()");
  auto const begin = clock::now();
  for (backing_off wait(me->shared.patience);;) {
    bool const moved = advance_all(me->root);
    if (is_complete(*p, serial_)) return true;
    if (clock::now() - begin >= longest) return false;
    wait(moved);
  }
}

}  // namespace coset
