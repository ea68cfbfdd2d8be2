// SPDX-License-Identifier: Apache-2.0
// Sparse reducers of a team over processes: only what was touched travels. Each rank owns a share of its process's target, and
// gets what all ranks have for that: touched blocks, and updates that were kept, which it applies rank after rank.
#include "reducer/sparse/processes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

#include "coset/detail/collective.hpp"
#include "coset/operations.hpp"
#include "reducer/chunks.hpp"
#include "text/format.hpp"

namespace coset::reducer_room {
namespace {

using detail::call;
using detail::mark;
using detail::rank_state;
using detail::reducer_core;
using detail::update_chunks;

/// Elements lie on lines in streams, so that folds find them aligned.
struct alignas(64) line {
  std::byte bytes[64];
};
std::size_t lines_for(std::size_t bytes) { return (bytes + sizeof(line) - 1) / sizeof(line); }

/// What follows in a stream: the elements of a block, from the next line on, or `count` updates of a part.
struct heading {
  enum class kind : std::uint32_t { block, updates };
  std::uint64_t number;
  kind what;
  std::uint32_t count;
};

/// Parts of kept updates, or blocks where none are kept, of which ranks own as many each.
struct units {
  explicit units(reducer_core const& core)
      : shift(core.ways().may_keep() ? core.ways().shift() : core.shape().shift), all(core.shape().count) {}
  unsigned shift;
  std::size_t all;  ///< elements
  std::size_t number() const { return all == 0 ? 0 : ((all - 1) >> shift) + 1; }
  /// Units of rank `rank` of `ranks` of a process, and elements of such an interval.
  interval share(std::size_t rank, std::size_t ranks) const {
    return {number() * rank / ranks, number() * (rank + 1) / ranks};
  }
  interval elements(interval const& of) const {
    return {std::min(of.begin << shift, all), std::min(of.end << shift, all)};
  }
};

/// Streams of one rank for all others, one after the other.
class outgoing {
 public:
  outgoing(reducer_core& core, std::vector<owned_copy*> const& from) : core_(core), from_(from), of_(core) {}

  /// What belongs to a process of so many ranks, for each of them. Processes of as many get the same.
  void append_for(rank_t ranks) {
    auto const like = std::ranges::find(for_ranks_, ranks, &std::pair<rank_t, std::size_t>::first);
    bool const is_new = like == for_ranks_.end();
    std::size_t const first = is_new ? counts.size() : like->second;
    if (is_new) for_ranks_.emplace_back(ranks, first);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::size_t const begin = lines.size();
      if (is_new)
        append(of_.share(rank, ranks));
      else
        append_again(first + rank);
      counts.push_back((lines.size() - begin) * sizeof(line));
      begins_.push_back(begin);
    }
  }
  void append_nothing_for(rank_t ranks) {
    counts.insert(counts.end(), ranks, 0);
    begins_.insert(begins_.end(), ranks, lines.size());
  }

  std::vector<line> lines;
  std::vector<std::size_t> counts;  ///< [rank]: bytes

 private:
  void append_again(std::size_t earlier) {
    std::size_t const begin = begins_[earlier], number = counts[earlier] / sizeof(line), end = lines.size();
    lines.resize(end + number);
    std::copy_n(lines.begin() + static_cast<std::ptrdiff_t>(begin), number,
                lines.begin() + static_cast<std::ptrdiff_t>(end));
  }

  void append(interval const& own) {
    interval const elements = of_.elements(own);
    unsigned const shift = core_.shape().shift;
    for (owned_copy const* const copy : from_) {
      if (copy->data != nullptr)
        append_blocks(*copy, elements.begin >> shift, (elements.end + (std::size_t{1} << shift) - 1) >> shift);
      for (std::size_t part = own.begin; copy->kept && part < own.end; ++part) append_updates(*copy, part);
    }
  }
  void append_blocks(owned_copy const& copy, std::size_t begin, std::size_t end) {
    blocks const& shape = core_.shape();
    for (std::size_t block = begin; block < end; ++block) {
      if (block % blocks::blocks_of_group == 0 && copy.groups[block >> detail::group_shift] == mark::untouched) {
        block += blocks::blocks_of_group - 1;
        continue;
      }
      if (copy.touched[block] == mark::untouched) continue;
      std::size_t const first = shape.begin_bytes(block), bytes = shape.begin_bytes(block + 1) - first;
      auto const count = static_cast<std::uint32_t>(shape.begin(block + 1) - shape.begin(block));
      std::memcpy(room_for({block, heading::kind::block, count}, sizeof(line) + bytes) + sizeof(line),
                  copy.data + first, bytes);
    }
  }
  void append_updates(owned_copy const& copy, std::size_t part) {
    std::size_t const updates = core_.kept(copy, part), record = core_.parts()[0].array.later.record_bytes;
    if (updates == 0) return;
    std::byte* to = room_for({part, heading::kind::updates, static_cast<std::uint32_t>(updates)},
                             sizeof(heading) + updates * record) +
                    sizeof(heading);
    copy.kept->all.for_each_chunk(
        part, record, [&](std::byte const* begin, std::byte const* end) { to = std::copy(begin, end, to); });
  }
  std::byte* room_for(heading const& what, std::size_t bytes) {
    std::size_t const at = lines.size();
    lines.resize(at + lines_for(bytes));
    std::memcpy(lines[at].bytes, &what, sizeof what);
    return lines[at].bytes;
  }

