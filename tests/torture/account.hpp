// SPDX-License-Identifier: Apache-2.0
// What a case tells its driver before it ends, however it ends: memory that both map.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace coset::torture {

enum class outcome : std::uint8_t { none, right, words, wrong };  // ever worse

struct account {
  std::atomic<bool> struck = false;  ///< the fault has begun
  std::atomic<outcome> said = outcome::none;
  char text[1000] = {};

  /// The worst counts, and its first words. Any thread.
  void tell(outcome what, std::string_view words) noexcept {
    outcome before = said.load();
    while (before < what && !said.compare_exchange_weak(before, what)) {
    }
    if (before >= what) return;
    std::size_t const length = std::min(words.size(), sizeof text - 1);
    std::memcpy(text, words.data(), length);
    text[length] = '\0';
  }
  void wrong(std::string_view words) noexcept { tell(outcome::wrong, words); }
};

}  // namespace coset::torture
