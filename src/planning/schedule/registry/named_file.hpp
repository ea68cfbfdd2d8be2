// SPDX-License-Identifier: Apache-2.0
// Schedules from files under a name like any other's: plan(file=FILE).
#pragma once

#include <string>
#include <vector>

#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {

std::vector<named_algorithm> file_algorithms();

/// The algorithm, whatever becomes of the file that it names: plan(file=F) as plan(content=HASH,file=F), read and proved.
/// Others, and one whose content is given, as they are. Throws schedule_error for a file that cannot be read, is a pipe,
/// too long or no Plan JSON, or whose plan is refuted: that is wrong for every call, ranks and verbs are not looked at.
/// Cost: reads the file; what it reads is kept for make() until the process ends, once for each content.
algorithm pinned(algorithm);

/// What names the same schedule on every host: the text, without the name of a file whose content is given.
std::string identity(algorithm const&);

}  // namespace coset::schedule
