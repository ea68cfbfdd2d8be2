// SPDX-License-Identifier: Apache-2.0
// The fold loops of one instruction set, over any operation of operations-inl.hpp; included once per instruction set.
#if defined(COSET_KERNELS_FOLD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef COSET_KERNELS_FOLD_INL
#undef COSET_KERNELS_FOLD_INL
#else
#define COSET_KERNELS_FOLD_INL
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "coset/detail/fold.hpp"
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "runtime/kernels/operations-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace coset::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using detail::max_fused_sources;

/// With more sources than this, code of its own for one destination gains nothing.
inline constexpr std::uint32_t most_for_one_destination = 8;

/// Folds without vectors for a processor that has none of the others' instructions: small, old or rare.
inline constexpr bool last_resort = one_lane && (HWY_TARGETS & ~HWY_TARGET) != 0;

/// Code of its own for every number of sources is for the elements that most programs reduce.
template <class T>
inline constexpr bool often_used = !last_resort && (std::is_same_v<T, float> || std::is_same_v<T, double> ||
                                                    std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>);
/// So it is for sums of gradients; minima of 16-bit floats would take as much code as those of all other elements.
template <class Operation, class T>
inline constexpr bool often_widened = !last_resort && half_float<T> && Operation::widens;
template <class Operation, class T>
inline constexpr std::uint32_t fused_sources = std::min(Operation::most_fused, often_used<T> ? max_fused_sources
                                                                               : half_float<T> && !last_resort ? 4u
                                                                                                               : 2u);

/// The loops go by cache lines; what is left of a line goes by its halves, down to one element. Nothing beyond the
/// arrays is read or written, not even under a mask: neighbours belong to other threads.
inline constexpr std::size_t line_bytes = 64;
template <class T>
inline constexpr std::size_t line_elements = one_lane ? 1 : line_bytes / sizeof(T);

/// What a fold reads: arrays of T, `offset` elements into each.
template <class T>
struct source_list {
  void const* const* from;
  std::size_t offset = 0;
  HWY_INLINE T const* operator[](std::size_t k) const { return static_cast<T const*>(from[k]) + offset; }
};

/// Where a fold goes: several arrays likewise, or one, known to the compiler as one.
template <class T>
struct several_destinations {
  void* const* to;
  std::uint32_t count;
  std::size_t offset = 0;
  HWY_INLINE std::uint32_t size() const { return count; }
  HWY_INLINE T* operator[](std::uint32_t k) const { return static_cast<T*>(to[k]) + offset; }
};
template <class T>
struct one_destination {
  T* to;
  static constexpr std::uint32_t size() { return 1; }
  HWY_INLINE T* operator[](std::uint32_t) const { return to; }
};

/// The sources in registers: stores may not make the compiler read their addresses again.
template <class T, std::size_t Sources>
using source_array = std::array<T const*, Sources>;

template <class T, std::size_t... Index>
HWY_INLINE source_array<T, sizeof...(Index)> loaded(source_list<T> from, std::index_sequence<Index...>) {
  return {from[Index]...};
}

/// How a vector is stored: into the caches or, a full line at a time, past them.
struct store_cached {
  template <class Vector, class Tag, class T>
  static HWY_INLINE void store(Vector value, Tag d, T* to) {
    store_lanes(value, d, to);
  }
};
struct store_streaming {
  template <class Vector, class Tag, class T>
  static HWY_INLINE void store(Vector value, Tag d, T* to) {
    hn::Stream(value, d, to);
  }
};

/// One vector of s0 ∘ s1 ∘ …, strictly left to right.
template <class Operation, class Tag, class T, std::size_t First, std::size_t... Rest>
HWY_INLINE hn::Vec<Tag> fold_vector(Tag d, source_array<T, 1 + sizeof...(Rest)> const& from, std::size_t i,
                                    std::index_sequence<First, Rest...>) {
  if constexpr (sizeof...(Rest) == 0) {
    return load_lanes(d, from[0] + i);
  } else {
    auto folded = Operation::enter(load_lanes(d, from[0] + i));
    ((folded = Operation::combine(d, folded, Operation::enter(load_lanes(d, from[Rest] + i)))), ...);
    return Operation::leave(d, folded);
  }
}

