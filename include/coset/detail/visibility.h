// SPDX-License-Identifier: Apache-2.0
// What the shared library exports: declarations that carry COSET_API, in C and C++, and nothing else.
#ifndef COSET_VISIBILITY_H
#define COSET_VISIBILITY_H

#ifndef __linux__
#error "coset needs Linux (futex, membarrier, memory policies); macOS, Windows and FreeBSD are not supported"
#endif

#define COSET_API __attribute__((visibility("default")))

#endif
