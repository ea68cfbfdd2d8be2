// SPDX-License-Identifier: Apache-2.0
// Ranks order the sources of a fold by their numbers, which translations change.
#include "planning/schedule/groups/symmetric_bits.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

namespace coset::schedule {
namespace {

/// Names for pairs of names.
class pair_names {
 public:
  explicit pair_names(rank_t inputs) : inputs_(inputs) {}

  std::uint32_t operator()(std::uint32_t left, std::uint32_t right) {
    auto const next = static_cast<std::uint32_t>(inputs_ + known_.size());
    return known_.try_emplace(std::uint64_t{left} << 32 | right, next).first->second;
  }
  void clear() { known_.clear(); }

 private:
  struct mixed {
    std::size_t operator()(std::uint64_t pair) const {
      return (pair * 0x9E3779B97F4A7C15U) >> 20;
    }  // Fibonacci hashing
  };

  rank_t const inputs_;
  std::unordered_map<std::uint64_t, std::uint32_t, mixed> known_;
};

/// Whether expand() puts the sources in order.
bool sorts(symmetric_schedule const& s, symmetric_assignment const& a) {
  auto const sources = std::span(s.sources).subspan(a.first, a.count);
  return a.count > 1 && std::ranges::all_of(sources, [&](auto const& from) { return from.slot == sources[0].slot; });
}

/// Subgroups of which there is one for each order: multiples in a cyclic group, else the fastest digits, whose cosets are
/// runs of ranks.
class subgroups {
 public:
  explicit subgroups(group const& of) : order_(of.order()), factors_(of.factors()), is_cyclic_(factors_.size() < 2) {
    rank_t weight = 1;
    for (rank_t const size : factors_) runs_.push_back(weight *= size);
  }

  bool has(rank_t order) const {
    if (order == 0 || order_ % order != 0) return false;
    return is_cyclic_ || order == 1 || std::ranges::find(runs_, order) != runs_.end();
  }
  bool in_one_coset(element a, element b, rank_t order) const {
    return is_cyclic_ ? a % (order_ / order) == b % (order_ / order) : a / order == b / order;
  }
  /// Whether ranks that are in different cosets are so in the same order as the cosets' lowest.
  bool are_runs(rank_t order) const { return !is_cyclic_ || order == 1 || order == order_; }

 private:
  rank_t order_;
  std::vector<rank_t> factors_, runs_;
  bool is_cyclic_;
};

/// Partials that hold cosets of one subgroup for each size, folded of cosets that are equal in size, are bracketed alike on
/// whatever rank: these are the parts by their lowest rank, and so on. Cosets that are runs of ranks keep their order.
class cosets {
 public:
  cosets(symmetric_schedule const& s, block_values const& values)
      : s_(s), values_(values), subgroups_(s.ranks), held_(values.size()) {
    for (element lag = 0; lag < s.result.size(); ++lag) held_[values.at(lag, 0)] = {lag, 1, true, true};
    for (auto const& step : s.steps)
      for (symmetric_assignment const& a : step) held_[values.at(a.lag, a.slot)] = folded(a);
  }

  bool are_uniform(value_t v) const { return held_[v].is_regular && !splits_twice_; }
  bool are_ordered(value_t v) const { return held_[v].is_ordered; }

 private:
  struct content {
    element some = 0;
    rank_t size = 0;
    bool is_regular = false, is_ordered = false;  ///< with all that it is made of
  };

  content part(std::uint32_t source) const {
    content c = held_[values_.source(source)];
    if (s_.whole) c.some = s_.ranks.add(s_.sources[source].displacement, c.some);
    return c;
  }

  content folded(symmetric_assignment const& a) {
    content all = part(a.first);
    if (a.count == 1) return all;
    rank_t const each = all.size;
    std::uint64_t size = 0;
    bool equal = true;
    for (std::uint32_t i = a.first; i < a.first + a.count; ++i) {
      content const one = part(i);
      size += one.size;
      equal = equal && one.size == each;
      all.is_regular = all.is_regular && one.is_regular;
      all.is_ordered = all.is_ordered && one.is_ordered && subgroups_.are_runs(one.size);
    }
    bool is_coset = sorts(s_, a) && size <= s_.ranks.order() && subgroups_.has(static_cast<rank_t>(size));
    all.size = is_coset ? static_cast<rank_t>(size) : 0;
    for (std::uint32_t i = a.first; is_coset && i < a.first + a.count; ++i)
      is_coset = subgroups_.in_one_coset(part(i).some, all.some, all.size);
    all.is_ordered = all.is_ordered && is_coset && subgroups_.are_runs(all.size);
    all.is_regular = all.is_regular && is_coset && equal;
    if (all.is_regular && splits_.try_emplace(all.size, each).first->second != each) splits_twice_ = true;
    return all;
  }

