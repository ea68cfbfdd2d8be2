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
#include "kernels/operation_sets.hpp"
#include "kernels/operations-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace coset::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using detail::max_fused_sources;

/// The loops go by cache lines; what is left of a line goes by its halves, down to one element. Nothing beyond the
/// arrays is read or written, not even under a mask: neighbours belong to other threads.
inline constexpr std::size_t line_bytes = 64;
template <class T>
inline constexpr std::size_t line_elements = line_bytes / sizeof(T);

HWY_INLINE std::size_t bytes_to_line(void const* address) {
  return (0 - reinterpret_cast<std::uintptr_t>(address)) % line_bytes;
}

/// Ordinary stores.
struct cached {
  template <class Vector, class Tag, class T>
  static HWY_INLINE void store_line(Vector value, Tag d, T* to) {
    hn::StoreU(value, d, to);
  }
  static HWY_INLINE void finish() {}
};

/// Stores past the caches, into aligned lines. They are not ordered by a release store, hence the fence at the end.
struct streaming {
  template <class Vector, class Tag, class T>
  static HWY_INLINE void store_line(Vector value, Tag d, T* to) {
    hn::Stream(value, d, to);
  }
  static HWY_INLINE void finish() { hwy::FlushStream(); }
};

/// Where a fold goes: one array, known to the compiler as one; or several, `offset` elements into each.
template <class T>
struct one_destination {
  T* to;
  static constexpr std::uint32_t size() { return 1; }
  HWY_INLINE T* operator[](std::uint32_t) const { return to; }
};
template <class T>
struct several_destinations {
  void* const* to;
  std::uint32_t count;
  std::size_t offset;
  HWY_INLINE std::uint32_t size() const { return count; }
  HWY_INLINE T* operator[](std::uint32_t k) const { return static_cast<T*>(to[k]) + offset; }
};

template <class T, std::size_t Sources>
using source_array = std::array<T const*, Sources>;

template <class T, std::size_t... Index>
HWY_INLINE source_array<T, sizeof...(Index)> sources_at(void const* const* from, std::size_t offset,
                                                        std::index_sequence<Index...>) {
  return {static_cast<T const*>(from[Index]) + offset...};
}

/// One vector of s0 ∘ s1 ∘ …, strictly left to right.
template <class Operation, class Tag, class T, std::size_t First, std::size_t... Rest>
HWY_INLINE hn::Vec<Tag> fold_vector(Tag d, source_array<T, 1 + sizeof...(Rest)> const& from, std::size_t i,
                                    std::index_sequence<First, Rest...>) {
  if constexpr (sizeof...(Rest) == 0) {
    return hn::LoadU(d, from[0] + i);
  } else {
    auto folded = Operation::enter(hn::LoadU(d, from[0] + i));
    ((folded = Operation::combine(d, folded, Operation::enter(hn::LoadU(d, from[Rest] + i)))), ...);
    return Operation::leave(d, folded);
  }
}

/// `Elements` elements from `first` on, by the widest vectors that they fill.
template <class Operation, class Store, std::size_t Elements, class T, std::size_t Sources, class Destinations>
HWY_INLINE void fold_block(source_array<T, Sources> const& from, Destinations to, std::size_t first) {
  hn::CappedTag<T, Elements> const d;
  for (std::size_t i = first; i < first + Elements; i += hn::Lanes(d)) {
    auto const folded = fold_vector<Operation>(d, from, i, std::make_index_sequence<Sources>());
    for (std::uint32_t k = 0; k < to.size(); ++k) Store::store_line(folded, d, to[k] + i);
  }
}

/// Fewer than 2 · `Elements` elements from `first` on: one block for each bit of `count`.
template <class Operation, std::size_t Elements, class T, std::size_t Sources, class Destinations>
HWY_INLINE void fold_part(source_array<T, Sources> const& from, Destinations to, std::size_t first,
                          std::size_t count) {
  if ((count & Elements) != 0) {
    fold_block<Operation, cached, Elements>(from, to, first);
    first += Elements;
  }
  if constexpr (Elements > 1) fold_part<Operation, Elements / 2>(from, to, first, count);
}

template <class Operation, class Store, class T, std::size_t Sources, class Destinations>
HWY_INLINE void fold_lines(source_array<T, Sources> const& from, Destinations to, std::size_t first,
                           std::size_t count) {
  constexpr std::size_t line = line_elements<T>;
  for (; count >= line; count -= line, first += line) fold_block<Operation, Store, line>(from, to, first);
  fold_part<Operation, line / 2>(from, to, first, count);
}

/// Whether all destinations reach the border of a cache line at the same index.
template <class Destinations>
HWY_INLINE bool lines_coincide(Destinations to) {
  for (std::uint32_t k = 1; k < to.size(); ++k) {
    if (bytes_to_line(to[k]) != bytes_to_line(to[0])) return false;
  }
  return true;
}

