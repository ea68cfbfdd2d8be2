// SPDX-License-Identifier: Apache-2.0
// Indices: their bounds, and the elements that they mean.
#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <type_traits>
#include <utility>

#include "bindings/python/updates/loops.hpp"
#include "bindings/python/updates/scatter.hpp"
#include "coset/detail/reduction.hpp"
#include "coset/operations.hpp"

namespace coset::python {
namespace {

template <class Index>
struct indices {
  std::byte const* first;
  std::ptrdiff_t stride;
  Index operator[](std::size_t k) const noexcept {
    return *reinterpret_cast<Index const*>(first + static_cast<std::ptrdiff_t>(k) * stride);
  }
};

/// run(indices) of the type that the axis has.
template <class Run>
auto by_type(index_axis const& axis, Run const& run) {
  auto const with = [&]<class Index>(std::type_identity<Index>) {
    return run(indices<Index>{static_cast<std::byte const*>(axis.first), axis.stride});
  };
  switch (axis.type) {
    case COSET_INT8:
      return with(std::type_identity<std::int8_t>());
    case COSET_INT16:
      return with(std::type_identity<std::int16_t>());
    case COSET_INT32:
      return with(std::type_identity<std::int32_t>());
    case COSET_UINT8:
      return with(std::type_identity<std::uint8_t>());
    case COSET_UINT16:
      return with(std::type_identity<std::uint16_t>());
    case COSET_UINT32:
      return with(std::type_identity<std::uint32_t>());
    case COSET_UINT64:
      return with(std::type_identity<std::uint64_t>());
    default:
      return with(std::type_identity<std::int64_t>());
  }
}

template <class Index>
std::int64_t clamped(Index index) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return std::cmp_greater(index, most) ? most : static_cast<std::int64_t>(index);
}

index_bounds united(index_bounds a, index_bounds b) {
  return {std::min(a.least, b.least), std::max(a.greatest, b.greatest)};
}

/// Extremes of a stretch element by element with those of the stretches before, by the kernels of collectives.
template <class Index>
struct extremes {
  static constexpr std::size_t length = 512;

  explicit extremes(Index const* first) {
    std::copy_n(first, length, least.begin());
    std::copy_n(first, length, greatest.begin());
  }
  void look(Index const* at) {
    fold(minimum(), least, at);
    fold(maximum(), greatest, at);
  }
  template <class Op>
  static void fold(Op const& op, std::array<Index, length>& into, Index const* at) {
    void* to = into.data();
    void const* const from[] = {into.data(), at};
    detail::table_of<Index, Op>().folds->for_sources(2)(&op, &to, 1, from, 2, length);
  }

  std::array<Index, length> least, greatest;
};

template <class Index>
index_bounds bounds_of(indices<Index> of, std::size_t begin, std::size_t end) {
  constexpr std::size_t length = extremes<Index>::length;
  Index least = of[begin], greatest = least;
  if (of.stride == sizeof(Index) && end - begin >= length) {
    auto const* const plain = reinterpret_cast<Index const*>(of.first);
    extremes<Index> seen(plain + begin);
    for (begin += length; begin + length <= end; begin += length) seen.look(plain + begin);
    least = *std::min_element(seen.least.begin(), seen.least.end());
    greatest = *std::max_element(seen.greatest.begin(), seen.greatest.end());
  }
  for (; begin < end; ++begin) {
    Index const index = of[begin];
    least = std::min(least, index);
    greatest = std::max(greatest, index);
  }
  return {clamped(least), clamped(greatest)};
}

}  // namespace

index_bounds bounds_of(team* with, index_axis const& axis, std::size_t count) {
  return by_type(axis, [&](auto const of) {
    index_bounds all = bounds_of(of, 0, 1);
    std::mutex uniting;
    share_out(with, count, [&](std::size_t begin, std::size_t end) {
      if (begin == end) return;
      index_bounds const here = bounds_of(of, begin, end);
      std::lock_guard const lock(uniting);
      all = united(all, here);
    });
    return all;
  });
}

std::size_t first_outside(index_axis const& axis, std::size_t count) {
  return by_type(axis, [&](auto const of) {
    std::size_t first = 0;
    while (first < count && clamped(of[first]) >= -axis.length && clamped(of[first]) < axis.length) ++first;
    return first;
  });
}

bool is_direct(index_axis const& axis) {
  return axis.weight == 1 &&
         ((axis.type == COSET_INT64 && axis.stride % 8 == 0) || (axis.type == COSET_INT32 && axis.stride % 4 == 0));
}

update_keys direct(index_axis const& axis, index_bounds const& bounds) {
  bool const is_wide = axis.type == COSET_INT64;
  std::ptrdiff_t const stride = axis.stride / (is_wide ? 8 : 4);
  return {axis.first, stride, axis.length, is_wide, is_wide && stride == 1 && bounds.least >= 0};
}

std::unique_ptr<std::int64_t[]> flattened(team* with, std::span<index_axis const> axes, std::size_t count) {
  auto positions = std::make_unique_for_overwrite<std::int64_t[]>(count);
  share_out(with, count, [&](std::size_t begin, std::size_t end) {
    std::fill(positions.get() + begin, positions.get() + end, 0);
    // Axis by axis in pieces that stay in a cache.
    constexpr std::size_t most = 4096;
    for (; begin < end; begin += most) {
      std::size_t const here = std::min(end, begin + most);
      for (index_axis const& axis : axes) {
        by_type(axis, [&](auto const of) {
          for (std::size_t k = begin; k < here; ++k) {
            auto const index = static_cast<std::int64_t>(of[k]);
            positions[k] += (index < 0 ? index + axis.length : index) * axis.weight;
          }
        });
      }
    }
  });
  return positions;
}

}  // namespace coset::python