/// `Elements` elements from `first` on, by the widest vectors that they fill.
template <class Operation, class Store, std::size_t Elements, class T, std::size_t Sources, class Destinations>
HWY_INLINE void fold_block(source_array<T, Sources> const& from, Destinations to, std::size_t first) {
  hn::CappedTag<lane_of<T>, Elements> const d;
  for (std::size_t i = 0; i < Elements; i += hn::Lanes(d)) {
    auto const folded = fold_vector<Operation>(d, from, first + i, std::make_index_sequence<Sources>());
    for (std::uint32_t k = 0; k < to.size(); ++k) Store::store(folded, d, to[k] + first + i);
  }
}

/// All full lines; returns the elements done.
template <class Operation, class Store, class T, std::size_t Sources, class Destinations>
HWY_INLINE std::size_t fold_lines(source_array<T, Sources> const& from, Destinations to, std::size_t count) {
  constexpr std::size_t line = line_elements<T>;
  std::size_t done = 0;
  for (; count - done >= line; done += line) fold_block<Operation, Store, line>(from, to, done);
  return done;
}

/// What follows the full lines: one block for each bit of its length.
template <class Operation, std::size_t Elements, class T, std::size_t Sources, class Destinations>
HWY_INLINE void fold_rest(source_array<T, Sources> const& from, Destinations to, std::size_t done, std::size_t count) {
  if constexpr (Elements > 0) {
    if ((count & Elements) != 0) {
      fold_block<Operation, store_cached, Elements>(from, to, done);
      done += Elements;
    }
    fold_rest<Operation, Elements / 2>(from, to, done, count);
  }
}

template <class Operation, class T, std::size_t Sources, class Destinations>
HWY_INLINE void fold_all(source_array<T, Sources> const& from, Destinations to, std::size_t count) {
  std::size_t const done = fold_lines<Operation, store_cached>(from, to, count);
  fold_rest<Operation, line_elements<T> / 2>(from, to, done, count);
}

/// Folds of `T` into the caches.
template <class Operation, class T>
struct cached_folds {
  static constexpr std::uint32_t most_fused = fused_sources<Operation, T>;

  /// `count` elements from the offsets on. Six scalars, because structs would pass over the stack: 10 ns.
  template <std::size_t Sources>
  static HWY_NOINLINE void to_several(void* const* to, std::uint32_t destinations, std::size_t to_offset,
                                      void const* const* from, std::size_t from_offset, std::size_t count) {
    auto const sources = loaded(source_list<T>{from, from_offset}, std::make_index_sequence<Sources>());
    fold_all<Operation>(sources, several_destinations<T>{to, destinations, to_offset}, count);
  }

  /// The fold_function for exactly `Sources` sources.
  template <std::size_t Sources>
  static void exactly(void const*, void* const* to, std::uint32_t destinations, void const* const* from, std::uint32_t,
                      std::size_t count) {
    if constexpr (Sources <= most_for_one_destination && (often_used<T> || often_widened<Operation, T>)) {
      if (destinations == 1) {
        auto const all = loaded(source_list<T>{from}, std::make_index_sequence<Sources>());
        return fold_all<Operation>(all, one_destination<T>{static_cast<T*>(to[0])}, count);
      }
    }
    to_several<Sources>(to, destinations, 0, from, 0, count);
  }

  static HWY_INLINE void finish() {}
};

/// Folds of `T` past the caches, as far as there are full lines at the same indices of all destinations.
template <class Operation, class T>
struct streaming_folds {
  static constexpr std::uint32_t most_fused = std::min(fused_sources<Operation, T>, most_for_one_destination);

