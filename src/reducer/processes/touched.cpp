// SPDX-License-Identifier: Apache-2.0
// Sparse reducers of a team over processes: only what was touched travels. Each rank owns a share of its process's target, and
// gets what all ranks have for that: touched blocks, and updates that were kept, which it applies rank after rank.
#include "reducer/processes/touched.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <span>

#include "base/text/format.hpp"
#include "coset/detail/collective.hpp"
#include "coset/operations.hpp"

namespace coset::reducer_room {
namespace {

using detail::mark;
using detail::rank_state;
using detail::reducer_core;
using detail::update_chunks;

/// Elements lie on lines in streams, so that folds find them aligned.
struct alignas(64) line {
  std::byte bytes[64];
};
std::size_t lines_for(std::size_t bytes) { return (bytes + sizeof(line) - 1) / sizeof(line); }

/// A stream is headings, then a run of elements for each heading of `blocks`, which begins on a line, then the records of each
/// heading of `updates`. The first heading says how many others there are, and how many lines of elements.
struct heading {
  enum class kind : std::uint32_t { stream, blocks, updates };
  std::uint64_t first;  ///< element, or part of updates
  std::uint32_t count;  ///< elements, or updates
  kind what;
};
static_assert(sizeof(heading) == 16);

/// each(block, copies that have touched it) for blocks [begin, end).
template <class Each>
void for_touched(std::vector<owned_copy*> const& copies, std::size_t begin, std::size_t end, Each const& each) {
  std::vector<void const*> with;
  std::vector<owned_copy const*> dense;
  for (owned_copy const* const copy : copies)
    if (copy->data != nullptr) dense.push_back(copy);
  for (std::size_t block = begin; block < end;) {
    std::size_t const group = block >> detail::group_shift, next = std::min((group + 1) << detail::group_shift, end);
    bool const any =
        std::ranges::any_of(dense, [&](auto const* copy) { return copy->groups[group] != mark::untouched; });
    for (; any && block < next; ++block) {
      with.clear();
      for (owned_copy const* const copy : dense)
        if (copy->touched[block] != mark::untouched) with.push_back(copy->data);
      if (!with.empty()) each(block, with);
    }
    block = next;
  }
}

/// Streams of one rank for all others, one after the other.
class outgoing {
 public:
  outgoing(reducer_core& core, touched_copies const& from, wire way)
      : core_(core),
        array_(core.parts()[0]),
        blocks_(way == wire::each_process ? from.all : from.own),
        updates_(from.own),
        within_(way == wire::each_process ? from.share : interval{0, core.shape().count}) {
    runtime::computing_in const mode(core.mode(), core.computes());
    auto const& owned = from.owned;
    for (std::size_t rank = 0; rank < owned.size(); ++rank) {
      begins_.push_back(lines.size());
      // Processes of as many ranks get the same.
      auto const same = [&](interval const& other) {
        return other.begin == owned[rank].begin && other.end == owned[rank].end;
      };
      auto const like = static_cast<std::size_t>(std::ranges::find_if(owned, same) - owned.begin());
      if (like < rank)
        append_again(like);
      else
        append(owned[rank]);
      bytes.push_back((lines.size() - begins_.back()) * sizeof(line));
    }
  }

  std::vector<line> lines;
  std::vector<std::size_t> bytes;  ///< [rank]

 private:
  void append_again(std::size_t earlier) {
    std::size_t const begin = begins_[earlier], number = bytes[earlier] / sizeof(line), at = lines.size();
    lines.resize(at + number);
    std::copy_n(lines.data() + begin, number, lines.data() + at);
  }

  void append(interval const& of) {
    headings_.assign(1, {});
    body_.clear();
    records_.clear();
    append_blocks({std::max(of.begin, within_.begin), std::min(of.end, within_.end)});
    if (of.begin < of.end)
      for (owned_copy const* const copy : updates_)
        if (copy->kept) append_updates(*copy, of);
    if (headings_.size() == 1) return;
    headings_[0] = {headings_.size() - 1, static_cast<std::uint32_t>(body_.size()), heading::kind::stream};
    append_bytes(headings_.data(), headings_.size() * sizeof(heading));
    append_bytes(body_.data(), body_.size() * sizeof(line));
    append_bytes(records_.data(), records_.size());
  }
  void append_bytes(void const* from, std::size_t number) {
    std::size_t const at = lines.size();
    lines.resize(at + lines_for(number));
    if (number > 0) std::memcpy(lines[at].bytes, from, number);
  }

