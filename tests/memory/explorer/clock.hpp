// SPDX-License-Identifier: Apache-2.0
// Included first in all explored code: the processor's clock is the explorer's.
#pragma once

extern "C" unsigned long long coset_explored_ticks() noexcept;
#define __builtin_ia32_rdtsc() coset_explored_ticks()
