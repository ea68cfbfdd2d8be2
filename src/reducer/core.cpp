// SPDX-License-Identifier: Apache-2.0
// Making, lending and filling private copies.
#include "reducer/core.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/text/format.hpp"
#include "base/text/log.hpp"
#include "coset/error.hpp"
#include "numa/binding.hpp"
#include "reducer/pool.hpp"
#include "reducer/short_lock.hpp"
#include "runtime/memory/told_to_sanitizer.hpp"

namespace coset::reducer_room {
namespace {

using detail::mark;
using detail::reduced_array;
using detail::tracking;

/// Far beyond the caches marks cost nothing beside the miss, and folding less is faster.
constexpr std::size_t far_beyond_caches = std::size_t{64} << 20;
constexpr std::size_t usual_block_bytes = 512;
/// Addresses are compared by their last twelve bits on all of today's x86 (Intel's optimisation manual: 4 KiB
/// aliasing).
constexpr std::size_t compared_bytes = 4096;

void require_sensible(reduced_array const& array) {
  std::size_t const bytes = array.reduction->element_bytes;
  if (array.count > std::numeric_limits<std::ptrdiff_t>::max() / 2 / bytes)
    throw argument_error(
        text::format("a reducer of {} elements of {} bytes exceeds the address space", array.count, bytes));
  if (!array.reduction->commutative)
    throw argument_error(text::format("a reducer with {}, which does not commute: threads come in any order",
                                      array.reduction->operation));
}

bool is_zero(void const* element, std::size_t bytes) {
  auto const* const at = static_cast<unsigned char const*>(element);
  return std::all_of(at, at + bytes, [](unsigned char byte) { return byte == 0; });
}

/// The first offset from `offset` on that lies `part` / `parts` into a stretch of compared_bytes. Otherwise, in a
/// program that adds to element k of several arrays, each load would wait for the store before it.
std::size_t staggered(std::size_t offset, std::size_t part, std::size_t parts) {
  std::size_t const into = part * compared_bytes / parts / line_bytes * line_bytes;
  return offset + (into + compared_bytes - offset % compared_bytes) % compared_bytes;
}

/// Lays out arrays one after the other, each beginning on a cache line.
std::vector<part_of_copy> laid_out(std::vector<reduced_array> arrays) {
  std::vector<part_of_copy> parts;
  parts.reserve(arrays.size());
  std::size_t offset = 0;
  for (reduced_array& array : arrays) {
    require_sensible(array);
    if (offset >= compared_bytes) offset = staggered(offset, parts.size(), arrays.size());
    std::size_t const bytes = round_up(array.count * array.reduction->element_bytes, line_bytes);
    bool const zero = is_zero(array.identity.get(), array.reduction->element_bytes);
    parts.push_back({std::move(array), offset, zero});
    offset += bytes;  // cannot overflow: both are at most half of the address range
    if (offset > std::numeric_limits<std::ptrdiff_t>::max())
      throw argument_error(text::format("a reducer of {} arrays with more bytes than there are", arrays.size()));
  }
  return parts;
}

std::size_t bytes_of(std::vector<part_of_copy> const& parts) {
  return parts.empty() ? 0 : parts.back().offset + parts.back().array.count * parts.back().element_bytes();
}

detail::arithmetic computing(std::vector<part_of_copy> const& parts) {
  auto all = detail::arithmetic::integer;
  for (part_of_copy const& part : parts) all = std::min(all, part.array.reduction->code.computes);
  return all;
}

blocks cut(reduced_array const& array, sparse_options const& options) {
  std::size_t const count = array.count, element_bytes = array.reduction->element_bytes;
  std::size_t const all = std::max<std::size_t>(count * element_bytes, 1);
  std::size_t bytes = options.block_bytes;
  if (bytes == 0) bytes = all < far_beyond_caches ? usual_block_bytes : line_bytes;
  std::size_t elements = bytes >= all ? std::bit_ceil(std::max<std::size_t>(count, 1))
                                      : std::bit_floor(std::max<std::size_t>(bytes / element_bytes, 1));
  // Memory is claimed and given back in pages.
  if (options.most_bytes != 0)
    elements =
        std::bit_ceil(round_up(std::max(options.block_bytes, numa::page_bytes()), element_bytes) / element_bytes);
  return {count, element_bytes, static_cast<unsigned>(std::countr_zero(elements))};
}

tracking tracking_for(reduced_array const& array, blocks const& shape, sparse_options const& options) {
  if (options.most_bytes != 0) return tracking::fills_late;
  return is_zero(array.identity.get(), shape.element_bytes) ? tracking::marks : tracking::fills_late;
}

}  // namespace

}  // namespace coset::reducer_room

