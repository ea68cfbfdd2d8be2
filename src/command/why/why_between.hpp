// SPDX-License-Identifier: Apache-2.0
// Why a call between hosts gets its plan.
#pragma once

#include <string>

#include "command/formats.hpp"
#include "command/shown/networks/network.hpp"
#include "planning/choice/choose.hpp"

namespace coset::cli {

/// The hosts of a network, places with consecutive ranks, and of a tree its switches. Throws argument_error if there are none.
choice::host_facts hosts_of(schedule::network_file const&, std::string const& name);

/// The ways to exchange, priced term by term, and the chosen one; as a table or as JSON. `all`: not only the cheapest. With
/// the links between the hosts, also what they take where messages share these, and which is the fastest then.
std::string why_between(choice::question const&, formats const&, bool all, schedule::network const* links = nullptr);

}  // namespace coset::cli
