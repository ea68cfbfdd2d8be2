// SPDX-License-Identifier: Apache-2.0
// Loops of updates over arrays whose types are known at run time: indices are looked at, then updates scattered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "coset/coset.h"
#include "coset/team.hpp"
#include "coset/updates/options.hpp"

namespace coset::python {

/// Indices into one dimension of a target.
struct index_axis {
  void const* first = nullptr;
  std::ptrdiff_t stride = 0;  ///< in bytes
  coset_type type = 0;        ///< any integer's
  std::int64_t length = 0;    ///< of the dimension; indices of [-length, 0) count from its end
  std::int64_t weight = 1;    ///< elements of the target from one index to the next
};

/// The elements that updates go to: one axis of 32 or 64 bits as it is, all else as numbers made by flattened(). One type
/// for both widths: the question per update costs less than loops for each of them do.
struct update_keys {
  void const* first = nullptr;
  std::ptrdiff_t stride = 1;  ///< in indices
  std::int64_t length = 0;    ///< of the target
  bool is_wide = true;        ///< 64 bits
  bool is_plain = false;      ///< of 64 bits, one after the other, and none of them negative: sums have loops for these

  std::size_t operator()(std::size_t iteration) const noexcept {
    std::ptrdiff_t const at = static_cast<std::ptrdiff_t>(iteration) * stride;
    std::int64_t const key =
        is_wide ? static_cast<std::int64_t const*>(first)[at] : static_cast<std::int32_t const*>(first)[at];
    return static_cast<std::size_t>(key < 0 ? key + length : key);
  }
};

/// In the functions below `with` is a team that is not running, or null: then the calling thread is alone.

struct index_bounds {
  std::int64_t least, greatest;
};
/// Of at least one index. Larger ones than 64 bits with a sign hold count as the largest of these.
index_bounds bounds_of(team* with, index_axis const&, std::size_t count);
/// The first update whose index the dimension has not, where bounds_of() has told that there is one.
std::size_t first_outside(index_axis const&, std::size_t count);

/// Whether update_keys reads this axis as it is.
bool is_direct(index_axis const&);
/// Of such an axis, the target's only one.
update_keys direct(index_axis const&, index_bounds const&);
/// Positions in the target of indices that are all inside.
std::unique_ptr<std::int64_t[]> flattened(team* with, std::span<index_axis const>, std::size_t count);

/// Of those that coset.h numbers. What is added to it here is one of any_operation, too.
bool has_loop(coset_operation);

/// target[key] = operation(target[key], value) for all updates, by an operation that has a loop. Throws argument_error for a type that
/// has none.
struct scattered {
  void* target = nullptr;
  std::size_t length = 0;
  coset_type type = 0;
  coset_operation operation = COSET_PLUS;
  update_keys keys;
  void const* values = nullptr;
  std::ptrdiff_t value_stride = 1;  ///< in elements
  std::size_t count = 0;
  scatter_options options;
};
/// The operation is one that the type has. Throws what scatter_add() throws.
void scatter(team* with, scattered const&);
/// target[key] += 1 for all keys.
void count(team* with, std::span<std::int64_t> target, update_keys const&, std::size_t count);

}  // namespace coset::python
