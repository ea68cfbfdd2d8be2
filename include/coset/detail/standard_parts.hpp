// SPDX-License-Identifier: Apache-2.0
// What our interfaces name of <chrono>, <complex> and <ranges>: clocks and durations, std::complex as a type, and what says
// that something is an array. In libstdc++ these three lead to streams, calendars and views, which take as long to read as
// half of all the rest.
#pragma once

#include <span>

#if defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE >= 12 && !_GLIBCXX_INLINE_VERSION
// A lock may wait for a duration and a span is made from any range: <shared_mutex> and <span> have both as a whole.
#include <shared_mutex>
// Programs may declare nothing in std, says the standard; these versions of libstdc++ declare it so and not otherwise, and
// whoever has complex numbers includes <complex>.
namespace std {
template <class T>
class complex;
}
#else
#include "coset/detail/whole_standard.hpp"
#endif
