// SPDX-License-Identifier: Apache-2.0
// Who is faster: the team, or MPI.
#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>

#include "mpi/preload/arguments.hpp"

namespace coset::interpose {

enum class side : std::uint8_t { team, mpi };

class attachment;

/// Calls of one verb and about one size, of one communicator. All its processes make the same calls, so each counts alike.
class kind_of_calls {
 public:
  /// Who carries out the next call.
  side next() const noexcept;
  bool is_tried() const noexcept { return calls_until_trial_ == 0; }
  /// The call has been carried out. In a trial, all processes agree from time to time on what they have seen.
  void ended(MPI_Comm on, double seconds);
  void ended_untried() noexcept { --calls_until_trial_; }
  bool is_decided_for(side one) const noexcept { return winner_ == one && calls_until_trial_ != 0; }

 private:
  void conclude(MPI_Comm on);

  side winner_ = side::team;
  std::uint8_t trials_ = 0;
  std::uint16_t call_ = 0;  ///< of the trial
  std::uint32_t calls_until_trial_ = 0;
  double of_row_ = 0;             ///< seconds, so far
  std::array<double, 2> best_{};  ///< of a row
};

/// Calls that only move data give the same whoever carries them out, bit by bit, and so do reductions to a root and scans of
/// whole numbers. So each kind of them goes to the faster side, which the program's own calls show: a few are carried out by
/// either in turn, first of all, then again after hundreds and after thousands of calls. All others stay with the team, as a
/// program's sums must not depend on clocks.
class judge {
 public:
  /// nullptr: it is no question.
  kind_of_calls* kind_of(attachment const&, arguments const&);

 private:
  kind_of_calls* latest_ = nullptr;
  std::uint64_t latest_key_ = ~std::uint64_t{0};
  std::map<std::uint64_t, kind_of_calls> kinds_;
};

/// A blocking call while it is carried out.
class judged_call {
 public:
  judged_call(kind_of_calls* kind, MPI_Comm on) : kind_(kind), on_(on) {
    if (kind_ != nullptr && kind_->is_tried()) began_ = std::chrono::steady_clock::now();
  }
  void ended() const {
    if (kind_ == nullptr) return;
    if (!kind_->is_tried()) return kind_->ended_untried();
    kind_->ended(on_, std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count());
  }

 private:
  kind_of_calls* kind_;
  MPI_Comm on_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace coset::interpose
