// SPDX-License-Identifier: Apache-2.0
#include "lab/cache/directory.hpp"

#include <algorithm>

namespace coset::cache {
namespace {

constexpr unsigned word_bits = 64;

bool has_bit(std::vector<std::uint64_t> const& words, rank_t r) {
  return (words[r / word_bits] >> r % word_bits & 1) != 0;
}

}  // namespace

directory::directory(machine const& m, std::vector<cell> const& cells) : machine_(m) {
  states_.reserve(cells.size());
  for (cell const& c : cells) states_.push_back({c.home, exclusive, 0, false});
}

directory::sharing& directory::share(state& s) {
  if (s.shared != exclusive) return sharings_[static_cast<std::size_t>(s.shared)];
  if (unused_.empty()) {
    s.shared = static_cast<std::int32_t>(sharings_.size());
    sharings_.emplace_back();
  } else {
    s.shared = unused_.back();
    unused_.pop_back();
  }
  sharing& made = sharings_[static_cast<std::size_t>(s.shared)];
  made.copies.assign(1, {machine_.l3_of(s.owner), s.owner, s.free});
  made.readers.assign((machine_.ranks() + word_bits - 1) / word_bits, 0);
  made.readers[s.owner / word_bits] |= std::uint64_t{1} << s.owner % word_bits;
  return made;
}

served directory::read(std::uint32_t number, rank_t reader, double now) {
  state& s = states_[number];
  if (s.shared == exclusive && s.owner == reader) return {true, false, level::core, reader, now};
  if (s.shared == exclusive && s.written && machine_.prices().hands_over != 0) {
    level const from = machine_.joining(s.owner, reader);
    served const how{false, true, from, s.owner, std::max(now, s.free)};
    s = {reader, exclusive, how.begin + machine_.line(from).read, false};
    return how;
  }
  sharing& all = share(s);
  if (has_bit(all.readers, reader)) return {true, false, level::core, reader, now};
  all.readers[reader / word_bits] |= std::uint64_t{1} << reader % word_bits;
  copy* nearest = &all.copies.front();
  for (copy& c : all.copies)
    if (machine_.joining(c.holder, reader) < machine_.joining(nearest->holder, reader)) nearest = &c;
  level const from = machine_.joining(nearest->holder, reader);
  served const how{false, true, from, nearest->holder, std::max(now, nearest->free)};
  nearest->free = how.begin + machine_.line(from).serve;
  std::uint32_t const l3 = machine_.l3_of(reader);
  if (nearest->l3 != l3) all.copies.push_back({l3, reader, how.begin + machine_.line(from).read});
  return how;
}

level directory::farthest_from(state const& s, rank_t writer) const {
  level farthest = machine_.joining(s.owner, writer);
  if (s.shared == exclusive) return farthest;
  sharing const& all = sharings_[static_cast<std::size_t>(s.shared)];
  for (rank_t r = 0; r < machine_.ranks(); ++r)
    if (r != writer && has_bit(all.readers, r)) farthest = std::max(farthest, machine_.joining(r, writer));
  return farthest;
}

served directory::write(std::uint32_t number, rank_t writer, double now) {
  state& s = states_[number];
  if (s.shared == exclusive && s.owner == writer) {
    s.written = true;
    return {true, false, level::core, writer, std::max(now, s.free)};
  }
  bool const is_written = s.shared == exclusive && s.written;
  served how{false, true, farthest_from(s, writer), s.owner, std::max(now, s.free), is_written};
  if (s.shared != exclusive) {
    sharing const& all = sharings_[static_cast<std::size_t>(s.shared)];
    how.moves = !has_bit(all.readers, writer);
    for (copy const& c : all.copies) how.begin = std::max(how.begin, c.free);
    unused_.push_back(s.shared);
  }
  s = {writer, exclusive, how.begin + machine_.line(how.from).own, true};
  return how;
}

}  // namespace coset::cache
