// SPDX-License-Identifier: Apache-2.0
// Signals while Python's main thread waits in coset: their handlers run, and what these raise ends the run.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "bindings/python/gil.hpp"
#include "coset/error.hpp"
#include "coset/team.hpp"

namespace coset::python {

/// Called while the module is imported.
void prepare_signals();

/// Watches for signals during a run() of this team, if the thread is the one on which Python runs their handlers. What a
/// handler raises, KeyboardInterrupt as a rule, aborts the team, and is raised by the call that waited.
///
/// Cost: nothing for waits of less than 20 ms. Of a longer wait it takes the GIL for a moment, again every 20 ms.
class signal_watch {
 public:
  using clock = std::chrono::steady_clock;

  explicit signal_watch(team&);  ///< with the GIL
  ~signal_watch();
  signal_watch(signal_watch const&) = delete;
  signal_watch& operator=(signal_watch const&) = delete;

  /// Of the innermost run() of this thread; null on other threads.
  static signal_watch* of_this_thread() noexcept;
  /// Whether this thread is in a signal's handler that has come in the middle of a verb.
  static bool is_in_handler() noexcept;

  void begin_wait() noexcept { looks_ = 0; }
  /// Between two looks of a wait, without the GIL.
  void look() noexcept;

  /// Throws what a handler has raised, once.
  void raise_if_interrupted();
  bool was_interrupted() const noexcept { return since_.has_value(); }
  /// A handler has raised outside coset.
  void note_interrupt() noexcept;
  /// The body has caught what a handler has raised.
  void forget_interrupt() noexcept {
    if (!raised_) since_.reset();
  }
  /// Whether other ranks have had time to hear of the interrupt, and to end.
  bool has_waited_enough() const noexcept;

 private:
  void handle_signals();

  team& team_;
  bool const is_main_;
  signal_watch* const outer_;
  bool handling_ = false;
  std::uint32_t looks_ = 0;
  clock::time_point next_;
  std::unique_ptr<py::error_already_set> raised_;
  std::optional<clock::time_point> since_;  ///< when the run was interrupted
};

/// What a verb does while other threads have the GIL.
template <class Call>
auto without_gil(Call call) {
  signal_watch* const watch = signal_watch::of_this_thread();
  if (watch == nullptr) {
    gil_released const others_go_on;
    return call();
  }
  watch->begin_wait();
  try {
    gil_released const others_go_on;
    return call();
  } catch (error const&) {
    watch->raise_if_interrupted();
    throw;
  }
}

}  // namespace coset::python
