// SPDX-License-Identifier: Apache-2.0
// Around whatever touches memory of other ranks' callers.
#pragma once

#include "runtime/memory/lines.hpp"
#include "runtime/memory/perturb.hpp"
#include "runtime/memory/told_to_sanitizer.hpp"

namespace coset::runtime {

/// Marks this rank busy for as long as it lives; user operations may throw.
class busy_mark {
 public:
  explicit busy_mark(own_line& line) : line_(line) {
    line_.busy.exchange(1, std::memory_order_seq_cst);
    perturb();
  }
  ~busy_mark() {
    tell_release(&line_.busy);
    line_.busy.store(0, std::memory_order_release);  // partner: quiesce()
  }
  busy_mark(busy_mark const&) = delete;
  busy_mark& operator=(busy_mark const&) = delete;

 private:
  own_line& line_;
};

}  // namespace coset::runtime
