// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/signals.hpp"

#include <string>

#include "base/text/format.hpp"
#include "runtime/memory/waiting.hpp"

namespace coset::python {
namespace {

/// A look takes the GIL, for which another rank's body may let this one wait 5 ms.
constexpr std::chrono::milliseconds between_handlings(20);
/// A rank that waits in a collective hears of an interrupt within milliseconds; a body that computes, or waits for something
/// else, is not waited for.
constexpr std::chrono::milliseconds time_to_end(50);
constexpr std::uint32_t looks_per_clock = 16;

thread_local signal_watch* innermost = nullptr;
/// threading.main_thread, never freed.
PyObject* main_thread = nullptr;

bool this_is_the_main_thread() {
  return py::handle(main_thread)().attr("ident").cast<unsigned long>() == PyThread_get_thread_ident();
}

/// Called by every waiting thread of this process, most of which have no watch.
bool look_for_signals() noexcept {
  if (innermost != nullptr) innermost->look();
  return false;
}

}  // namespace

void prepare_signals() {
  main_thread = py::object(py::module_::import("threading").attr("main_thread")).release().ptr();
  runtime::meanwhile.store(look_for_signals, std::memory_order_release);
}

signal_watch::signal_watch(team& of) : team_(of), is_main_(this_is_the_main_thread()), outer_(innermost) {
  if (is_main_) innermost = this;
}

signal_watch::~signal_watch() {
  if (is_main_) innermost = outer_;
}

signal_watch* signal_watch::of_this_thread() noexcept { return innermost; }
bool signal_watch::is_in_handler() noexcept { return innermost != nullptr && innermost->handling_; }

void signal_watch::look() noexcept {
  if (++looks_ % looks_per_clock != 0 || raised_ || handling_) return;
  auto const now = clock::now();
  if (looks_ == looks_per_clock) next_ = now + between_handlings;
  if (now < next_) return;
  handle_signals();
  next_ = clock::now() + between_handlings;
}

void signal_watch::handle_signals() {
  gil_held const held;
  handling_ = true;
  if (PyErr_CheckSignals() != 0) {
    raised_ = std::make_unique<py::error_already_set>();
    note_interrupt();
    team_.abort(text::format("rank 0 was interrupted by a signal: {}",
                             py::str(raised_->type().attr("__name__")).cast<std::string>()));
  }
  handling_ = false;
}

void signal_watch::raise_if_interrupted() {
  if (!raised_) return;
  auto const raised = std::move(raised_);
  throw py::error_already_set(*raised);
}

void signal_watch::note_interrupt() noexcept {
  if (!since_) since_ = clock::now();
}

bool signal_watch::has_waited_enough() const noexcept { return since_ && clock::now() - *since_ > time_to_end; }

}  // namespace coset::python
