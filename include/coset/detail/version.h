// SPDX-License-Identifier: Apache-2.0
// The version of these headers, for C and C++; the build takes its own from here.
#ifndef COSET_VERSION_H
#define COSET_VERSION_H

#define COSET_VERSION_MAJOR 0
#define COSET_VERSION_MINOR 1
#define COSET_VERSION_PATCH 0
#define COSET_VERSION (COSET_VERSION_MAJOR * 10000 + COSET_VERSION_MINOR * 100 + COSET_VERSION_PATCH)

#endif
