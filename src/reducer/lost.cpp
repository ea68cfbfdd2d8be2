// SPDX-License-Identifier: Apache-2.0
// What is said of a reducer that ends before its values have come to a target.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>

#include "base/text/format.hpp"
#include "base/text/log.hpp"
#include "reducer/core.hpp"

namespace coset::reducer_room {
namespace {

/// Bit by bit, as copies are filled.
bool holds_identities(part_of_copy const& part, std::byte const* copy) {
  std::byte const *at = copy + part.offset, *const end = at + part.array.count * part.element_bytes();
  while (at != end && std::memcmp(at, part.array.identity.get(), part.element_bytes()) == 0) at += part.element_bytes();
  return at == end;
}

bool holds_blocks(blocks const& shape, owned_copy const& copy) {
  for (std::size_t group = 0; copy.data != nullptr && group < shape.groups(); ++group) {
    if (copy.groups[group] == detail::mark::untouched) continue;
    auto const* const begin = copy.touched + group * blocks::blocks_of_group;
    auto const* const end = copy.touched + std::min((group + 1) * blocks::blocks_of_group, shape.number());
    if (std::find(begin, end, detail::mark::touched) != end) return true;
  }
  return false;
}

bool holds_updates(owned_copy const& copy, std::size_t parts) {
  for (std::size_t part = 0; copy.kept && part < parts; ++part)
    if (copy.kept->parts[part].chunks > 0) return true;
  return false;
}

}  // namespace
}  // namespace coset::reducer_room

namespace coset::inline COSET_ABI::detail {

using namespace reducer_room;

bool reducer_core::holds_values() const {
  return std::ranges::any_of(in_order_, [&](owned_copy const* copy) {
    if (copy->generation != generation_ || (copy == total_.get() && total_is_known_)) return false;
    if (tracking_ != tracking::none) return holds_blocks(shape_, *copy) || holds_updates(*copy, ways_.parts());
    return !std::ranges::all_of(parts_, [&](part_of_copy const& part) { return holds_identities(part, copy->data); });
  });
}

/// Threads that did not come are an error; values that nobody wanted may be none.
void reducer_core::say_what_is_lost() const noexcept try {
  static std::atomic<bool> said = false;
  if (process_ != numa::process_number()) return;  // the values are the parent's
  if (arrivals_.are_incomplete()) {
    text::complain(arrivals_.in_words() + ", which is destroyed: what its threads have reduced is lost");
  } else if (is_logged_ && !said.load(std::memory_order_relaxed) && holds_values() &&
             !said.exchange(true, std::memory_order_relaxed)) {
    text::complain(in_words() + " ends with values that were never combined; said once per process");
  }
} catch (std::exception const&) {
  // Without memory for the words there are none.
}

}  // namespace coset::detail
