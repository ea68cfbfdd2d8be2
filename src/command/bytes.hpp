// SPDX-License-Identifier: Apache-2.0
// Byte sizes and times as people write them.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>

namespace coset::cli {

/// "424 B", "64 KiB", "1.5 GiB".
inline std::string bytes_for_people(std::uint64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return fmt::format("{:.3g} {}", value, units[unit]);
}

inline std::string time_for_people(double ns) {
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.3g} µs", ns / 1e3);
  return ns < 1e9 ? fmt::format("{:.3g} ms", ns / 1e6) : fmt::format("{:.3g} s", ns / 1e9);
}

}  // namespace coset::cli
