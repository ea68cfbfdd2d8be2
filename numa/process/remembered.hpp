// SPDX-License-Identifier: Apache-2.0
// Machines that have been read before.
#pragma once

#include <functional>

#include "coset/topology.hpp"
#include "numa/mask.hpp"

namespace coset::numa {

/// What `read` reads of this system for these processors; read once for each mask and set of nodes whose memory may be used.
/// The kernel takes from both what a control group does not permit and what has been switched off, so that a change is another
/// mask or another set. Hardware that is plugged in while the process runs, within both, is not noticed.
/// Any thread. Cost: a system call and a copy where it is known, some ms where not. Throws what `read` throws.
topology remembered(mask const& usable, std::function<topology()> const& read);

}  // namespace coset::numa
