// SPDX-License-Identifier: Apache-2.0
// A hook for tests at every wait and signal: delays there bring out orders that a quiet machine never shows.
#pragma once

namespace coset::runtime {

#ifdef COSET_PERTURB
void perturb() noexcept;  ///< defined by the test
#else
inline void perturb() noexcept {}
#endif

}  // namespace coset::runtime
