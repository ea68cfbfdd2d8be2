// SPDX-License-Identifier: Apache-2.0
// Long work: a line on a terminal says how far it is, and Ctrl-C ends it at once.
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <string>

namespace coset::cli {

/// One at a time. On standard error, if that is a terminal; what takes no time shows nothing.
class progress {
 public:
  progress();
  /// Erases the line.
  ~progress();
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;

  /// "7 of 40: ring". All may be unknown: 0.
  void at(std::size_t number, std::size_t all, std::string const& what);
  /// Before anything else is written to the terminal.
  void erase();

 private:
  std::chrono::steady_clock::time_point const begin_ = std::chrono::steady_clock::now();
  bool const is_seen_;
  std::array<struct sigaction, 2> before_ = {};  ///< what interrupts did
  bool is_shown_ = false;
};

}  // namespace coset::cli