  symmetric_schedule const& s_;
  block_values const& values_;
  subgroups const subgroups_;
  std::vector<content> held_;                  // by value
  std::unordered_map<rank_t, rank_t> splits_;  // by size: that of the parts
  bool splits_twice_ = false;
};

/// Names for brackets: equal for what is folded of the same parts in whatever order, where ranks choose the order. They
/// choose the same one for the same parts.
class unordered_names {
 public:
  unordered_names(symmetric_schedule const& s, block_values const& values)
      : s_(s),
        values_(values),
        ranks_(s.ranks.order()),
        width_(s.whole ? ranks_ : 1),
        named_(values.size() * width_),
        names_(ranks_) {
    for (element lag = 0; lag < ranks_; ++lag) named_[s.whole ? lag : values.at(lag, 0)] = lag;
    for (auto const& step : s.steps)
      for (symmetric_assignment const& a : step)
        for (element x = 0; x < width_; ++x) named_[values.at(a.lag, a.slot) * width_ + x] = folded(a, x);
  }

  bool are_equal(std::vector<value_t> const& results) const {
    auto const first = named_[results.front() * width_];
    return std::ranges::all_of(results, [&](value_t v) {
      return std::ranges::all_of(std::span(named_).subspan(v * width_, width_), [&](auto n) { return n == first; });
    });
  }

 private:
  using name = std::uint32_t;

  name folded(symmetric_assignment const& a, element x) {
    parts_.clear();
    for (std::uint32_t i = a.first; i < a.first + a.count; ++i)
      parts_.push_back(
          named_[values_.source(i) * width_ + (s_.whole ? s_.ranks.add(x, s_.sources[i].displacement) : 0)]);
    if (sorts(s_, a)) std::ranges::sort(parts_);
    name all = parts_.front();
    for (name const next : std::span(parts_).subspan(1)) all = names_(all, next);
    return a.count > 2 ? names_(all, end) : all;  // three at once are not two and one
  }

  static constexpr name end = UINT32_MAX;

  symmetric_schedule const& s_;
  block_values const& values_;
  rank_t const ranks_;
  std::size_t const width_;  // of a whole vector every rank has its own values
  std::vector<name> named_;  // by value, and rank
  std::vector<name> parts_;  // of one fold
  pair_names names_;
};

/// How results are bracketed, block by block, and of a whole vector rank by rank: the lowest rank of each part decides.
class bracketing {
 public:
  bracketing(symmetric_schedule const& s, block_values const& values, std::vector<value_t> const& results,
             bool wants_names)
      : s_(s), values_(values), wants_names_(wants_names), names_(s.ranks.order()) {
    if (!s.whole) of_value_.assign(values.size(), unknown);
    for (value_t const v : results) results_.push_back(node_of(v, 0));
    told_.resize(nodes_.size());
  }

  /// So many blocks, or all; ends with the first that shows that nothing is kept which is asked for.
  void tell(rank_t blocks) {
    constexpr std::uint64_t most = std::uint64_t{1} << 28;
    for (; next_ < blocks && (is_ordered_ || is_uniform()); ++next_) {
      if (std::uint64_t{next_} * sources_.size() > most)
        throw no_room("how " + std::to_string(s_.ranks.order()) +
                      " ranks bracket each block would take minutes to tell");
      tell_block(next_);
    }
  }

  void forget_names() { wants_names_ = false; }
  bool is_uniform() const { return is_uniform_ && wants_names_; }
  bool is_ordered() const { return is_ordered_; }

 private:
  using node_t = std::uint32_t;
  /// A value on a rank, as far as results need it; without sources an input.
  struct node {
    value_t value;
    element rank;
    std::uint32_t first, count;
  };
  /// What becomes of it.
  struct told {
    rank_t least, first, last;
    std::uint32_t name;  ///< equal for equal brackets
    bool is_ascending;
  };

  static constexpr node_t unknown = UINT32_MAX;

