// SPDX-License-Identifier: Apache-2.0
// Pieces for which staging has no room go through a small one, segment by segment.
#include <algorithm>
#include <cstring>

#include "planning/choice/storages.hpp"
#include "runtime/calls/exchange.hpp"
#include "runtime/rank_state.hpp"

namespace coset::inline COSET_ABI::detail {
namespace {

/// Of all pieces together, so much that meeting the others costs little beside it.
constexpr std::size_t most_packed = 4 * choice::mebibyte;

/// A call whose pieces are cut, and which of its ranks' arrays are made of a piece for each rank.
class cut_call {
 public:
  cut_call(rank_state& me, call const& c) : me_(me), of_(c), bytes_(c.reduction->element_bytes) {
    bool const has_rows = me.number == c.root || swaps_pieces(c.what);
    gives_row_ = has_rows && !gives_pieces(c.what);
    gets_row_ = has_rows && !gets_pieces(c.what);
    for (rank_t r = 0; r < me.shared.size(); ++r) longest_ = std::max(longest_, count(r));
  }

  std::size_t longest() const { return longest_; }

  /// The elements [begin, end) of every piece, or as many as it has. A rank has either row in one and the same room: what
  /// leaves it has been packed before anything arrives.
  call segment(std::size_t begin, std::size_t end) {
    auto& memory = me_.memory.of_exchange();
    memory.counts.clear();
    std::size_t all = 0;
    for (rank_t r = 0; r < me_.shared.size(); ++r)
      all += memory.counts.emplace_back(std::min(end, count(r)) - std::min(begin, count(r)));
    call part = of_;
    part.count = all;
    part.counts = {};
    if (!of_.counts.empty()) part.counts = memory.counts;
    std::byte* const packed = gives_row_ || gets_row_ ? memory.room_for(all * bytes_) : nullptr;
    part.in = gives_row_ ? packed : moved(of_.in, begin);
    part.out = gets_row_ ? packed : moved(of_.out, begin);
    return part;
  }
  void pack(call const& segment, std::size_t begin) const {
    if (gives_row_)
      copy(of_.in, begin, [&](std::byte* piece, std::size_t at, std::size_t n) {
        std::memcpy(static_cast<std::byte*>(const_cast<void*>(segment.in)) + at, piece, n);
      });
  }
  void unpack(call const& segment, std::size_t begin) const {
    if (gets_row_)
      copy(of_.out, begin, [&](std::byte* piece, std::size_t at, std::size_t n) {
        std::memcpy(piece, static_cast<std::byte const*>(segment.out) + at, n);
      });
  }

 private:
  std::size_t count(rank_t r) const { return of_.counts.empty() ? of_.count / me_.shared.size() : of_.counts[r]; }
  void* moved(void const* array, std::size_t elements) const {
    return runtime::moved(static_cast<std::byte*>(const_cast<void*>(array)), array == nullptr ? 0 : elements * bytes_);
  }
  /// Calls visit(place in the caller's array, place in the room, bytes) for each piece that has any.
  template <class Visit>
  void copy(void const* array, std::size_t begin, Visit visit) const {
    std::size_t before = 0, at = 0;
    for (rank_t r = 0; r < me_.shared.size(); ++r) {
      std::size_t const n = me_.memory.exchanged->counts[r] * bytes_;
      if (n != 0) visit(static_cast<std::byte*>(moved(array, before + begin)), at, n);
      before += count(r);
      at += n;
    }
  }

  rank_state& me_;
  call const& of_;
  std::size_t const bytes_;
  std::size_t longest_ = 0;
  bool gives_row_, gets_row_;
};

}  // namespace

void run_in_segments(rank_state& me, call const& c, bool (*run_whole)(rank_state&, call const&)) {
  cut_call cut(me, c);
  std::size_t const room = std::min(most_packed, me.plans.store.facts().most_staging);
  std::size_t each = std::max<std::size_t>(room / (me.shared.size() * c.reduction->element_bytes), 1);
  each = std::min(each, (cut.longest() + 1) / 2);
  for (std::size_t done = 0; done < cut.longest();) {
    call const segment = cut.segment(done, done + each);
    cut.pack(segment, done);
    if (run_whole(me, segment)) {
      cut.unpack(segment, done);
      done += each;
    } else {
      each = (each + 1) / 2;
    }
  }
}

}  // namespace coset::detail
