// SPDX-License-Identifier: Apache-2.0
// What the shared library exports: declarations that carry COSET_API, in C and C++, and nothing else.
#ifndef COSET_VISIBILITY_H
#define COSET_VISIBILITY_H

#define COSET_API __attribute__((visibility("default")))

#endif
