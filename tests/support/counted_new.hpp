// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace coset::test {

/// How often this program has called operator new.
std::size_t allocations() noexcept;
/// What it has of that and not given back, as malloc counts.
std::size_t live_bytes() noexcept;
/// The most of it since begin_most() or the beginning.
std::size_t most_live_bytes() noexcept;
void begin_most() noexcept;

enum class shortage { passing, lasting };
/// The calling thread's next call but so many throws std::bad_alloc: once, or as all later ones until the next question.
void fail_allocation(std::size_t after, shortage = shortage::passing) noexcept;
/// Whether one has; none will from now on.
bool allocation_failed() noexcept;

/// Whether every call of other threads throws std::bad_alloc from now on.
void fail_allocations_of_other_threads(bool) noexcept;

}  // namespace coset::test