namespace coset::inline COSET_ABI::detail {

using namespace reducer_room;

namespace {

/// run(begin, end) for each run of blocks that the copy has touched, of one group or more.
template <class Run>
void for_runs(blocks const& shape, private_copy const& copy, Run run) {
  std::size_t begin = 0, end = 0;
  for (std::size_t group = 0; group < shape.groups(); ++group) {
    if (copy.groups[group] == mark::untouched) continue;
    std::size_t const first = group * blocks::blocks_of_group;
    for (std::size_t block = first; block < std::min(first + blocks::blocks_of_group, shape.number()); ++block) {
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

/// Also the reducer's first key; its keys are the numbers below the next one returned here.
std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(std::uint64_t{1} << key_bits_of_claims) + (std::uint64_t{1} << key_bits_of_claims);
}

}  // namespace

reducer_core::reducer_core(std::vector<reduced_array> arrays)
    : id_(next_id()),
      key_(id_),
      parts_(laid_out(std::move(arrays))),
      bytes_(std::max<std::size_t>(bytes_of(parts_), 1)),
      computes_(computing(parts_)),
      set_(std::in_place, bytes_) {}

reducer_core::reducer_core(reduced_array array, sparse_options const& options)
    : id_(next_id()),
      key_(id_),
      parts_(laid_out({std::move(array)})),
      bytes_(bytes_of(parts_)),
      computes_(computing(parts_)),
      most_bytes_(options.most_bytes),
      shape_(cut(parts_[0].array, options)),
      tracking_(tracking_for(parts_[0].array, shape_, options)),
      ways_(parts_[0].array, shape_, options),
      of_block_(capped() ? std::make_unique<block_locks>() : nullptr) {
  place(options.memory);
  if (ways_.may_keep())
    updates_of_chunk_ = (update_chunks::chunk_bytes - update_chunks::header_bytes) / parts_[0].array.later.record_bytes;
}

reducer_core::~reducer_core() {
  say_what_is_lost();
  if (sums_) set_->take_back(std::move(sums_));
  if (tracking_ != tracking::none) return;
  if (total_) set_->take_back(std::move(total_));
  for (auto& [number, copy] : numbered_) set_->take_back(std::move(copy));
  for (auto& copy : of_threads_) set_->take_back(std::move(copy));
}

std::unique_ptr<owned_copy> reducer_core::made(std::uint32_t number, std::optional<unsigned> node, bool capped) {
  if (tracking_ == tracking::none) return set_->lend(number, node);
  auto copy = std::make_unique<owned_copy>(node, memory_);
  if (!ways_.may_keep()) copy->give_memory(shape_, capped);
  return copy;
}

/// Called before a copy is made, so that put_in_order() cannot fail.
void reducer_core::make_room() { in_order_.reserve(numbered_.size() + of_threads_.size() + 2); }

void reducer_core::put_in_order() noexcept {
  in_order_.clear();
  if (total_) in_order_.push_back(total_.get());
  for (auto const& [number, copy] : numbered_) in_order_.push_back(copy.get());
  for (auto const& copy : of_threads_) in_order_.push_back(copy.get());
}

private_copy& reducer_core::take() {
  auto const lock = short_lock(making_);
  auto const here = numa::current_node();
  auto const at = std::find_if(left_.begin(), left_.end(), [&](owned_copy* copy) { return copy->node == here; });
  if (at != left_.end()) {
    owned_copy& taken = **at;
    left_.erase(at);
    return taken;
  }
  left_.reserve(of_threads_.size() + 1);  // so that giving back cannot fail
  make_room();
  owned_copy& copy = *of_threads_.emplace_back(made(owned_copy::no_number, here, capped()));
  put_in_order();
  return copy;
}

void reducer_core::give_back(private_copy& copy) noexcept {
  std::lock_guard const lock(making_);
  left_.push_back(static_cast<owned_copy*>(&copy));
}

private_copy& reducer_core::numbered(std::uint32_t number) {
  auto const lock = short_lock(making_);
  return at(number);
}

private_copy* reducer_core::claimed(std::uint32_t number, void const* thread) {
  auto const lock = short_lock(making_);
  owned_copy& copy = at(number);
  if (copy.claimed_under == key_ && copy.claimed_by != thread) {
    claims_.store(claims::missed, std::memory_order_relaxed);
    return nullptr;
  }
  copy.claimed_under = key_;
  copy.claimed_by = thread;
  return &copy;
}

/// The key's low bits count; at their limit the key takes a new number.
void reducer_core::change_key() noexcept {
  constexpr std::uint64_t count = (std::uint64_t{1} << key_bits_of_claims) - 1;
  key_ = (key_ & count) == count ? next_id() : key_ + 1;
}

/// The caller holds the lock.
owned_copy& reducer_core::at(std::uint32_t number) {
  auto& copy = numbered_[number];
  if (!copy) {
    try {
      make_room();
      copy = made(number, numa::current_node(), capped());
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
    make_room();
    auto fresh = made(owned_copy::no_number, std::nullopt, false);
    if (fresh->data == nullptr) fresh->give_memory(shape_, false);
    total_ = std::move(fresh);
    put_in_order();
  }
  return *total_;
}

[[gnu::cold]] std::byte* reducer_core::room_for_sums() {
  auto const lock = short_lock(making_);
  if (!set_) set_.emplace(bytes_);
  if (!sums_) sums_ = set_->lend(owned_copy::no_number, numa::current_node());
  return sums_->data;
}

void reducer_core::empty(private_copy& copy) {
  if (tracking_ == tracking::none) {
    for (part_of_copy const& part : parts_) part.fill(copy.data, 0, part.array.count);
  } else {
    auto& owned = static_cast<owned_copy&>(copy);
    if (owned.kept) forget_updates(owned);
    if (copy.data != nullptr) {
      for_runs(shape_, copy, [&](std::size_t begin, std::size_t end) {
        if (tracking_ == tracking::marks)
          parts_[0].fill(copy.data, shape_.begin(begin), shape_.begin(end) - shape_.begin(begin));
        std::memset(copy.touched + begin, 0, end - begin);
      });
      std::memset(copy.groups, 0, shape_.groups());
    }
  }
  copy.generation = generation_;
}

void reducer_core::touch(private_copy& copy, std::size_t first, std::size_t number) {
  if (capped()) claim(static_cast<owned_copy&>(copy), first, number);
  if (tracking_ == tracking::fills_late)
    for (std::size_t block = first; block < first + number; ++block)
      if (copy.touched[block] == mark::untouched)
        parts_[0].fill(copy.data, shape_.begin(block), shape_.begin(block + 1) - shape_.begin(block));
  static_cast<owned_copy&>(copy).mark_touched(first, number);
}

void reducer_core::part_is_done(std::size_t parts, bool into_total) noexcept {
  // Acquires what the other parts released by the same operation.
  runtime::tell_release(&parts_done_);
  if (parts_done_.fetch_add(1, std::memory_order_acq_rel) + 1 != parts) return;
  runtime::tell_acquire(&parts_done_);
  parts_done_.store(0, std::memory_order_relaxed);
  // Not written where it is so already: in split phase the first rank of a process may combine again by now, and looks at it.
  std::uint64_t const filled = into_total ? generation_ : 0;
  if (total_ && total_->generation != filled) total_->generation = filled;
  total_is_known_ = true;
  if (tracking_ != tracking::none) finish_round();
  leave_what_is_idle();
}

/// What no thread has asked for until a combination is not waited for: each of many reducers would keep as much as the largest.
[[gnu::cold]] void reducer_core::leave_idle() noexcept {
  auto const lock = short_lock(making_);
  set_->leave_idle();
}

void reducer_core::reset() noexcept {
  parts_done_.store(0, std::memory_order_relaxed);
  for (owned_copy* const copy : in_order_) copy->is_under_way = false;
  ways_.forget();
  arrivals_.begin_anew();
  generation_ = next_id();
  change_key();  // no thread continues with a copy that is not emptied yet
}

bool reducer_core::has_just(std::size_t threads) const noexcept {
  return of_threads_.empty() && !total_ && numbered_.size() == threads && numbered_.rbegin()->first == threads - 1;
}

[[gnu::cold]] bool reducer_core::holds(std::uint32_t number) {
  auto const lock = short_lock(making_);
  auto const found = numbered_.find(number);
  return found != numbered_.end() && found->second->generation == generation_;
}

[[gnu::cold]] std::vector<owned_copy*> reducer_core::others_than(std::uint32_t first, std::uint32_t last) {
  auto const lock = short_lock(making_);
  std::vector<owned_copy*> found;
  auto const take_one = [&](owned_copy* copy) {
    if (copy->generation == generation_) found.push_back(copy);
  };
  for (auto const& [number, copy] : numbered_)
    if (number < first || number >= last) take_one(copy.get());
  for (auto const& copy : of_threads_) take_one(copy.get());
  return found;
}

[[gnu::cold]] std::string reducer_core::in_words() const {
  std::string text = "reducer of ";
  for (part_of_copy const& part : parts_) {
    reduction_table const& what = *part.array.reduction;
    text +=
        text::format("{}{} {}, {}", &part == parts_.data() ? "" : "; ", part.array.count, what.type, what.operation);
  }
  return text;
}

[[gnu::cold]] std::string reducer_core::describe() const {
  std::lock_guard const lock(making_);
  std::string text = in_words();
  text += text::format(": {} private copies", of_threads_.size() + numbered_.size());
  text += tracking_ == tracking::none ? " that are folded whole"
                                      : text::format(" in blocks of {} bytes", shape_.block_bytes());
  if (ways_.may_keep())
    text += text::format(", {} in the last round; {}", ways_.last_round().blocks,
                         ways_.keeps() ? text::format("updates are kept for later in {} parts, {} in the last round",
                                                      ways_.parts(), ways_.last_round().updates)
                                       : std::string("updates are not kept"));
  if (wire_) text += "; " + reducer_room::in_words(*wire_);
  if (capped()) text += text::format(", at most {} bytes together, folded early {} times", most_bytes_, spills_.load());
  return text;
}

/// How many updates come through plain memory nobody knows; where a whole loop would do better is known of arrays of any
/// length (docs/reducer.md, cells of 16 Ki to 64 Mi elements).
[[gnu::cold]] void reducer_core::log() const {
  if (!is_logged_) [[likely]]
    return;
  constexpr std::size_t beyond_caches = std::size_t{4} << 20;
  char const* const otherwise = tracking_ != tracking::none ? ""
                                : bytes() > beyond_caches   ? "; up to ten updates per element scatter_add costs less"
                                                          : "; with fewer updates than elements scatter_add costs less";
  text::complain(describe() + otherwise);
}

std::shared_ptr<reducer_core> make_reducer(std::vector<reduced_array> arrays, bool is_logged) {
  auto made = std::make_shared<reducer_core>(std::move(arrays));
  if (is_logged) made->log();
  return made;
}

std::shared_ptr<reducer_core> make_sparse_reducer(reduced_array array, sparse_options const& options) {
  auto made = std::make_shared<reducer_core>(std::move(array), options);
  made->log();
  return made;
}

std::size_t offset_of(reducer_core const& core, std::size_t index) noexcept { return core.parts()[index].offset; }

std::uint64_t const& key_of(reducer_core const& core) noexcept { return core.key(); }

bool has_copies(reducer_core const& core) noexcept { return !core.in_order().empty(); }

void renew_claims(reducer_core& core) noexcept { core.renew_claims(); }

void const* operation_of(reducer_core const& core, std::size_t index) noexcept {
  return core.parts()[index].array.operation.get();
}

unsigned block_shift(reducer_core const& core) noexcept { return core.shape().shift; }

tracking tracking_of(reducer_core const& core) noexcept { return core.tracking(); }

void touch(reducer_core& core, private_copy& copy, std::size_t first, std::size_t blocks) {
  core.touch(copy, first, blocks);
}

std::byte* elements_of(reducer_core& core, private_copy& copy, std::size_t first, std::size_t count) {
  part_of_copy const& all = core.parts()[0];
  if (first > all.array.count || count > all.array.count - first)
    throw argument_error(
        text::format("elements [{}, {} + {}) of a reducer of {}", first, first, count, all.array.count));
  if (core.tracking() != tracking::none) core.make_plain(copy);
  if (count > 0 && core.tracking() != tracking::none) {
    unsigned const shift = core.shape().shift;
    std::size_t const block = first >> shift;
    core.touch(copy, block, ((first + count - 1) >> shift) - block + 1);
  }
  return copy.data + first * all.element_bytes();
}

private_copy& total_of(reducer_core& core) { return core.total(); }

void reset(reducer_core& core) noexcept { core.reset(); }

std::string describe(reducer_core const& core) { return core.describe(); }

void require_lengths(reducer_core const& core, std::size_t const* lengths) {
  for (part_of_copy const& part : core.parts()) {
    std::size_t const given = *lengths++;
    if (given != part.array.count)
      throw argument_error(text::format("a reducer of {} elements and an array of {}", part.array.count, given));
  }
}

}  // namespace coset::detail
