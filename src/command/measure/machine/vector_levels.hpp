// SPDX-License-Identifier: Apache-2.0
// One loop compiled for several vector widths and chosen once: what target_clones does, also for templates.
#pragma once

namespace coset::measure {

template <class Body, class Signature>
class vector_levels;

/// Body::run(arguments…) must be a static always-inline function. clones::best() is its version for this processor.
template <class Body, class... Arguments>
class vector_levels<Body, void(Arguments...)> {
 public:
  using function = void (*)(Arguments...);

#if defined(__x86_64__)
  static function best() {
    if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) return avx512;
    return __builtin_cpu_supports("avx2") ? avx2 : baseline;
  }

 private:
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] static void avx512(Arguments... a) { Body::run(a...); }
  [[gnu::target("avx2")]] static void avx2(Arguments... a) { Body::run(a...); }
#else
  static function best() { return baseline; }

 private:
#endif
  static void baseline(Arguments... a) { Body::run(a...); }
};

}  // namespace coset::measure
