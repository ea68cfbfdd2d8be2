// SPDX-License-Identifier: Apache-2.0
// What cache lines and bytes cost on their way between cores: the parameters of the simulation, as data.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coset::cache {

/// What joins two hardware threads: the innermost of these.
enum class level : std::uint8_t { core, l3, node, package, machine };
inline constexpr std::size_t levels = 5;

/// Of one cache line between two cores that a level joins. Seconds.
struct line_costs {
  double read;   ///< until a reader has a copy of what another core holds
  double own;    ///< until a writer is the only one to hold it
  double serve;  ///< before the same copy can be given to the next reader
};

/// What bytes share. Of each but memory there is one in either direction.
enum class link_kind : std::uint8_t { core, l3, node, package, memory };
inline constexpr std::size_t link_kinds = 5;

/// A machine's parameters; the README of this folder says where the defaults come from.
struct costs {
  std::array<line_costs, levels> line{{{2e-9, 2e-9, 1e-9},
                                       {18e-9, 18e-9, 9e-9},
                                       {80e-9, 80e-9, 40e-9},
                                       {110e-9, 110e-9, 55e-9},
                                       {200e-9, 200e-9, 100e-9}}};
  std::array<double, link_kinds> link{100e9, 60e9, 100e9, 80e9, 250e9};  ///< bytes per second
  double memory = 110e-9;  ///< until a line is here from the memory of the core's own node
  double looks = 4;        ///< lines of flags that one core has on their way at once
  double streams = 24;     ///< the same of arrays: the processor sees those coming
  /// Lines that others have read, which one core takes from them at once, to store into them; of those that others have written
  /// `streams`.
  double stores = 4;
  double hands_over = 1;  ///< not 0: whoever reads what its owner has written becomes the owner, and may store into it
  double act = 3e-9;      ///< of each wait and signal beside what it does with memory
  double fold = 12e-9;    ///< of each fold
  double combine = 0.01e-9;  ///< a byte of each source of a fold
};

/// "l3.read", "package.link", "looks" … : every parameter by its name.
std::vector<std::string> names_of_costs();
/// Throws argument_error if there is no such parameter, or if it cannot have this value: links and lines at once are more
/// than 0, all others not less.
void set(costs&, std::string_view name, double value);
double get(costs const&, std::string_view name);

}  // namespace coset::cache