template <class Operation, class Store, class T, std::size_t Sources, class Destinations>
HWY_INLINE void fold_all(source_array<T, Sources> const& from, Destinations to, std::size_t count) {
  if constexpr (std::is_same_v<Store, cached>) {
    fold_lines<Operation, cached>(from, to, 0, count);
  } else {
    std::size_t const before = bytes_to_line(to[0]) / sizeof(T);
    if (count < before || !lines_coincide(to)) return fold_lines<Operation, cached>(from, to, 0, count);
    fold_part<Operation, line_elements<T> / 2>(from, to, 0, before);
    fold_lines<Operation, Store>(from, to, before, count - before);
  }
}

/// All of `from` into `offset` elements into each destination.
template <class Operation, class Store, class T, std::size_t Sources>
HWY_NOINLINE void fold_to_several(void* const* to, std::uint32_t destinations, std::size_t offset,
                                  void const* const* from, std::size_t count) {
  fold_all<Operation, Store>(sources_at<T>(from, 0, std::make_index_sequence<Sources>()),
                             several_destinations<T>{to, destinations, offset}, count);
}

/// The fold_function for exactly `Sources` sources.
template <class Operation, class Store, class T, std::size_t Sources>
void fold_exactly(void const*, void* const* to, std::uint32_t destinations, void const* const* from, std::uint32_t,
                  std::size_t count) {
  if (destinations == 1) {
    fold_all<Operation, Store>(sources_at<T>(from, 0, std::make_index_sequence<Sources>()),
                               one_destination<T>{static_cast<T*>(to[0])}, count);
  } else {
    fold_to_several<Operation, Store, T, Sources>(to, destinations, 0, from, count);
  }
  Store::finish();
}

/// More sources than one pass takes: partial results stay in a tile that the first-level cache holds.
template <class Operation, class Store, class T>
class tiled_fold {
 public:
  /// The fold_function for more than max_fused_sources sources.
  static void run(void const*, void* const* to, std::uint32_t destinations, void const* const* from,
                  std::uint32_t sources, std::size_t count) {
    for (std::size_t offset = 0; offset < count; offset += elements) {
      fold_tile(to, destinations, from, sources, offset, std::min(elements, count - offset));
    }
    Store::finish();
  }

 private:
  static constexpr std::size_t elements = 4096 / sizeof(T);
  static constexpr std::uint32_t joining = max_fused_sources - 1;  // beside the tile, in one pass

  /// A destination may be a source that is folded late, so nothing is stored to any before the last pass.
  static void fold_tile(void* const* to, std::uint32_t destinations, void const* const* from, std::uint32_t sources,
                        std::size_t offset, std::size_t count) {
    alignas(64) T tile[elements];
    one_destination<T> const partial{tile};
    fold_all<Operation, cached>(sources_at<T>(from, offset, std::make_index_sequence<max_fused_sources>()), partial,
                                count);
    std::uint32_t folded = max_fused_sources;
    for (; sources - folded > joining; folded += joining) {
      fold_all<Operation, cached>(with_tile(tile, from + folded, offset, std::make_index_sequence<joining>()), partial,
                                  count);
    }
    std::array<void const*, max_fused_sources> last{tile};
    for (std::uint32_t k = folded; k < sources; ++k) last[1 + k - folded] = static_cast<T const*>(from[k]) + offset;
    last_pass[sources - folded](to, destinations, offset, last.data(), count);
  }

  template <std::size_t... Index>
  static HWY_INLINE source_array<T, 1 + sizeof...(Index)> with_tile(T const* tile, void const* const* from,
                                                                    std::size_t offset,
                                                                    std::index_sequence<Index...>) {
    return {tile, static_cast<T const*>(from[Index]) + offset...};
  }

  using pass = void (*)(void* const*, std::uint32_t, std::size_t, void const* const*, std::size_t);

  /// last_pass[k]: the tile and k sources.
  static constexpr auto last_pass = []<std::size_t... Index>(std::index_sequence<Index...>) {
    return std::array<pass, max_fused_sources>{fold_to_several<Operation, Store, T, 1 + Index>...};
  }(std::make_index_sequence<max_fused_sources>());
};

template <class Operation, class Store, class T>
class fold_table {
  static constexpr detail::fold_set make() {
    return []<std::size_t... Index>(std::index_sequence<Index...>) {
      return detail::fold_set{any, {any, fold_exactly<Operation, Store, T, 1 + Index>...}};
    }(std::make_index_sequence<max_fused_sources>());
  }

  static void any(void const* context, void* const* to, std::uint32_t destinations, void const* const* from,
                  std::uint32_t sources, std::size_t count) {
    auto const fold = sources <= max_fused_sources ? set.of[sources] : tiled_fold<Operation, Store, T>::run;
    fold(context, to, destinations, from, sources, count);
  }

 public:
  static constexpr detail::fold_set set = make();
};

/// In the order of `element`.
template <class Operation, class Store>
inline constexpr element_sets sets_by_element = {
    fold_table<Operation, Store, std::int32_t>::set, fold_table<Operation, Store, std::int64_t>::set,
    fold_table<Operation, Store, float>::set, fold_table<Operation, Store, double>::set};

template <class Operation>
inline constexpr operation_sets all_sets = {sets_by_element<Operation, cached>, sets_by_element<Operation, streaming>};

}  // namespace coset::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
