// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure/failure.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <new>
#include <thread>
#include <utility>

#include "runtime/memory/told_to_sanitizer.hpp"

namespace coset::runtime {
namespace {

enum : std::uint32_t { none, being_written, written };

}  // namespace

char const* what_of(std::exception_ptr const& thrown) noexcept {
  try {
    std::rethrow_exception(thrown);
  } catch (std::exception const& e) {
    return e.what();
  } catch (...) {
    return "something that is no std::exception";
  }
}

words::words(char const* form, ...) noexcept {
  std::va_list values;
  va_start(values, form);
  std::vsnprintf(text_.data(), text_.size(), form, values);
  va_end(values);
}

void failure::record(cause why, std::string_view reason, std::exception_ptr original) noexcept {
  std::uint32_t expected = none;
  if (!record_.state.compare_exchange_strong(expected, being_written, std::memory_order_relaxed)) return;
  record_.cause = static_cast<std::uint32_t>(why);
  std::size_t const length = std::min(reason.size(), record_.reason.size() - 1);
  std::copy_n(reason.begin(), length, record_.reason.begin());
  record_.reason[length] = '\0';
  {
    std::lock_guard const lock(writing_);
    original_ = std::move(original);
  }
  tell_release(&record_.state);
  record_.state.store(written, std::memory_order_release);  // partner: raise()
}

std::pair<cause, char const*> failure::first() const noexcept {
  while (record_.state.load(std::memory_order_acquire) != written) std::this_thread::yield();
  tell_acquire(&record_.state);
  return {static_cast<cause>(record_.cause), record_.reason.data()};
}

void failure::raise() const try {
  auto const [why, reason] = first();
  switch (why) {
    case cause::mismatch:
      throw mismatch_error(reason);
    case cause::argument:
      throw argument_error(reason);
    case cause::timed_out:
      throw timed_out(reason);
    case cause::messages:
      throw mpi::error(reason);
    case cause::memory:
      throw out_of_memory(reason);
    case cause::aborted:
      break;
  }
  throw aborted(reason);
} catch (std::bad_alloc const&) {  // not even for the words
  throw out_of_memory(record_.reason.data());
}

std::exception_ptr failure::original() const {
  std::lock_guard const lock(writing_);
  return original_;
}

void failure::clear() noexcept {
  forget_original();
  record_.state.store(none, std::memory_order_relaxed);  // no rank runs: they see it by what begins their next run
}

void failure::forget_original() noexcept {
  std::lock_guard const lock(writing_);
  original_ = nullptr;
}

}  // namespace coset::runtime
