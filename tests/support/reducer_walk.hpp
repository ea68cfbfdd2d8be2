// SPDX-License-Identifier: Apache-2.0
// Random sequences of combinations over processes, and what each of them leaves in each process's targets. Every process draws
// the same sequence from a seed; every rank follows what it should see by itself.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "coset/binned.hpp"
#include "coset/reducers/joint_reducer.hpp"
#include "coset/reducers/sparse_reducer.hpp"

namespace coset::team_test {

/// The same for the same arguments (splitmix64).
constexpr std::uint64_t drawn(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = seed + (index + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

/// Which ranks of a team each of its processes has, and which process this is.
struct ranks_by_process {
  std::vector<rank_t> first;  ///< [process], and the number of ranks
  std::size_t own;

  std::size_t processes() const { return first.size() - 1; }
  rank_t thread(rank_t rank) const { return rank - first[own]; }
};

struct walk_step {
  enum class form : std::uint8_t { every_process, one_process, parts, started };
  std::size_t index;  ///< of the reduction
  form what;
  combining how;
  rank_t root;
  std::vector<std::size_t> parts;
  std::uint64_t seed;

  bool adds() const { return how == combining::add && what != form::started; }
  destination to() const {
    if (what == form::one_process) return destination::one_process(root);
    return what == form::parts ? destination::parts(parts) : destination();
  }
  /// Of `count` elements those that process `own` of several gets.
  std::pair<std::size_t, std::size_t> gets(std::size_t count, ranks_by_process const& all) const {
    if (all.processes() == 1 || what == form::every_process || what == form::started) return {0, count};
    if (what == form::one_process) return {0, root == all.own ? count : 0};
    std::size_t begin = 0;
    for (std::size_t p = 0; p < all.own; ++p) begin += parts[p];
    return {begin, begin + parts[all.own]};
  }
  std::string text() const {
    constexpr char const* forms[]{"every process", "one process", "parts", "in split phase"};
    return std::string(forms[static_cast<int>(what)]) + (adds() ? ", added" : ", assigned") + ", reduction " +
           std::to_string(index);
  }
};

/// What a rank reduces in a step: nothing, something into each element, or into some.
class updates_of_rank {
 public:
  updates_of_rank(std::uint64_t seed, rank_t rank, std::size_t count) : draw_(drawn(seed, rank)), count_(count) {}

  bool is_everywhere() const { return count_ > 0 && draw_ % 4 == 1; }
  std::size_t number() const {
    return count_ == 0 || draw_ % 4 == 0 ? 0 : is_everywhere() ? count_ : 1 + (draw_ >> 8) % 300;
  }
  std::size_t key(std::size_t k) const { return is_everywhere() ? k : drawn(draw_, k) % count_; }
  std::uint64_t value(std::size_t k) const { return drawn(draw_ + 1, k); }
  /// Whether the thread's copy has no number.
  bool unnumbered() const { return (draw_ >> 4) % 3 == 0; }

 private:
  std::uint64_t const draw_;
  std::size_t const count_;
};

/// Summed and compared at once; two operations that commute.
struct sum_and_most {
  std::int32_t sum;
  float most;
  bool operator==(sum_and_most const&) const = default;
};
struct sums_and_compares {
  sum_and_most operator()(sum_and_most const& a, sum_and_most const& b) const {
    return {a.sum + b.sum, std::max(a.most, b.most)};
  }
};

/// Whole numbers so small that their sums are exact in any order, or wrap around.
template <class T>
struct walked_element {
  static T made(std::uint64_t draw) { return static_cast<T>(static_cast<int>(draw % 19) - 9); }
  static bool same(T const& a, T const& b) { return a == b; }
};
template <class T>
struct walked_element<std::complex<T>> {
  static std::complex<T> made(std::uint64_t draw) {
    return {walked_element<T>::made(draw), walked_element<T>::made(draw >> 8)};
  }
  static bool same(std::complex<T> const& a, std::complex<T> const& b) { return a == b; }
};
template <>
struct walked_element<sum_and_most> {
  static sum_and_most made(std::uint64_t draw) {
    return {walked_element<std::int32_t>::made(draw), walked_element<float>::made(draw >> 8)};
  }
  static bool same(sum_and_most const& a, sum_and_most const& b) { return a == b; }
};
/// Any numbers: bits do not depend on the order.
template <>
struct walked_element<binned<double>> {
  static binned<double> made(std::uint64_t draw) { return binned(1.0 / static_cast<double>(1 + draw % 1000)); }
  static bool same(binned<double> const& a, binned<double> const& b) { return a.value() == b.value(); }
};

/// What one rank knows of an array: some of its elements.
template <class T, class Op>
class walked_values {
 public:
  walked_values(std::size_t count, Op op, T identity, std::span<T const> target, std::size_t most, std::uint64_t seed)
      : count_(count), op_(op), identity_(identity) {
    for (std::size_t k = 0; k < std::min(most, count); ++k) at_.push_back(count <= most ? k : drawn(seed, k) % count);
    if (count > 0) at_.insert(at_.end(), {0, count - 1});
    std::ranges::sort(at_);
    at_.erase(std::unique(at_.begin(), at_.end()), at_.end());
    for (std::size_t const i : at_) expected_.push_back(target[i]);
  }

  void follow(walk_step const& step, ranks_by_process const& all, std::uint64_t seed) {
    std::vector<T> total(at_.size(), identity_);
    for (rank_t rank = 0; rank < all.first.back(); ++rank) add(total, updates_of_rank(seed, rank, count_));
    auto const [begin, end] = step.gets(count_, all);
    for (std::size_t k = 0; k < at_.size(); ++k)
      if (at_[k] >= begin && at_[k] < end) expected_[k] = step.adds() ? op_(expected_[k], total[k]) : total[k];
  }
  /// Empty, or which element is wrong.
  std::string fault(std::span<T const> found) const {
    for (std::size_t k = 0; k < at_.size(); ++k)
      if (!walked_element<T>::same(found[at_[k]], expected_[k]))
        return "element " + std::to_string(at_[k]) + " of " + std::to_string(count_) + " is wrong";
    return "";
  }

 private:
  void add(std::vector<T>& total, updates_of_rank const& mine) const {
    auto const reduce = [&](std::size_t at, std::uint64_t draw) {
      total[at] = op_(total[at], walked_element<T>::made(draw));
    };
    if (mine.is_everywhere()) {
      for (std::size_t k = 0; k < at_.size(); ++k) reduce(k, mine.value(at_[k]));
      return;
    }
    for (std::size_t k = 0; k < mine.number(); ++k) {
      auto const found = std::ranges::lower_bound(at_, mine.key(k));
      if (found != at_.end() && *found == mine.key(k))
        reduce(static_cast<std::size_t>(found - at_.begin()), mine.value(k));
    }
  }

  std::size_t const count_;
  Op const op_;
  T const identity_;
  std::vector<std::size_t> at_;
  std::vector<T> expected_;
};

/// One reduction of one process. Each rank calls these, and `followed` names its thread there.
class walked {
 public:
  virtual ~walked() = default;
  virtual std::size_t count() const = 0;
  virtual bool has_parts() const { return true; }
  virtual bool may_start() const { return true; }
  virtual void reduce(member&, walk_step const&) = 0;
  virtual void combine(member&, walk_step const&) = 0;
  virtual started_combination start(member&) = 0;
  virtual std::string fault(rank_t thread, walk_step const&, ranks_by_process const&) = 0;
};

/// [thread] what it has seen, made before any of them comes.
template <class T, class Op>
std::vector<walked_values<T, Op>> followed_by(rank_t threads, std::vector<T>& target, Op op, T identity,
                                              std::uint64_t seed) {
  for (std::size_t i = 0; i < target.size(); ++i) target[i] = walked_element<T>::made(drawn(seed, i));
  std::vector<walked_values<T, Op>> made;
  for (rank_t thread = 0; thread < threads; ++thread)
    made.emplace_back(target.size(), op, identity, std::span<T const>(target), thread == 0 ? 1000 : 30, seed + thread);
  return made;
}

template <class T, class Op>
class walked_array : public walked {
 public:
  walked_array(rank_t threads, std::size_t count, std::uint64_t seed, Op op = {},
               T identity = detail::known_identity<T, Op>())
      : copies_(count, op, identity),
        op_(op),
        target_(count),
        seen_(followed_by(threads, target_, op, identity, seed)) {}

  std::size_t count() const override { return target_.size(); }
  void reduce(member& me, walk_step const& step) override {
    updates_of_rank const updates(step.seed, me.rank(), count());
    bool const unnumbered = updates.unnumbered() && step.what != walk_step::form::started;
    std::span<T> const mine = unnumbered ? copies_.local() : copies_.local(me);
    for (std::size_t k = 0; k < updates.number(); ++k) {
      T& element = mine[updates.key(k)];
      element = op_(element, walked_element<T>::made(updates.value(k)));
    }
  }
  void combine(member& me, walk_step const& step) override { copies_.combine_into(target_, me, step.how, step.to()); }
  started_combination start(member& me) override { return copies_.start_combine_into(target_, me); }
  std::string fault(rank_t thread, walk_step const& step, ranks_by_process const& all) override {
    seen_[thread].follow(step, all, step.seed);
    return seen_[thread].fault(target_);
  }

 private:
  reducer<T, Op> copies_;
  Op const op_;
  std::vector<T> target_;
  std::vector<walked_values<T, Op>> seen_;
};

template <class T, class Op>
class walked_sparse_array : public walked {
 public:
  walked_sparse_array(rank_t threads, std::size_t count, std::uint64_t seed, sparse_options const& options)
      : copies_(count, options),
        target_(count),
        seen_(followed_by(threads, target_, Op(), detail::known_identity<T, Op>(), seed)) {}

  std::size_t count() const override { return target_.size(); }
  bool has_parts() const override { return false; }
  bool may_start() const override { return false; }
  void reduce(member& me, walk_step const& step) override {
    updates_of_rank const updates(step.seed, me.rank(), count());
    auto const mine = updates.unnumbered() ? copies_.local() : copies_.local(me);
    for (std::size_t k = 0; k < updates.number(); ++k)
      mine[updates.key(k)].reduce(walked_element<T>::made(updates.value(k)));
  }
  void combine(member& me, walk_step const& step) override { copies_.combine_into(target_, me, step.how, step.to()); }
  started_combination start(member&) override { return {}; }
  std::string fault(rank_t thread, walk_step const& step, ranks_by_process const& all) override {
    seen_[thread].follow(step, all, step.seed);
    return seen_[thread].fault(target_);
  }

 private:
  sparse_reducer<T, Op> copies_;
  std::vector<T> target_;
  std::vector<walked_values<T, Op>> seen_;
};

/// An array of sums, one of maxima, and a minimum.
class walked_joint : public walked {
 public:
  walked_joint(rank_t threads, std::size_t count, std::uint64_t seed)
      : sums_(count),
        most_(count / 3 + 1),
        least_(1),
        copies_(sums_, into(most_, maximum()), into(least_[0], minimum())),
        seen_sums_(followed_by(threads, sums_, plus(), 0.0, seed)),
        seen_most_(followed_by(threads, most_, maximum(), detail::known_identity<float, maximum>(), seed + 1)),
        seen_least_(followed_by(threads, least_, minimum(), detail::known_identity<long, minimum>(), seed + 2)) {}

  std::size_t count() const override { return sums_.size(); }
  bool has_parts() const override { return false; }
  void reduce(member& me, walk_step const& step) override {
    bool const unnumbered =
        updates_of_rank(step.seed, me.rank(), 1).unnumbered() && step.what != walk_step::form::started;
    auto&& mine = unnumbered ? copies_.local() : copies_.local(me);
    into_elements<plus>(std::get<0>(mine), step.seed, me);
    into_elements<maximum>(std::get<1>(mine), step.seed + 1, me);
    into_elements<minimum>(std::span(&std::get<2>(mine), 1), step.seed + 2, me);
  }
  void combine(member& me, walk_step const& step) override { copies_.combine(me, step.how, step.to()); }
  started_combination start(member& me) override { return copies_.start_combine(me); }
  std::string fault(rank_t thread, walk_step const& step, ranks_by_process const& all) override {
    seen_sums_[thread].follow(step, all, step.seed);
    seen_most_[thread].follow(step, all, step.seed + 1);
    seen_least_[thread].follow(step, all, step.seed + 2);
    std::string text = seen_sums_[thread].fault(sums_);
    if (text.empty()) text = seen_most_[thread].fault(most_);
    return text.empty() ? seen_least_[thread].fault(least_) : text;
  }

 private:
  template <class Op, class T>
  static void into_elements(std::span<T> mine, std::uint64_t seed, member& me) {
    updates_of_rank const updates(seed, me.rank(), mine.size());
    for (std::size_t k = 0; k < updates.number(); ++k) {
      T& element = mine[updates.key(k)];
      element = Op()(element, walked_element<T>::made(updates.value(k)));
    }
  }

  std::vector<double> sums_;
  std::vector<float> most_;
  std::vector<long> least_;
  joint_reducer<double, array_of<float, maximum>, value_of<long, minimum>> copies_;
  std::vector<walked_values<double, plus>> seen_sums_;
  std::vector<walked_values<float, maximum>> seen_most_;
  std::vector<walked_values<long, minimum>> seen_least_;
};

/// The reductions of one process in a team, and the steps that all take.
class reducer_walk {
 public:
  reducer_walk(std::uint64_t seed, ranks_by_process all) : seed_(seed), all_(std::move(all)) {
    rank_t const threads = all_.first[all_.own + 1] - all_.first[all_.own];
    for (std::size_t k = 0; k < number; ++k) reductions_.push_back(made(threads, drawn(seed, k)));
  }

  /// By each rank of the process. Throws std::logic_error where a target is not what it should be.
  void take(member& me, int steps) {
    struct {
      std::optional<walk_step> step;
      started_combination later;
    } begun;
    for (int k = 0; k < steps; ++k) {
      walk_step const step = drawn_step(static_cast<std::uint64_t>(k), begun.step ? begun.step->index : number);
      walked& mine = *reductions_[step.index];
      mine.reduce(me, step);
      if (step.what == walk_step::form::started && !begun.step) {
        begun = {step, mine.start(me)};
        continue;
      }
      step.what == walk_step::form::started ? mine.start(me).wait() : mine.combine(me, step);
      require(mine.fault(all_.thread(me.rank()), step, all_), k, step);
      if (!begun.step) continue;
      while (step.seed % 2 == 0 && !begun.later.test()) {
      }
      begun.later.wait();
      require(reductions_[begun.step->index]->fault(all_.thread(me.rank()), *begun.step, all_), k, *begun.step);
      begun.step.reset();
    }
    begun.later.wait();
  }

 private:
  static constexpr std::size_t number = 6;

  void require(std::string const& fault, int step, walk_step const& what) const {
    if (!fault.empty())
      throw std::logic_error("seed " + std::to_string(seed_) + ", step " + std::to_string(step) + " (" + what.text() +
                             "), process " + std::to_string(all_.own) + ": " + fault);
  }

  walk_step drawn_step(std::uint64_t k, std::size_t not_this) const {
    std::uint64_t const draw = drawn(seed_ ^ 0x5eed, k);
    std::size_t index = draw % number;
    if (index == not_this) index = (index + 1) % number;
    walked const& mine = *reductions_[index];
    auto what = static_cast<walk_step::form>((draw >> 8) % 4);
    if (what == walk_step::form::parts && !mine.has_parts()) what = walk_step::form::one_process;
    if (what == walk_step::form::started && !mine.may_start()) what = walk_step::form::every_process;
    std::vector<std::size_t> parts(all_.processes());
    std::size_t left = mine.count();
    for (std::size_t p = 0; p + 1 < parts.size(); ++p) left -= parts[p] = drawn(draw, p) % (left + 1);
    parts.back() = left;
    return {index,
            what,
            (draw >> 16) % 2 == 0 ? combining::add : combining::assign,
            static_cast<rank_t>((draw >> 24) % all_.processes()),
            parts,
            draw};
  }

  static std::unique_ptr<walked> made(rank_t threads, std::uint64_t draw) {
    constexpr std::size_t counts[]{0, 1, 3, 1000, 70'000};
    std::size_t const count = counts[(draw >> 8) % 5];
    constexpr way ways[]{way::chosen, way::partition, way::private_copies};
    sparse_options options;
    options.by = ways[(draw >> 16) % 3];
    switch (draw % 16) {
      case 0:
        return std::make_unique<walked_array<std::int8_t, plus>>(threads, count, draw);
      case 1:
        return std::make_unique<walked_array<std::int16_t, minimum>>(threads, count, draw);
      case 2:
        return std::make_unique<walked_array<std::int32_t, plus>>(threads, count, draw);
      case 3:
        return std::make_unique<walked_array<std::int64_t, maximum>>(threads, count, draw);
      case 4:
        return std::make_unique<walked_array<float, plus>>(threads, count, draw);
      case 5:
        return std::make_unique<walked_array<double, plus>>(threads, count, draw);
      case 6:
        return std::make_unique<walked_array<std::complex<double>, plus>>(threads, count, draw);
      case 7:
        return std::make_unique<walked_array<sum_and_most, sums_and_compares>>(
            threads, count, draw, sums_and_compares(), sum_and_most{0, -1e9f});
      case 8:
        return std::make_unique<walked_array<binned<double>, plus>>(threads, std::min<std::size_t>(count, 1000), draw);
      case 9:
        return std::make_unique<walked_array<double, reproducible_plus>>(threads, count, draw);
      case 10:
        return std::make_unique<walked_sparse_array<double, plus>>(threads, count, draw, options);
      case 11:
        return std::make_unique<walked_sparse_array<std::int8_t, plus>>(threads, count, draw, options);
      case 12:
        return std::make_unique<walked_sparse_array<float, maximum>>(threads, count, draw, options);
      case 13:
        return std::make_unique<walked_sparse_array<std::int64_t, plus>>(threads, 200'000, draw, options);
      default:
        return std::make_unique<walked_joint>(threads, count, draw);
    }
  }

  std::uint64_t const seed_;
  ranks_by_process const all_;
  std::vector<std::unique_ptr<walked>> reductions_;
};

}  // namespace coset::team_test
