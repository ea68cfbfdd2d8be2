// SPDX-License-Identifier: Apache-2.0
// Ctrl-C during a measurement: results so far are kept.
#pragma once

namespace coset::cli {

/// Thrown between two rounds of a measurement that is to stop.
struct interrupted {};

/// From here on the first SIGINT or SIGTERM is remembered; the second ends the program as it always does.
void remember_interrupts();

/// Throws interrupted if there was one. For progress callbacks, which run between rounds while all other threads sleep.
void stop_if_interrupted();

/// As shells report it: 128 plus the signal's number, 130 after Ctrl-C. 0: there was no signal.
int interrupted_status();

}  // namespace coset::cli