  node_t& known(value_t v, element rank) {
    if (!s_.whole) return of_value_[v];
    return of_value_and_rank_.try_emplace(std::uint64_t{v} << 32 | rank, unknown).first->second;
  }

  /// Those of its sources come before it.
  node_t node_of(value_t wanted, element on) {
    std::vector<std::pair<value_t, element>> open{{wanted, on}};
    while (!open.empty()) {
      auto const [v, rank] = open.back();
      std::size_t const depth = open.size();
      symmetric_assignment const* const a = values_.made(v);
      std::uint32_t const first = a == nullptr ? 0 : a->first, count = a == nullptr ? 0 : a->count;
      bool const is_known = known(v, rank) != unknown;
      for (std::uint32_t i = first; !is_known && i < first + count; ++i)
        if (auto const from = source_of(rank, i); known(from.first, from.second) == unknown) open.push_back(from);
      if (open.size() > depth) continue;
      open.pop_back();
      if (is_known) continue;
      known(v, rank) = static_cast<node_t>(nodes_.size());
      nodes_.push_back({v, rank, static_cast<std::uint32_t>(sources_.size()), count});
      for (std::uint32_t i = first; i < first + count; ++i) {
        auto const from = source_of(rank, i);
        sources_.push_back(known(from.first, from.second));
      }
    }
    return known(wanted, on);
  }

  std::pair<value_t, element> source_of(element rank, std::uint32_t i) const {
    return {values_.source(i), s_.whole ? s_.ranks.add(rank, s_.sources[i].displacement) : 0};
  }

  void tell_block(rank_t b) {
    if (!s_.whole) names_.clear();
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      node const& one = nodes_[n];
      if (one.count > 0) {
        told_[n] = folded(one);
        continue;
      }
      rank_t const r = s_.ranks.add(b, s_.whole ? one.rank : values_.lag(one.value));
      told_[n] = {r, r, r, r, true};
    }
    if (!s_.whole || b == 0) name_ = told_[results_.front()].name;
    for (node_t const n : results_) {
      is_uniform_ = is_uniform_ && told_[n].name == name_;
      is_ordered_ = is_ordered_ && told_[n].is_ascending;
    }
  }

  told folded(node const& one) {
    parts_.clear();
    for (node_t const from : std::span(sources_).subspan(one.first, one.count)) parts_.push_back(told_[from]);
    if (sorts(s_, *values_.made(one.value))) std::ranges::sort(parts_, {}, &told::least);
    told all = parts_.front();
    for (told const& next : std::span(parts_).subspan(1)) {
      all.is_ascending = all.is_ascending && next.is_ascending && all.last < next.first;
      all.last = next.last;
      all.least = std::min(all.least, next.least);
      if (is_uniform()) all.name = names_(all.name, next.name);
    }
    return all;
  }

  symmetric_schedule const& s_;
  block_values const& values_;
  bool wants_names_;
  bool is_uniform_ = true, is_ordered_ = true;
  rank_t next_ = 0;
  std::uint32_t name_ = 0;
  std::vector<node_t> of_value_;
  std::unordered_map<std::uint64_t, node_t> of_value_and_rank_;  // of a whole vector
  std::vector<node> nodes_;
  std::vector<node_t> sources_, results_;
  std::vector<told> told_;   // by node
  std::vector<told> parts_;  // of one fold
  pair_names names_;
};

}  // namespace

kept_by_all kept_in(symmetric_schedule const& s, block_values const& values, std::vector<value_t> const& results) {
  bool const one_owner = results.size() == 1 && !s.whole;
  cosets const held(s, values);
  kept_by_all kept{one_owner || std::ranges::all_of(results, [&](value_t v) { return held.are_uniform(v); }),
                   std::ranges::all_of(results, [&](value_t v) { return held.are_ordered(v); })};
  if (kept.same_bits && kept.order) return kept;
  bracketing told(s, values, results, !kept.same_bits);
  constexpr rank_t some = 4;
  rank_t const all = s.ranks.order();
  told.tell(std::min(some, all));  // which most often show that bits differ
  if (!kept.same_bits && told.is_uniform()) kept.same_bits = unordered_names(s, values).are_equal(results);
  if (kept.same_bits) told.forget_names();
  told.tell(all);
  return {kept.same_bits || told.is_uniform(), kept.order || told.is_ordered()};
}

}  // namespace coset::schedule
