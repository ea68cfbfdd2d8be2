// SPDX-License-Identifier: Apache-2.0
// Arrays in memory near the rank that works on them.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <cstddef>
#include <memory>
#include <utility>

#include "coset/detail/requirements.hpp"
#include "coset/detail/visibility.h"
#include "coset/team.hpp"
#include "coset/topology.hpp"

namespace coset::inline COSET_ABI {

namespace detail {

struct COSET_API unmap {
  std::size_t bytes = 0;
  void operator()(std::byte* data) const noexcept;
};
/// Whole zeroed pages.
using pages = std::unique_ptr<std::byte, unmap>;

/// Both throw std::bad_alloc, and argument_error naming both numbers if their product exceeds the address space.
COSET_API pages map_pages(member const& owner, std::size_t count, std::size_t element_bytes, memory_kind);
COSET_API pages map_pages(numa_node const&, std::size_t count, std::size_t element_bytes);

}  // namespace detail

/// `count` elements, all bytes zero, in separate pages on one NUMA node.
///
/// A contiguous range for collectives and any other use: it may outlive its team, and any thread may use it. Not
/// collective: each rank makes as many as it likes. Aligned to a page; from 2 MiB on aligned to huge pages, which it
/// requests. If a rank's node is unknown, or the system cannot bind memory (containers without mbind), the first thread
/// that writes to a page places it. If a node is full, neighbouring nodes provide the memory.
/// Where a machine has several kinds of memory, a rank's buffer is in that of the highest bandwidth which has room at this
/// moment, unless the buffer, the team's options or COSET_MEMORY want another kind.
/// Cost: some microseconds, then a page fault at the first use of each page: meant for arrays that are used more than
/// once.
/// Throws argument_error for more elements than can exist, std::bad_alloc if there is not enough memory.
template <class T>
class buffer {
  static_assert((detail::is_element<T>(), true));

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = T const&;
  using iterator = T*;
  using const_iterator = T const*;

  buffer() = default;  ///< empty
  /// On the node of this rank, or on the memory of this kind that belongs to the node. Throws argument_error for a kind that
  /// does not exist.
  buffer(member const& owner, std::size_t count, memory_kind kind = memory_kind::automatic)
      : pages_(detail::map_pages(owner, count, sizeof(T), kind)), size_(count) {}
  /// On the given node of this machine, one of topology::nodes or topology::memories: also on slow memory, or a GPU's.
  buffer(numa_node const& node, std::size_t count) : pages_(detail::map_pages(node, count, sizeof(T))), size_(count) {}
  buffer(buffer&& other) noexcept : pages_(std::move(other.pages_)), size_(std::exchange(other.size_, 0)) {}
  buffer& operator=(buffer&& other) noexcept {
    buffer taken(std::move(other));
    std::swap(pages_, taken.pages_);
    std::swap(size_, taken.size_);
    return *this;
  }

  T* data() noexcept { return reinterpret_cast<T*>(pages_.get()); }
  T const* data() const noexcept { return reinterpret_cast<T const*>(pages_.get()); }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  T* begin() noexcept { return data(); }
  T const* begin() const noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  T const* end() const noexcept { return data() + size_; }

  T& operator[](std::size_t index) noexcept { return data()[index]; }
  T const& operator[](std::size_t index) const noexcept { return data()[index]; }

 private:
  detail::pages pages_;
  std::size_t size_ = 0;
};

}  // namespace coset