  reducer_core& core_;
  std::vector<owned_copy*> const& from_;
  units const of_;
  std::vector<std::pair<rank_t, std::size_t>> for_ranks_;  ///< processes of so many: the first one's first rank
  std::vector<std::size_t> begins_;                        ///< [rank]: lines
};

/// What came for this rank's share, into the target: blocks as they come, then updates, rank after rank.
class incoming {
 public:
  incoming(reducer_core& core, std::byte* target) : core_(core), target_(target) {
    if (core.ways().may_keep()) updates_.begin(core.ways().parts());
  }

  void apply(std::vector<line> const& lines) {
    runtime::computing_in const mode(core_.mode(), core_.computes());
    for (line const* at = lines.data(); at != lines.data() + lines.size();) at = take(at);
    for (std::size_t const part : parts_) {
      auto const& array = core_.parts()[0].array;
      array.later.apply_part(array.operation.get(), updates_, part, core_.ways().shift(), target_);
    }
  }

 private:
  line const* take(line const* at) {
    heading what;
    std::memcpy(&what, at->bytes, sizeof what);
    auto const& array = core_.parts()[0].array;
    if (what.what == heading::kind::updates) {
      keep(what, at->bytes + sizeof what);
      return at + lines_for(sizeof what + what.count * array.later.record_bytes);
    }
    void* const to = target_ + core_.shape().begin_bytes(what.number);
    std::array<void const*, 2> sources{to, at + 1};
    array.reduction->folds->for_sources(2)(array.operation.get(), &to, 1, sources.data(), 2, what.count);
    return at + 1 + lines_for(what.count * core_.parts()[0].element_bytes());
  }
  void keep(heading const& what, std::byte const* from) {
    std::size_t const record = core_.parts()[0].array.later.record_bytes;
    std::byte*& end = updates_.ends()[what.number];
    if (end == nullptr) parts_.push_back(what.number);
    for (std::size_t left = what.count; left > 0;) {
      std::byte* to = end;
      if (update_chunks::room_behind(to) < record) to = updates_.next_chunk(what.number);
      std::size_t const now = std::min(left, update_chunks::room_behind(to) / record);
      end = std::copy_n(from, now * record, to);
      from += now * record;
      left -= now;
    }
  }

  reducer_core& core_;
  std::byte* const target_;
  update_chunks updates_;
  std::vector<std::size_t> parts_;  ///< that have some
};

/// Ranks whose reducers differ in length say so; in what they track, no more than that.
void require_alike(reducer_core const& core, rank_state& me) {
  std::uint64_t const count = core.shape().count;
  std::array<std::uint64_t, 2> most{count, ~count};
  std::uint64_t const cut = std::uint64_t{core.shape().shift} << 32 | core.ways().shift();
  me.acts.history = runtime::following(me.acts.history, cut);
  detail::run(me, {.what = verb::allreduce,
                   .in = most.data(),
                   .out = most.data(),
                   .count = most.size(),
                   .reduction = &detail::table_of<std::uint64_t, maximum>()});
  if (most[0] != ~most[1]) refuse(me, text::format("combine: reducers of {} and of {} elements", ~most[1], most[0]));
}

/// Lengths first, then the streams themselves.
std::vector<line> exchanged(outgoing const& mine, rank_state& me) {
  auto received = guarded(me, [&] { return std::vector<std::size_t>(mine.counts.size()); });
  detail::run(me, {.what = verb::all_to_all,
                   .in = mine.counts.data(),
                   .out = received.data(),
                   .count = received.size(),
                   .reduction = &detail::copy_of<std::size_t>()});
  auto lines = guarded(me, [&] {
    return std::vector<line>(std::accumulate(received.begin(), received.end(), std::size_t{0}) / sizeof(line));
  });
  detail::run_exchange(me,
                       {.what = verb::all_to_all,
                        .in = mine.lines.data(),
                        .out = lines.data(),
                        .reduction = &detail::copy_of<char>(),
                        .counts = mine.counts},
                       received);
  return lines;
}

}  // namespace

[[gnu::cold]] void combine_sparse(reducer_core& core, void* target, rank_state& me, combining how,
                                  std::vector<owned_copy*> const& from, std::vector<ranks_of_process> const& processes,
                                  destination const& to) {
  require_alike(core, me);
  auto const gets = [&](ranks_of_process const& process) {
    return to.what() == destination::kind::every_process || process.first == processes[to.process()].first;
  };
  auto const mine = guarded(me, [&] {
    outgoing all(core, from);
    for (ranks_of_process const& process : processes)
      gets(process) ? all.append_for(process.number()) : all.append_nothing_for(process.number());
    for (owned_copy* const copy : from) core.count_and_empty(*copy);
    return all;
  });
  std::vector<line> const lines = exchanged(mine, me);
  ranks_of_process const& here =
      *std::ranges::find_if(processes, [&](auto const& each) { return each.has(me.number); });
  if (!gets(here)) return;
  guarded(me, [&] {
    part_of_copy const& array = core.parts()[0];
    auto* const into = static_cast<std::byte*>(target);
    units const all(core);
    auto const [begin, end] = all.elements(all.share(me.number - here.first, here.number()));
    if (how == combining::assign) array.fill(into - array.offset, begin, end - begin);
    incoming(core, into).apply(lines);
  });
}

}  // namespace coset::reducer_room
