// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace coset::test {

/// How often this program has called operator new.
std::size_t allocations() noexcept;

}  // namespace coset::test
