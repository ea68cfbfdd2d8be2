// SPDX-License-Identifier: Apache-2.0
// What each C++ header includes first: the version, and one error instead of hundreds where it cannot be compiled.
#pragma once

#include "coset/detail/version.h"

#if __cplusplus < 202002L
#error "coset needs C++20: compile with -std=c++20 or later"
// Compilers go on after #error, but not without a header.
#include "coset/needs/c++20"
#endif

#if !defined(__cpp_exceptions) || !defined(__cpp_rtti)
#error "coset's C++ headers need exceptions and RTTI: leave out -fno-exceptions and -fno-rtti, or use the C interface"
#include "coset/needs/exceptions_and_rtti"
#endif

#include "coset/detail/abi.hpp"
