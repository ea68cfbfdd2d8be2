// SPDX-License-Identifier: Apache-2.0
// All hosts' parts of a schedule, put together again.
#pragma once

#include <span>

#include "planning/schedule/parts/part.hpp"

namespace coset::schedule {

/// The whole of which these are the parts, in the order of their hosts, if hosts exchange values in the same steps.
/// Throws schedule_error if one reads what the others do not send. Cost: that of the whole.
schedule joined(std::span<part const> parts);

}  // namespace coset::schedule