  void append_blocks(interval const& of) {
    if (of.begin >= of.end) return;
    blocks const& shape = core_.shape();
    for_touched(blocks_, of.begin >> shape.shift, ((of.end - 1) >> shape.shift) + 1,
                [&](std::size_t block, std::vector<void const*>& from) {
                  std::size_t const begin = std::max(shape.begin(block), of.begin);
                  std::size_t const count = std::min(shape.begin(block + 1), of.end) - begin;
                  void* const to = room_for(begin, count);
                  for (void const*& each : from)
                    each = static_cast<std::byte const*>(each) + begin * shape.element_bytes;
                  auto const sources = static_cast<std::uint32_t>(from.size());
                  auto const& array = array_.array;
                  array.reduction->folds->for_sources(sources)(array.operation.get(), &to, 1, from.data(), sources,
                                                               count);
                });
  }
  void* room_for(std::size_t begin, std::size_t count) {
    heading& last = headings_.back();
    std::size_t const at = body_.size();
    body_.resize(at + lines_for(count * array_.element_bytes()));
    bool const goes_on = last.what == heading::kind::blocks && last.first + last.count == begin &&
                         last.count * array_.element_bytes() % sizeof(line) == 0 && last.count < 1u << 30;
    if (goes_on)
      last.count += static_cast<std::uint32_t>(count);
    else
      headings_.push_back({begin, static_cast<std::uint32_t>(count), heading::kind::blocks});
    return body_[at].bytes;
  }

  /// Of a part of which others own something only what is this owner's.
  void append_updates(owned_copy const& copy, interval const& of) {
    unsigned const shift = core_.ways().shift();
    std::size_t const record = array_.array.later.record_bytes;
    for (std::size_t part = of.begin >> shift; part <= (of.end - 1) >> shift; ++part) {
      if (core_.kept(copy, part) == 0) continue;
      std::size_t const first = part << shift, before = records_.size();
      bool const whole =
          of.begin <= first && std::min(first + (std::size_t{1} << shift), core_.shape().count) <= of.end;
      copy.kept->all.for_each_chunk(part, record, [&](std::byte const* begin, std::byte const* end) {
        if (whole) return void(records_.insert(records_.end(), begin, end));
        for (; begin != end; begin += record) {
          std::uint32_t within;
          std::memcpy(&within, begin, sizeof within);
          if (of.begin <= first + within && first + within < of.end)
            records_.insert(records_.end(), begin, begin + record);
        }
      });
      auto const updates = static_cast<std::uint32_t>((records_.size() - before) / record);
      if (updates > 0) headings_.push_back({part, updates, heading::kind::updates});
    }
  }

  reducer_core& core_;
  part_of_copy const& array_;
  std::vector<owned_copy*> const &blocks_, &updates_;  ///< copies whose blocks are sent, and whose updates
  interval const within_;                              ///< only blocks here are
  std::vector<std::size_t> begins_;                    ///< [rank]: lines
  std::vector<heading> headings_;
  std::vector<line> body_;
  std::vector<std::byte> records_;
};

/// What came for this rank's share, into the target: blocks as they come, then updates, rank after rank.
class incoming {
 public:
  incoming(reducer_core& core, std::byte* target) : core_(core), target_(target) {
    if (core.ways().may_keep()) updates_.begin(core.ways().parts());
  }

  void apply(std::vector<line> const& lines) {
    runtime::computing_in const mode(core_.mode(), core_.computes());
    for (line const* at = lines.data(); at != lines.data() + lines.size();) at = take_stream(at);
    for (std::size_t const part : parts_) {
      auto const& array = core_.parts()[0].array;
      array.later.apply_part(array.operation.get(), updates_, part, core_.ways().shift(), target_);
    }
  }

