// SPDX-License-Identifier: Apache-2.0
// Making, lending and filling private copies.
#include "reducer/core.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>

#include "coset/error.hpp"
#include "numa/binding.hpp"
#include "text/format.hpp"

namespace coset::reducer_room {
namespace {

using detail::mark;
using detail::reduced_array;
using detail::tracking;

constexpr std::size_t line_bytes = 64;
/// Marks cost each random access in the caches a quarter to a half as much again, so small arrays are folded as a
/// whole. Far beyond the caches they cost nothing beside the miss, and the less is folded the better.
constexpr std::size_t untracked_bytes = std::size_t{16} << 20, far_beyond_caches = std::size_t{64} << 20;
constexpr std::size_t usual_block_bytes = 512;

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

blocks cut(std::size_t count, std::size_t element_bytes, reducer_options const& options) {
  if (count > std::numeric_limits<std::ptrdiff_t>::max() / 2 / element_bytes)
    throw argument_error(text::format("a reducer of {} elements of {} bytes", count, element_bytes));
  std::size_t const all = std::max<std::size_t>(count * element_bytes, 1);
  std::size_t bytes = options.block_bytes;
  if (bytes == 0) bytes = all <= untracked_bytes ? all : all < far_beyond_caches ? usual_block_bytes : line_bytes;
  std::size_t elements = bytes >= all ? std::bit_ceil(std::max<std::size_t>(count, 1))
                                      : std::bit_floor(std::max<std::size_t>(bytes / element_bytes, 1));
  // Pages are what is claimed and given back.
  if (options.most_bytes != 0)
    elements =
        std::bit_ceil(round_up(std::max(options.block_bytes, numa::page_bytes()), element_bytes) / element_bytes);
  return {count, element_bytes, static_cast<unsigned>(std::countr_zero(elements))};
}

bool is_zero(void const* element, std::size_t bytes) {
  auto const* const at = static_cast<unsigned char const*>(element);
  return std::all_of(at, at + bytes, [](unsigned char byte) { return byte == 0; });
}

tracking tracking_for(reduced_array const& array, blocks const& shape, reducer_options const& options) {
  if (options.most_bytes != 0) return tracking::fills_late;
  if (shape.number() <= 1) return tracking::none;
  return is_zero(array.identity.get(), shape.element_bytes) ? tracking::marks : tracking::fills_late;
}

}  // namespace

owned_copy::owned_copy(blocks const& shape, std::optional<unsigned> on_node, bool capped)
    : node(on_node),
      memory(round_up(shape.begin_bytes(shape.number()), line_bytes) + round_up(shape.number() + 1, word_blocks)) {
  data = memory.data();
  touched = reinterpret_cast<mark*>(data + round_up(shape.begin_bytes(shape.number()), line_bytes));
  if (capped) {
    resident.resize(shape.number());
  } else if (!node || !memory.bind(0, memory.size(), *node)) {
    memory.prefer_huge_pages(0, memory.size());
  }
}

}  // namespace coset::reducer_room

