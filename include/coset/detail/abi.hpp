// SPDX-License-Identifier: Apache-2.0
// The inline namespace that all C++ names of coset lie in. It is part of each symbol's name, so that two versions may
// share a process, and so that a program does not link with a library that lays out its types in another way: the name
// of the missing symbol then says what differs.
#pragma once

#include <cstddef>  // and so the standard library's settings

#include "coset/detail/version.h"

// The options of compilers that change what lies behind the standard library's types. -D_GLIBCXX_ASSERTIONS does not.
#ifdef _GLIBCXX_DEBUG
#define COSET_ABI_DEBUG _with_GLIBCXX_DEBUG
#else
#define COSET_ABI_DEBUG
#endif
#if defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
#define COSET_ABI_STRINGS _with_GLIBCXX_USE_CXX11_ABI_0
#else
#define COSET_ABI_STRINGS
#endif
#ifdef _LIBCPP_VERSION
#define COSET_ABI_LIBRARY _with_libcxx
#else
#define COSET_ABI_LIBRARY
#endif

#define COSET_ABI_JOIN(major, minor, debug, strings, library) v##major##_##minor##debug##strings##library
#define COSET_ABI_NAME(...) COSET_ABI_JOIN(__VA_ARGS__)
#define COSET_ABI \
  COSET_ABI_NAME(COSET_VERSION_MAJOR, COSET_VERSION_MINOR, COSET_ABI_DEBUG, COSET_ABI_STRINGS, COSET_ABI_LIBRARY)
#define COSET_ABI_QUOTE(name) #name
#define COSET_ABI_QUOTED(name) COSET_ABI_QUOTE(name)
#define COSET_ABI_TEXT COSET_ABI_QUOTED(COSET_ABI)

namespace coset::inline COSET_ABI::detail {

struct padded {
  char first;
  long double second;
};
static_assert(sizeof(padded) == alignof(long double) + sizeof(long double),
              "coset's types are laid out without -fpack-struct");

}  // namespace coset::detail
