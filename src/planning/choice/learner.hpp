// SPDX-License-Identifier: Apache-2.0
// Which of several plans with the same bits serves the next call of a shape, by what earlier calls took.
#pragma once

#include <array>
#include <cstdint>

namespace coset::choice {

/// What a call took, in ticks of any clock. 0: not known.
struct call_times {
  std::uint32_t call = 0;   ///< from its begin to its end, without waiting for late ranks
  std::uint32_t cycle = 0;  ///< from its begin to the begin of the next call of its shape
};

/// How a learner spends calls on measuring.
struct learning_pace {
  std::uint32_t before = 10;  ///< calls of candidate 0: a shape that is called less often is not worth a trial
  std::uint32_t window = 6;   ///< consecutive calls of one candidate …
  /// … of which so many only bring the lines where this candidate leaves them; the others are as many calls behind a rewritten
  /// array as not, if a caller alternates.
  std::uint32_t skipped = 2;
  std::uint32_t rounds = 2;  ///< windows of each candidate
  bool gives_up = true;      ///< not on with what is far slower than another, nor without times
  std::uint32_t ahead = 0;   ///< calls that are decided on beyond the next one; fewer than learner::most_ahead

  /// Another candidate at every call, for ever: for tests.
  static learning_pace flipping() { return {0, 1, 0, UINT32_MAX, false, 0}; }
};

/// A pure function of the times that it is told: learners that are told the same times agree on every candidate. After
/// some calls of candidate 0, the one taken without knowledge, it tries all candidates in turns. The best one serves from
/// then on, until its calls become much slower or faster, or trials are less than 1 % of the time: then all are tried again.
///
/// `cycle` times decide if calls take a good part of them, else `call` times: lines that a plan leaves with other ranks
/// cost what the caller does next.
class learner {
 public:
  static constexpr unsigned most_candidates = 4;
  static constexpr std::uint32_t most_ahead = 6;

  explicit learner(unsigned candidates, learning_pace = {}) noexcept;

  /// Of the call that is `ahead` of the next one; of those before the first such call candidate 0.
  unsigned next() const noexcept { return decided_[latest_].candidate; }
  /// The best that is known.
  unsigned best() const noexcept { return best_; }

  /// While the best one serves, most calls need not be timed: one in so many is, and the next one tells what it took. Their number has
  /// no small factor, so that a caller who does something else at every second or third call shows all of it.
  bool rests() const noexcept { return !exploring_ && settled_ && !alert_ && calls_ % calls_per_look > 1; }

  /// As after construction.
  void forget() noexcept { *this = learner(candidates_, pace_); }

  /// Another call has been made, as it was decided; `before` is what the one before that took. No allocation, no clock.
  void called(call_times before) noexcept;

 private:
  static constexpr std::uint32_t most_samples = 8, calls_per_look = 13;

  struct record {
    std::array<std::uint32_t, most_samples> call{}, cycle{};
    std::uint32_t calls = 0, cycles = 0;
  };
  struct step {
    std::uint8_t candidate = 0;
    bool counts = false;
    std::uint8_t epoch = 0;  ///< of the records to which it belongs
  };

  static void add(record& to, call_times took) noexcept;
  static call_times usual_of(record const&) noexcept;
  static call_times fastest_of(record const&) noexcept;
  void decide(step) noexcept;
  void explore() noexcept;
  call_times least() const noexcept;
  bool has_far_slower_calls(unsigned candidate) const noexcept;
  bool is_far_slower(unsigned candidate) const noexcept;
  void note(step of, call_times took) noexcept;
  void settle(call_times took) noexcept;
  void watch(call_times took) noexcept;
  void deviate() noexcept;
  bool exceeds_by_state(call_times slower, call_times faster) const noexcept;
  step next_to_explore() noexcept;
  void choose() noexcept;
  bool cycles_decide() const noexcept;

  learning_pace pace_;
  std::uint8_t candidates_;
  std::uint8_t best_ = 0;
  bool exploring_;
  std::uint8_t epoch_ = 0;  ///< another when an exploration begins or ends
  /// Of calls, in a ring: those that have been made, but nothing is known of, and those that are decided on.
  std::array<step, most_ahead + 2> decided_{};
  std::uint8_t told_ = 0, latest_ = 0;  ///< the call that the next times are of, and the last that is decided on
  std::uint32_t at_ = 0;                ///< call of the exploration
  std::array<record, most_candidates> records_{};
  // While the best one serves:
  call_times usual_ = {};                 ///< of its calls
  std::uint64_t next_best_ = UINT32_MAX;  ///< what another candidate took when both were tried …
  bool by_cycle_ = false;                 ///< … as a cycle, or as a call
  bool alert_ = false;                    ///< the latest calls are not as usual, and all are timed
  bool settled_ = false;                  ///< usual_ is what they take now, not what they took while others were tried
  std::uint32_t calls_ = 0, calls_to_next_ = 0;
  record watched_ = {};      ///< its latest calls, as many as are compared at once
  std::uint32_t pause_ = 0;  ///< calls before a deviation counts: longer where it has changed nothing
};

}  // namespace coset::choice
