// SPDX-License-Identifier: Apache-2.0
// Options of callers in structs that may grow, and in nanoseconds.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>

#include "base/text/format.hpp"
#include "coset/error.hpp"

namespace coset::capi {

/// The options given, or `defaults` if there are none. A shorter struct is an older caller's and keeps the defaults for
/// the rest; a longer one is a newer caller's, which may not ask for anything that this version does not know.
template <class Options>
Options options_of(Options const* given, Options defaults, char const* initialiser) {
  if (given == nullptr) return defaults;
  if (given->bytes < sizeof(std::size_t))
    throw argument_error(text::format("options of {} bytes: begin with {}", given->bytes, initialiser));
  auto const* const begin = reinterpret_cast<std::byte const*>(given);
  if (given->bytes > sizeof(Options) &&
      std::any_of(begin + sizeof(Options), begin + given->bytes, [](std::byte b) { return b != std::byte{}; }))
    throw argument_error(text::format("options of {} bytes, of which this version knows {}: the rest must be 0",
                                      given->bytes, sizeof(Options)));
  std::memcpy(&defaults, given, std::min(given->bytes, sizeof(Options)));
  return defaults;
}

/// One of the values 0 … most of an enumeration.
template <class Enum>
Enum choice_of(std::int32_t value, Enum most, char const* name) {
  if (value < 0 || value > static_cast<std::int32_t>(most))
    throw argument_error(text::format("there is no {} {}", name, value));
  return static_cast<Enum>(value);
}

/// At least 0, and small enough to be added to any time.
inline std::chrono::nanoseconds span_of(std::int64_t nanoseconds) {
  return std::chrono::nanoseconds(std::clamp<std::int64_t>(nanoseconds, 0, std::int64_t{1} << 60));
}

}  // namespace coset::capi
