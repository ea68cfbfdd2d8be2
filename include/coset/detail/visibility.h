// SPDX-License-Identifier: Apache-2.0
// What the shared library exports: declarations that carry COSET_API, in C and C++, and nothing else.
#ifndef COSET_VISIBILITY_H
#define COSET_VISIBILITY_H

#ifndef __linux__
#error "coset needs Linux (futex, membarrier, memory policies); macOS, Windows and FreeBSD are not supported"
#endif

#define COSET_API __attribute__((visibility("default")))

// What a header defines and what holds a state, as a variable or inside a function. Each library or program of a process
// has its own, as it has its own copy of coset, perhaps; compilers would make one of all.
#define COSET_PER_COPY __attribute__((visibility("hidden")))

#endif
