// SPDX-License-Identifier: Apache-2.0
#include "coset/updates/log.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "numa/binding.hpp"
#include "reducer/pool.hpp"

namespace coset::inline COSET_ABI::detail {

using reducer_room::copy_set;
using reducer_room::owned_copy;

namespace {

constexpr std::size_t first_extent = std::size_t{256} << 10, most_extent = std::size_t{64} << 20;

/// What an earlier log or reducer has left, or new memory, near the calling thread.
class memory {
 public:
  explicit memory(std::size_t bytes)
      : from_(std::make_unique<copy_set>(bytes)), own_(from_->lend(owned_copy::no_number, numa::current_node())) {}
  ~memory() {
    if (from_) from_->take_back(std::move(own_));
  }
  memory(memory&&) noexcept = default;
  memory& operator=(memory&&) = delete;

  std::byte* data() const noexcept { return own_->data; }
  std::size_t size() const noexcept { return own_->memory.size(); }

 private:
  std::unique_ptr<copy_set> from_;
  std::unique_ptr<owned_copy> own_;
};

}  // namespace

/// Chunks come from extents, each larger than the one before.
struct update_chunks::store {
  std::vector<memory> extents;
  std::optional<memory> table;
  std::size_t in_use = 0;  ///< extents; the last of them has chunks from `next` on
  std::byte* next = nullptr;
  std::byte* end = nullptr;

  std::byte* chunk() {
    if (next == end) {
      if (in_use == extents.size()) {
        std::size_t const bytes = extents.empty() ? first_extent : std::min(extents.back().size() * 2, most_extent);
        extents.emplace_back(bytes);
      }
      memory const& extent = extents[in_use++];
      next = extent.data();
      end = next + extent.size() / chunk_bytes * chunk_bytes;
    }
    return std::exchange(next, next + chunk_bytes);
  }
};

update_chunks::update_chunks() noexcept = default;
update_chunks::~update_chunks() = default;

void update_chunks::begin(std::size_t parts) {
  if (!store_) store_ = std::make_unique<store>();
  std::size_t const bytes = std::max<std::size_t>(2 * parts, 1) * sizeof(std::byte*);
  if (!store_->table || store_->table->size() < bytes) store_->table.emplace(bytes);
  ends_ = reinterpret_cast<std::byte**>(store_->table->data());
  firsts_ = ends_ + parts;
  std::fill_n(ends_, 2 * parts, nullptr);
  store_->in_use = 0;
  store_->next = store_->end = nullptr;
}

/// The chunk before ends where the part's latest update does.
std::byte* update_chunks::next_chunk(std::size_t part) {
  std::byte* const made = store_->chunk();
  std::byte* const none = nullptr;
  std::memcpy(made, &none, sizeof none);
  if (firsts_[part] == nullptr) {
    firsts_[part] = made;
  } else {
    auto const latest = reinterpret_cast<std::uintptr_t>(ends_[part]) - 1;
    std::memcpy(reinterpret_cast<std::byte*>(latest / chunk_bytes * chunk_bytes), &made, sizeof made);
  }
  return made + header_bytes;
}

std::size_t update_chunks::bytes() const noexcept {
  if (!store_) return 0;
  std::size_t all = store_->table ? store_->table->size() : 0;
  for (auto const& each : store_->extents) all += each.size();
  return all;
}

}  // namespace coset::detail
