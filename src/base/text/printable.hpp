// SPDX-License-Identifier: Apache-2.0
// What strangers wrote and is shown on terminals and in pictures.
#pragma once

#include <algorithm>
#include <string_view>

namespace coset::text {

/// Whether there are no control characters.
inline bool is_printable(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

}  // namespace coset::text