  template <std::size_t Sources>
  static HWY_NOINLINE void to_several(void* const* to, std::uint32_t destinations, std::size_t to_offset,
                                      void const* const* from, std::size_t from_offset, std::size_t count) {
    auto const around = cached_folds<Operation, T>::template to_several<Sources>;
    several_destinations<T> const starts{to, destinations, to_offset};
    if (!lines_coincide(starts)) return around(to, destinations, to_offset, from, from_offset, count);

    std::size_t const before = std::min(bytes_to_line(starts[0]) / sizeof(T), count);
    around(to, destinations, to_offset, from, from_offset, before);
    auto const sources = loaded(source_list<T>{from, from_offset + before}, std::make_index_sequence<Sources>());
    several_destinations<T> const lines{to, destinations, to_offset + before};
    std::size_t const done = before + fold_lines<Operation, store_streaming>(sources, lines, count - before);
    around(to, destinations, to_offset + done, from, from_offset + done, count - done);
  }

  /// The fold_function for exactly `Sources` sources.
  template <std::size_t Sources>
  static void exactly(void const*, void* const* to, std::uint32_t destinations, void const* const* from, std::uint32_t,
                      std::size_t count) {
    to_several<Sources>(to, destinations, 0, from, 0, count);
    finish();
  }

  /// Streamed stores are not ordered by a release store after them.
  static HWY_INLINE void finish() { hwy::FlushStream(); }

 private:
  static HWY_INLINE std::size_t bytes_to_line(void const* address) {
    return (0 - reinterpret_cast<std::uintptr_t>(address)) % line_bytes;
  }

  static HWY_INLINE bool lines_coincide(several_destinations<T> to) {
    for (std::uint32_t k = 1; k < to.size(); ++k) {
      if (bytes_to_line(to[k]) != bytes_to_line(to[0])) return false;
    }
    return to.size() != 0;
  }
};

/// More sources than one pass takes: partial results stay in a tile that the first-level cache holds. `Folds` is
/// cached_folds or streaming_folds, for the last pass.
template <class Operation, class T, class Folds>
class tiled_fold {
 public:
  /// The fold_function for more than `fused` sources.
  static void run(void const*, void* const* to, std::uint32_t destinations, void const* const* from,
                  std::uint32_t sources, std::size_t count) {
    for (std::size_t done = 0; done < count; done += elements) {
      fold_tile({from, done}, sources, {to, destinations, done}, std::min(elements, count - done));
    }
    Folds::finish();
  }

 private:
  static constexpr std::size_t elements = 4096 / sizeof(T);
  static constexpr std::uint32_t fused = Folds::most_fused;
  static constexpr std::uint32_t joining = fused - 1;  // beside the tile, in one pass

  /// last_pass[k]: the tile and k more sources.
  static constexpr auto last_pass = []<std::size_t... Index>(std::index_sequence<Index...>) {
    return std::array{Folds::template to_several<1 + Index>...};
  }
  (std::make_index_sequence<fused>());

  /// A destination may be a source that is folded late, so nothing is stored to any before the last pass.
  static void fold_tile(source_list<T> from, std::uint32_t sources, several_destinations<T> to, std::size_t count) {
    constexpr auto partial_pass = cached_folds<Operation, T>::template to_several<fused>;
    alignas(line_bytes) T tile[elements];
    void* const partial[] = {tile};
    partial_pass(partial, 1, 0, from.from, from.offset, count);

    std::array<void const*, fused> joined{tile};
    for (std::uint32_t folded = fused; folded < sources;) {
      std::uint32_t const more = std::min(joining, sources - folded);
      for (std::uint32_t k = 0; k < more; ++k) joined[1 + k] = from[folded + k];
      folded += more;
      if (folded == sources) return last_pass[more](to.to, to.count, to.offset, joined.data(), 0, count);
      partial_pass(partial, 1, 0, joined.data(), 0, count);
    }
  }
};

}  // namespace coset::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
