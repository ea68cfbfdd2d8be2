// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace coset::test {

/// How often this program has called operator new.
std::size_t allocations() noexcept;
/// What it has of that and not given back, as malloc counts.
std::size_t live_bytes() noexcept;

}  // namespace coset::test
