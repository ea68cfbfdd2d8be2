// SPDX-License-Identifier: Apache-2.0
// Node-bound memory. Part of the only room that knows hwloc.
#pragma once

#include <cstddef>
#include <optional>

namespace coset::numa {

/// Anonymous zeroed pages, page-aligned; a range of them can be bound to a node. Freed with the object. Movable.
class memory {
 public:
  memory() = default;
  explicit memory(std::size_t bytes);  ///< throws std::bad_alloc
  /// The first `bytes` of an open file (a memfd), shared with every other mapping but a forked child's, which finds zeros of
  /// its own there. Throws std::bad_alloc.
  static memory shared(int file, std::size_t bytes);
  ~memory();
  memory(memory&&) noexcept;
  memory& operator=(memory&&) noexcept;

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return bytes_; }

  /// Whole pages of [offset, offset + bytes), if nobody has touched them yet, will come from a node given by its OS index; false
  /// where the system refuses (containers without mbind): the memory works all the same, placed by first touch. Asks for huge
  /// pages from 2 MiB.
  bool bind(std::size_t offset, std::size_t bytes, unsigned node_os_index) noexcept;
  /// The part of bind() that needs no node: huge pages for whole pages of the range, if they come to 2 MiB.
  void prefer_huge_pages(std::size_t offset, std::size_t bytes) noexcept;
  /// Pages that nobody has touched yet come from all nodes with processors in turn, where the system permits it.
  void interleave() noexcept;

  /// Releases ownership of the pages; `owning` the same address and size takes it back.
  std::byte* release() noexcept;
  static memory owning(std::byte* data, std::size_t bytes) noexcept;
  /// Pages of another owner, which frees them after this object is gone.
  static memory borrowed(std::byte* data, std::size_t bytes) noexcept;

 private:
  struct range {
    std::byte* begin;
    std::size_t bytes;
  };
  range whole_pages(std::size_t offset, std::size_t bytes) const noexcept;

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool owned_ = true;
  bool shared_ = false;  ///< with other processes
};

std::size_t page_bytes() noexcept;

/// Returns freed memory that malloc keeps, in all threads' arenas, to the system. Some ms: only after something large.
void return_freed_pages() noexcept;

/// The OS index of the node that holds the page of `address`, if it is resident and the system tells.
std::optional<unsigned> node_of(void const* address);

}  // namespace coset::numa
