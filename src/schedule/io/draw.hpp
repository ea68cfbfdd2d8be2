// SPDX-License-Identifier: Apache-2.0
// Schedules for the eye: text, Graphviz, SVG.
#pragma once

#include <string>

#include "schedule/core/schedule.hpp"

namespace coset::schedule {

/// Step by step, whom every rank reads from and whose contributions its new values hold.
std::string draw_text(schedule const& drawn);

/// A Graphviz digraph: a node per rank and step, an edge per message, labelled with its blocks.
std::string draw_dot(schedule const& drawn);

/// The same as a picture: ranks from left to right, steps downwards, a line per message.
std::string draw_svg(schedule const& drawn);

}  // namespace coset::schedule
