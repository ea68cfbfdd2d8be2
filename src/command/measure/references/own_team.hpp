// SPDX-License-Identifier: Apache-2.0
// coset's teams as they are measured.
#pragma once

#include <coset/team.hpp>

#include <cstddef>
#include <vector>

#include "command/measure/machine/parking.hpp"

namespace coset::measure {

/// Ranks that share processors share them as they were handed out: compactly.
inline team_options team_on(std::vector<unsigned> const& processors) {
  auto const ranks = static_cast<rank_t>(processors.size());
  if (!have_one_each(processors)) return {.ranks = ranks};
  return {.ranks = ranks, .processors = processors};
}

/// Calls of a shape before it is timed: by then ranks have learned which storage serves it.
inline constexpr std::size_t calls_until_learned = 64;

}  // namespace coset::measure