 private:
  line const* take_stream(line const* at) {
    auto const* const headings = reinterpret_cast<heading const*>(at);
    line const* body = at + lines_for((1 + headings->first) * sizeof(heading));
    line const* const behind = body + headings->count;
    std::byte const* records = behind->bytes;
    auto const& array = core_.parts()[0].array;
    std::size_t const bytes = core_.parts()[0].element_bytes(), record = array.later.record_bytes;
    for (heading const& next : std::span(headings + 1, headings->first)) {
      if (next.what == heading::kind::updates) {
        keep(next, records);
        records += next.count * record;
        continue;
      }
      void* const to = target_ + next.first * bytes;
      std::array<void const*, 2> sources{to, body};
      array.reduction->folds->for_sources(2)(array.operation.get(), &to, 1, sources.data(), 2, next.count);
      body += lines_for(next.count * bytes);
    }
    return behind + lines_for(static_cast<std::size_t>(records - behind->bytes));
  }
  void keep(heading const& what, std::byte const* from) {
    std::size_t const record = core_.parts()[0].array.later.record_bytes;
    std::byte*& end = updates_.ends()[what.first];
    if (end == nullptr) parts_.push_back(what.first);
    for (std::size_t left = what.count; left > 0;) {
      std::byte* to = end;
      if (update_chunks::room_behind(to) < record) to = updates_.next_chunk(what.first);
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

/// How long each stream will be. Ranks whose reducers differ in length say so.
std::vector<std::size_t> lengths_of(outgoing const& mine, std::uint64_t count, rank_state& me) {
  std::size_t const ranks = mine.bytes.size();
  auto told = guarded(me, [&] { return std::vector<std::uint64_t>(4 * ranks); });
  std::uint64_t* const heard = told.data() + 2 * ranks;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    told[2 * rank] = mine.bytes[rank];
    told[2 * rank + 1] = count;
  }
  detail::run(me, {.what = verb::all_to_all,
                   .in = told.data(),
                   .out = heard,
                   .count = 2 * ranks,
                   .reduction = &detail::copy_of<std::uint64_t>()});
  return guarded(me, [&] {
    std::vector<std::size_t> received;
    std::uint64_t least = count, most = count;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      received.push_back(heard[2 * rank]);
      least = std::min(least, heard[2 * rank + 1]);
      most = std::max(most, heard[2 * rank + 1]);
    }
    if (least != most) throw argument_error(text::format("combine: reducers of {} and of {} elements", least, most));
    return received;
  });
}

/// Lengths first, then the streams themselves.
std::vector<line> exchanged(outgoing const& mine, std::uint64_t count, rank_state& me) {
  auto const received = lengths_of(mine, count, me);
  auto lines = guarded(me, [&] {
    return std::vector<line>(std::accumulate(received.begin(), received.end(), std::size_t{0}) / sizeof(line));
  });
  detail::run_exchange(me,
                       {.what = verb::all_to_all,
                        .in = mine.lines.data(),
                        .out = lines.data(),
                        .reduction = &detail::copy_of<char>(),
                        .counts = mine.bytes},
                       received);
  return lines;
}

/// Elements for one of so many ranks: from the beginning of a block, or of a part of kept updates, to that of another.
interval share_of(reducer_core const& core, interval const& all, std::size_t rank, std::size_t ranks) {
  unsigned const shift = core.ways().may_keep() ? core.ways().shift() : core.shape().shift;
  std::size_t const count = all.end - all.begin;
  auto const boundary = [&](std::size_t k) {
    if (k == ranks) return all.end;
    return std::max(all.begin, (all.begin + count / ranks * k + count % ranks * k / ranks) >> shift << shift);
  };
  return {boundary(rank), boundary(rank + 1)};
}

}  // namespace

[[gnu::cold]] touched_copies see_copies(reducer_core& core, rank_state const& me, std::uint32_t own,
                                        destination const& to) {
  touched_copies seen;
  seen.mine = &unoccupied(core, own);
  auto const processes = processes_of(me);
  interval const whole{0, core.shape().count};
  std::size_t begin = 0;
  for (std::size_t p = 0; p < processes.size(); ++p) {
    rank_t const ranks = processes[p].number();
    interval gets = whole;
    if (to.what() == destination::kind::one_process && p != to.process()) gets.end = 0;
    if (to.what() == destination::kind::parts) gets = {begin, begin + to.counts()[p]};
    begin = gets.end;
    for (rank_t rank = 0; rank < ranks; ++rank) seen.owned.push_back(share_of(core, gets, rank, ranks));
    if (!processes[p].has(me.number)) continue;
    rank_t const mine = me.number - processes[p].first;
    seen.share = share_of(core, whole, mine, ranks);
    seen.all = core.others_than(0, 0);
    if (owned_copy* const total = core.viewed_total()) seen.all.insert(seen.all.begin(), total);
    seen.own = share_of_others(core, me, own, processes[p]);
    for (owned_copy* const copy : seen.all)
      if (copy == seen.mine) seen.own.insert(seen.own.begin(), copy);
  }
  return seen;
}

[[gnu::cold]] owned_copy& whole_copy(reducer_core& core, touched_copies const& from) {
  owned_copy& mine = *from.mine;
  core.fill_untouched(mine);
  std::vector<owned_copy*> others;
  for (owned_copy* const copy : from.own)
    if (copy != &mine) others.push_back(copy);
  for (owned_copy* const copy : others) core.fill_untouched(*copy);
  take_over(core, mine, others);
  for (owned_copy* const copy : others) core.count_and_empty(*copy);
  return mine;
}

[[gnu::cold]] wire_choice agreed_wire(reducer_core& core, rank_state& me, touched_copies const& from,
                                      destination const& to) {
  part_of_copy const& array = core.parts()[0];
  blocks const& shape = core.shape();
  std::array<std::uint64_t, 5> sums{shape.count};
  std::uint64_t &touched = sums[1], &united = sums[2], &updates = sums[3], &must_be_sparse = sums[4];
  guarded(me, [&] {
    if (from.share.begin < from.share.end)
      for_touched(from.all, from.share.begin >> shape.shift, ((from.share.end - 1) >> shape.shift) + 1,
                  [&](std::size_t, std::vector<void const*> const& copies) {
                    touched += copies.size();
                    ++united;
                  });
    for (owned_copy const* const copy : from.own)
      for (std::size_t part = 0; copy->kept && part < core.ways().parts(); ++part) updates += core.kept(*copy, part);
  });
  // Updates that were kept promise the bits of one loop.
  must_be_sparse = core.capped() || (updates > 0 && !array.array.reduction->exact) ? 1 : 0;
  auto const same_everywhere = [&](std::uint64_t what) { me.acts.history = runtime::following(me.acts.history, what); };
  same_everywhere(std::uint64_t{shape.shift} << 32 | core.ways().shift());  // besides what agree_on() compares
  for (std::size_t const each : to.counts()) same_everywhere(each);
  detail::run(me, {.what = verb::allreduce,
                   .in = sums.data(),
                   .out = sums.data(),
                   .count = sums.size(),
                   .reduction = &detail::table_of<std::uint64_t, plus>()});
  return choose_wire({.processes = std::max<std::size_t>(me.shared.part.spread.number_of_stretches(), 1),
                      .bytes = sums[0] / me.shared.size() * shape.element_bytes,
                      .block_bytes = shape.block_bytes(),
                      .record_bytes = array.array.later.record_bytes,
                      .blocks = touched,
                      .united = united,
                      .updates = updates,
                      .everywhere = to.what() == destination::kind::every_process,
                      .may_be_whole = must_be_sparse == 0});
}

[[gnu::cold]] void exchange_touched(reducer_core& core, void* target, rank_state& me, combining how,
                                    touched_copies const& from, wire way) {
  auto const mine = guarded(me, [&] { return outgoing(core, from, way); });
  std::vector<line> const lines = exchanged(mine, core.shape().count, me);
  guarded(me, [&] {
    for (owned_copy* const copy : from.own) core.count_and_empty(*copy);
    part_of_copy const& array = core.parts()[0];
    auto* const into = static_cast<std::byte*>(target);
    auto const [begin, end] = from.owned[me.number];
    if (how == combining::assign && begin < end) array.fill(into - array.offset, begin, end - begin);
    incoming(core, into).apply(lines);
  });
}

}  // namespace coset::reducer_room
