// SPDX-License-Identifier: Apache-2.0
// What every machine does to try the network, be the machines threads of one process or of several. Throws
// std::runtime_error where it gets anything but what a serial program would.
#pragma once

#include "network.hpp"

/// The calls of so many trees.
void grow_trees(over_coset::machine const& here, unsigned trees);

/// One machine's blocks do not fit: an exception on all of them. The network is of no use after that.
void call_wrongly(over_coset::machine const& here);
