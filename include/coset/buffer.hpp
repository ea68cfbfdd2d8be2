// SPDX-License-Identifier: Apache-2.0
// Arrays whose memory is near the rank that works on them.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "coset/operations.hpp"
#include "coset/team.hpp"
#include "coset/topology.hpp"
#include "coset/visibility.h"

namespace coset {

namespace detail {

struct COSET_API unmap {
  std::size_t bytes = 0;
  void operator()(std::byte* data) const noexcept;
};
/// Whole zeroed pages.
using pages = std::unique_ptr<std::byte, unmap>;

/// Throw argument_error naming both numbers if their product is more than there are addresses, std::bad_alloc.
COSET_API pages map_pages(member const& owner, std::size_t count, std::size_t element_bytes);
COSET_API pages map_pages(numa_node const&, std::size_t count, std::size_t element_bytes);

}  // namespace detail

/// `count` elements of zero bytes, in pages of their own on one NUMA node.
///
/// A contiguous range, for every collective and beyond: it may outlive its team and be used by any thread. Not
/// collective: each rank makes as many as it likes. Aligned to a page; from 2 MiB to huge pages, which are asked for.
/// Where a rank's node is unknown, or the system does not bind memory (containers without mbind), each page is placed by
/// whichever thread writes to it first. A node that is full has its neighbours stand in.
/// Cost: some microseconds, then a page fault for each page at its first use: for arrays that are used more than once.
/// Throws argument_error for more elements than there can be, std::bad_alloc for more than there is room for.
template <element T>
class buffer {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = T const&;
  using iterator = T*;
  using const_iterator = T const*;

  buffer() = default;  ///< of no elements
  /// On the node of this rank.
  buffer(member const& owner, std::size_t count) : pages_(detail::map_pages(owner, count, sizeof(T))), size_(count) {}
  /// On this node of this machine, one of topology::nodes.
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
