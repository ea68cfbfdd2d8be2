// SPDX-License-Identifier: Apache-2.0
// Schedules for the eye: text, Graphviz, SVG.
#pragma once

#include <string>

#include "planning/schedule/core/schedule.hpp"
#include "planning/schedule/parts/part.hpp"

namespace coset::schedule {

/// Step by step, whom every rank reads from and whose contributions its new values hold.
std::string draw_text(schedule const& drawn);

/// What one rank of a part folds, copies and sends, step by step.
std::string draw_text(part const&, rank_t rank);

/// A Graphviz digraph: a row of ranks per step, in their order; an edge per message, labelled with its blocks and
/// coloured by whether they are folded or copied.
std::string draw_dot(schedule const& drawn);

/// The same as a picture: ranks from left to right, steps downwards, an arrow per message.
std::string draw_svg(schedule const& drawn);

}  // namespace coset::schedule
