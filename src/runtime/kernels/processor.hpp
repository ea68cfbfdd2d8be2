// SPDX-License-Identifier: Apache-2.0
// What the processor can run, asked of itself. Highway's library would tell, too, but its static initialisers take 3 ms of every
// program's start, and programs would need it where they run.
#pragma once

#include <cstdint>

namespace coset::kernels {

/// Bits of Highway's HWY_TARGETS: what the processor has, and the system saves the registers of, with what the compiler takes for
/// granted. Targets of later versions of Highway that are not asked for here are not used.
std::int64_t supported_targets();

/// Whether copies by string instructions, as glibc's memcpy has them, gain where other cores have the lines: on Intel's cores with
/// fast short ones (bench/kernels/README.md), and on Zen 5 (docs/figures.md). On Zen 3 and 4 they may lose much (glibc's bug 30994). Known as soon as targets have
/// been asked for.
extern bool copies_by_strings;

}  // namespace coset::kernels
