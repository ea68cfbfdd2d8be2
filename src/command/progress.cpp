// SPDX-License-Identifier: Apache-2.0
#include "command/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace coset::cli {
namespace {

constexpr std::string_view begin_of_line = "\r\033[K";
constexpr std::size_t widest = 70;

void write_at_once(std::string_view text) { (void)!write(STDERR_FILENO, text.data(), text.size()); }

/// The signal ends the program as it always does, since its handler is gone; but on an empty line.
extern "C" void erase_and_end(int number) {
  write_at_once(begin_of_line);
  (void)std::raise(number);
}

constexpr std::array interrupts{SIGINT, SIGTERM};

}  // namespace

progress::progress() : is_seen_(isatty(STDERR_FILENO) == 1) {
  if (!is_seen_) return;
  struct sigaction action = {};
  action.sa_handler = erase_and_end;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (std::size_t k = 0; k < interrupts.size(); ++k) {
    sigaction(interrupts[k], nullptr, &before_[k]);
    // Who ignores them, as what runs in the background does, goes on to; and whoever has a handler knows why.
    if (before_[k].sa_handler == SIG_DFL) sigaction(interrupts[k], &action, nullptr);
  }
}

progress::~progress() {
  erase();
  if (is_seen_)
    for (std::size_t k = 0; k < interrupts.size(); ++k) sigaction(interrupts[k], &before_[k], nullptr);
}

void progress::at(std::size_t number, std::size_t all, std::string const& what) {
  constexpr std::chrono::milliseconds no_time(300);
  if (!is_seen_ || std::chrono::steady_clock::now() - begin_ < no_time) return;
  std::string line = all == 0 ? fmt::format("{}: {}", number, what) : fmt::format("{} of {}: {}", number, all, what);
  line.resize(std::min(line.size(), widest));
  write_at_once(std::string(begin_of_line) + line);
  is_shown_ = true;
}

void progress::erase() {
  if (is_shown_) write_at_once(begin_of_line);
  is_shown_ = false;
}

}  // namespace coset::cli