namespace coset::detail {

using namespace reducer_room;

namespace {

/// run(begin, end) for each run of blocks that the copy has touched.
template <class Run>
void for_runs(blocks const& shape, private_copy const& copy, Run run) {
  std::size_t begin = 0, end = 0;
  for (std::size_t word = 0; word < shape.number(); word += word_blocks) {
    std::uint64_t marks;
    std::memcpy(&marks, copy.touched + word, sizeof marks);
    if (marks == 0) continue;
    for (std::size_t block = word; block < std::min(word + word_blocks, shape.number()); ++block) {
      if (copy.touched[block] == mark::untouched) continue;
      if (block != end) {
        if (begin < end) run(begin, end);
        begin = block;
      }
      end = block + 1;
    }
  }
  if (begin < end) run(begin, end);
}

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

reducer_core::reducer_core(reduced_array array, reducer_options const& options)
    : id_(next_id()),
      array_(std::move(array)),
      most_bytes_(options.most_bytes),
      shape_(cut(array_.count, array_.reduction->element_bytes, options)),
      tracking_(tracking_for(array_, shape_, options)) {}

std::unique_ptr<owned_copy> reducer_core::made() const {
  return std::make_unique<owned_copy>(shape_, numa::current_node(), capped());
}

void reducer_core::put_in_order() {
  in_order_.clear();
  if (total_) in_order_.push_back(total_.get());
  for (auto const& [number, copy] : numbered_) in_order_.push_back(copy.get());
  for (auto const& copy : of_threads_) in_order_.push_back(copy.get());
}

private_copy& reducer_core::take() {
  std::lock_guard const lock(making_);
  auto const here = numa::current_node();
  auto const at = std::find_if(left_.begin(), left_.end(), [&](owned_copy* copy) { return copy->node == here; });
  if (at != left_.end()) {
    owned_copy& taken = **at;
    left_.erase(at);
    return taken;
  }
  left_.reserve(of_threads_.size() + 1);  // so that giving back cannot fail
  owned_copy& copy = *of_threads_.emplace_back(made());
  put_in_order();
  return copy;
}

void reducer_core::give_back(private_copy& copy) noexcept {
  std::lock_guard const lock(making_);
  left_.push_back(static_cast<owned_copy*>(&copy));
}

private_copy& reducer_core::numbered(std::uint32_t number) {
  std::lock_guard const lock(making_);
  auto& copy = numbered_[number];
  if (!copy) {
    try {
      copy = made();
    } catch (...) {
      numbered_.erase(number);
      throw;
    }
    put_in_order();
  }
  return *copy;
}

owned_copy& reducer_core::total() {
  std::lock_guard const lock(making_);
  if (!total_) {
    total_ = std::make_unique<owned_copy>(shape_, std::nullopt, false);
    put_in_order();
  }
  return *total_;
}

void reducer_core::empty(private_copy& copy) {
  if (tracking_ == tracking::none) {
    fill(copy.data, shape_.count);
  } else {
    if (tracking_ == tracking::marks) {
      for_runs(shape_, copy, [&](std::size_t begin, std::size_t end) {
        fill(copy.data + shape_.begin_bytes(begin), shape_.begin(end) - shape_.begin(begin));
      });
    }
    std::memset(copy.touched, 0, shape_.number());
  }
  copy.generation = generation_;
}

void reducer_core::touch(private_copy& copy, std::size_t first, std::size_t number) {
  if (capped()) claim(static_cast<owned_copy&>(copy), first, number);
  for (std::size_t block = first; block < first + number; ++block) {
    if (tracking_ == tracking::fills_late && copy.touched[block] == mark::untouched)
      fill(copy.data + shape_.begin_bytes(block), shape_.begin(block + 1) - shape_.begin(block));
    copy.touched[block] = mark::touched;
  }
}

void reducer_core::part_is_done(std::size_t parts, bool into_total) noexcept {
  // Acquires what the other parts released by the same operation.
  if (parts_done_.fetch_add(1, std::memory_order_acq_rel) + 1 != parts) return;
  parts_done_.store(0, std::memory_order_relaxed);
  if (total_) total_->generation = into_total ? generation_ : 0;
}

void reducer_core::reset() noexcept {
  parts_done_.store(0, std::memory_order_relaxed);
  ++generation_;
}

bool reducer_core::has_just(std::size_t threads) const noexcept {
  return of_threads_.empty() && !total_ && numbered_.size() == threads && numbered_.rbegin()->first == threads - 1;
}

std::string reducer_core::describe() const {
  std::lock_guard const lock(making_);
  reduction_table const& what = *array_.reduction;
  std::string text = text::format("reducer of {} {}, {}: {} private copies", shape_.count, what.type, what.operation,
                                  of_threads_.size() + numbered_.size());
  text += tracking_ == tracking::none ? " that are folded whole"
                                      : text::format(" in blocks of {} bytes", shape_.block_bytes());
  if (capped()) text += text::format(", at most {} bytes together, folded early {} times", most_bytes_, spills_.load());
  return text;
}

void reducer_core::log() const {
  char const* const wanted = std::getenv("COSET_LOG");
  if (wanted == nullptr || std::string_view(wanted) != "plan") return;
  text::complain(describe());
}

std::shared_ptr<reducer_core> make_reducer(reduced_array array, reducer_options const& options) {
  if (!array.reduction->commutative)
    throw argument_error(
        text::format("a reducer by {}, which does not commute: threads come in any order", array.reduction->operation));
  auto made = std::make_shared<reducer_core>(std::move(array), options);
  made->log();
  return made;
}

unsigned block_shift(reducer_core const& core) noexcept { return core.shape().shift; }

tracking tracking_of(reducer_core const& core) noexcept { return core.tracking(); }

void touch(reducer_core& core, private_copy& copy, std::size_t first, std::size_t blocks) {
  core.touch(copy, first, blocks);
}

void* total_of(reducer_core& core) { return core.total().data; }

void reset(reducer_core& core) noexcept { core.reset(); }

std::string describe(reducer_core const& core) { return core.describe(); }

void require_length(reducer_core const& core, std::size_t length) {
  if (length != core.shape().count)
    throw argument_error(text::format("a reducer of {} elements and an array of {}", core.shape().count, length));
}

}  // namespace coset::detail
