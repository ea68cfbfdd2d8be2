// SPDX-License-Identifier: Apache-2.0
// Histories of messages, as what every rank can form after them.
#include "lab/search/least_messages.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace coset::schedule {
namespace {

/// Ranks whose values are in a sum; a bit for each.
using contributors = std::uint32_t;
/// The sums that a rank can form: a bit for each set of contributors.
using sums = std::uint64_t;
static_assert(std::size_t{1} << most_searched_ranks <= 8 * sizeof(sums));

constexpr sums only(contributors of) { return sums{1} << of; }
constexpr bool has(sums all, contributors of) { return (all & only(of)) != 0; }

template <typename Visit>
void for_each(sums all, Visit visit) {
  for (; all != 0; all &= all - 1) visit(static_cast<contributors>(std::countr_zero(all)));
}

/// With one more, and all that this and disjoint ones give together.
sums with(sums known, contributors received) {
  sums more = only(received);
  for_each(known, [&](contributors other) {
    if ((other & received) == 0) more |= only(other | received);
  });
  return known | more;
}

/// [rank]: what it can form. Ranks that there are not can form nothing.
using history = std::array<sums, most_searched_ranks>;

/// One rank for another, in sums and as their owners.
class renaming {
 public:
  explicit renaming(std::vector<rank_t> const& new_name) : new_name_(new_name), renamed_(1u << new_name.size()) {
    for (contributors old = 0; old < renamed_.size(); ++old)
      for (rank_t r = 0; r < new_name.size(); ++r)
        if ((old >> r & 1) != 0) renamed_[old] |= 1u << new_name[r];
  }

  history operator()(history const& old) const {
    history made{};
    for (rank_t r = 0; r < new_name_.size(); ++r)
      for_each(old[r], [&](contributors of) { made[new_name_[r]] |= only(renamed_[of]); });
    return made;
  }

 private:
  std::vector<rank_t> new_name_;
  std::vector<contributors> renamed_;
};

class message_search {
 public:
  explicit message_search(rank_t ranks) : ranks_(ranks), all_((1u << ranks) - 1) {
    std::vector<rank_t> names(ranks);
    std::iota(names.begin(), names.end(), 0);
    do renamings_.emplace_back(names);
    while (std::next_permutation(names.begin(), names.end()));
  }

  bool is_enough(std::uint32_t messages) const {
    history begin{};
    for (rank_t r = 0; r < ranks_; ++r) begin[r] = only(1u << r);
    std::set<history> reached{begin};
    for (std::uint32_t left = messages; left > 0; --left) {
      std::set<history> next;
      for (history const& before : reached) send_any(before, left - 1, next);
      reached = std::move(next);
    }
    return std::ranges::any_of(reached, [&](history const& h) { return lacking(h) == 0; });
  }

 private:
  /// Every message that tells its receiver something, and after which the messages left may do.
  void send_any(history const& before, std::uint32_t left, std::set<history>& next) const {
    for (rank_t to = 0; to < ranks_; ++to)
      for (rank_t from = 0; from < ranks_; ++from)
        for_each(before[from] & ~before[to], [&](contributors value) {
          history after = before;
          after[to] = with(before[to], value);
          if (lacking(after) <= left) next.insert(of_any_names(after));
        });
  }

  std::uint32_t lacking(history const& h) const {
    return static_cast<std::uint32_t>(
        std::count_if(h.begin(), h.begin() + ranks_, [&](sums s) { return !has(s, all_); }));
  }

  history of_any_names(history const& h) const {
    history least = h;
    for (renaming const& rename : renamings_) least = std::min(least, rename(h));
    return least;
  }

  rank_t ranks_;
  contributors all_;
  std::vector<renaming> renamings_;
};

}  // namespace

std::uint32_t least_messages(rank_t ranks) {
  if (ranks == 0 || ranks > most_searched_ranks)
    throw schedule_error("messages are searched for 1 to " + std::to_string(most_searched_ranks) + " ranks, not " +
                         std::to_string(ranks));
  message_search const search(ranks);
  std::uint32_t messages = 0;
  while (!search.is_enough(messages)) ++messages;
  return messages;
}

}  // namespace coset::schedule
