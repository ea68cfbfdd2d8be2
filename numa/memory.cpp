// SPDX-License-Identifier: Apache-2.0
// Node-bound memory. Calls the kernel itself: hwloc would need a loaded topology for each of these calls.
#include "numa/memory.hpp"

#include <linux/mempolicy.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <climits>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "numa/kinds.hpp"
#include "numa/process/fork.hpp"

namespace coset::numa {
namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

std::uintptr_t address_of(void const* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
std::uintptr_t round_up(std::uintptr_t value, std::size_t to) { return (value + to - 1) / to * to; }

std::uintptr_t round_down(std::uintptr_t value) { return value / page_bytes() * page_bytes(); }

std::byte* map(std::size_t bytes, int flags = MAP_PRIVATE | MAP_ANONYMOUS, int file = -1) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(mapped);
}

// A huge page needs an address that is a multiple of its size, which mmap does not promise: map more, cut both ends.
std::byte* map_aligned(std::size_t bytes) {
  std::byte* const mapped = map(bytes + huge_page_bytes);
  std::size_t const before = round_up(address_of(mapped), huge_page_bytes) - address_of(mapped);
  if (before > 0) munmap(mapped, before);
  munmap(mapped + before + bytes, huge_page_bytes - before);
  return mapped + before;
}

// Preferred, not strictly bound: a full node costs time instead of killing the process. Pages that lie elsewhere already are
// not moved: fresh memory has none, and to look for them the kernel interrupts each processor (60 µs where this takes 2).
bool prefer_node(void* begin, std::size_t bytes, unsigned node) noexcept try {
  constexpr std::size_t bits = sizeof(unsigned long) * CHAR_BIT;
  if (node >= page_bytes() * CHAR_BIT) return false;  // more nodes than the kernel would read
  std::vector<unsigned long> nodes(node / bits + 1);
  nodes.back() = 1UL << (node % bits);
  // The kernel reads one bit less than the number it is given.
  return syscall(SYS_mbind, begin, bytes, MPOL_PREFERRED, nodes.data(), nodes.size() * bits + 1, 0) == 0;
} catch (std::bad_alloc const&) {
  return false;
}

using node_set = std::array<unsigned long, 16>;  ///< 1024 of them, the most that Linux has

/// Other nodes have slow memory, or a GPU's.
void keep_those_of(topology const& machine, node_set& nodes) noexcept {
  node_set of_processors{};
  constexpr std::size_t bits = sizeof(unsigned long) * CHAR_BIT;
  for (numa_node const& each : machine.nodes)
    if (each.os_index < bits * nodes.size()) of_processors[each.os_index / bits] |= 1UL << (each.os_index % bits);
  for (std::size_t word = 0; word < nodes.size(); ++word) nodes[word] &= of_processors[word];
}

}  // namespace

memory::memory(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  std::size_t const mapped = round_up(bytes, page_bytes());
  if (mapped < bytes) throw std::bad_alloc();
  data_ = mapped < huge_page_bytes ? map(mapped) : map_aligned(mapped);
}

memory memory::shared(int file, std::size_t bytes) {
  memory mapped;
  mapped.data_ = map(round_up(bytes, page_bytes()), MAP_SHARED, file);
  mapped.bytes_ = bytes;
  mapped.shared_ = true;
  keep_from_children(mapped.data_, round_up(bytes, page_bytes()));
  return mapped;
}

memory::~memory() {
  if (data_ == nullptr || !owned_) return;
  if (shared_) keep_no_more(data_);
  munmap(data_, round_up(bytes_, page_bytes()));
}

memory::memory(memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      owned_(other.owned_),
      shared_(other.shared_) {}

memory& memory::operator=(memory&& other) noexcept {
  memory taken(std::move(other));
  std::swap(data_, taken.data_);
  std::swap(bytes_, taken.bytes_);
  std::swap(owned_, taken.owned_);
  std::swap(shared_, taken.shared_);
  return *this;
}

memory::range memory::whole_pages(std::size_t offset, std::size_t bytes) const noexcept {
  assert(offset <= bytes_ && bytes <= bytes_ - offset);
  // Leaves out pages shared with neighbouring ranges; includes the rest of the very last page, which no range has.
  std::size_t const begin = round_up(offset, page_bytes());
  std::size_t const end = offset + bytes == bytes_ ? round_up(bytes_, page_bytes()) : round_down(offset + bytes);
  return {data_ + begin, begin < end ? end - begin : 0};
}

bool memory::bind(std::size_t offset, std::size_t bytes, unsigned node_os_index) noexcept {
  prefer_huge_pages(offset, bytes);
  range const pages = whole_pages(offset, bytes);
  return pages.bytes == 0 || prefer_node(pages.begin, pages.bytes, node_os_index);
}

void memory::prefer_huge_pages(std::size_t offset, std::size_t bytes) noexcept {
  range const pages = whole_pages(offset, bytes);
  if (pages.bytes >= huge_page_bytes) madvise(pages.begin, pages.bytes, MADV_HUGEPAGE);
}

void memory::interleave() noexcept {
  node_set nodes{};
  constexpr std::size_t bits = sizeof nodes * CHAR_BIT;
  if (syscall(SYS_get_mempolicy, nullptr, nodes.data(), bits, nullptr, MPOL_F_MEMS_ALLOWED) != 0) return;
  if (topology const* const machine = machine_of_several_tiers()) keep_those_of(*machine, nodes);
  syscall(SYS_mbind, data_, round_up(bytes_, page_bytes()), MPOL_INTERLEAVE, nodes.data(), bits + 1, 0);
}

std::byte* memory::release() noexcept {
  bytes_ = 0;
  return std::exchange(data_, nullptr);
}

memory memory::owning(std::byte* data, std::size_t bytes) noexcept {
  memory taken;
  taken.data_ = data;
  taken.bytes_ = bytes;
  return taken;
}

memory memory::borrowed(std::byte* data, std::size_t bytes) noexcept {
  memory lent = owning(data, bytes);
  lent.owned_ = false;
  return lent;
}

std::size_t page_bytes() noexcept {
  static auto const bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void return_freed_pages() noexcept {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

std::optional<unsigned> node_of(void const* address) {
  // move_pages without destinations moves nothing and reports where each page is.
  void* page = reinterpret_cast<void*>(round_down(address_of(address)));
  int node = -1;
  if (syscall(SYS_move_pages, 0, 1UL, &page, nullptr, &node, 0) != 0 || node < 0) return std::nullopt;
  return static_cast<unsigned>(node);
}

}  // namespace coset::numa
