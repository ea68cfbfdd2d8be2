// SPDX-License-Identifier: Apache-2.0
// Random sequences of combinations over processes, and what each of them leaves in each process's targets. Every process draws
// the same sequence from a seed; every rank follows what it should see by itself.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "coset/reducers/joint_reducer.hpp"
#include "coset/reducers/sparse_reducer.hpp"
#include "effort.hpp"
#include "reducer/copies/walk_steps.hpp"

namespace coset::team_test {

/// One reduction of one process. Each rank calls these; `thread` is its number there.
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
      come_late(step.seed, me.rank());
      if (step.what == walk_step::form::started && !begun.step) {
        begun = {step, mine.start(me)};
        continue;
      }
      step.what == walk_step::form::started ? mine.start(me).wait() : mine.combine(me, step);
      require(mine.fault(all_.thread(me.rank()), step, all_), k, step);
      if (!begun.step) continue;
      come_late(step.seed + 1, me.rank());
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
        return std::make_unique<test::types<walked_array<std::int16_t, minimum>, walked_array<std::int8_t, plus>>>(
            threads, count, draw);
      case 2:
        return std::make_unique<test::types<walked_array<std::int32_t, plus>, walked_array<double, plus>>>(threads,
                                                                                                           count, draw);
      case 3:
        return std::make_unique<walked_array<std::int64_t, maximum>>(threads, count, draw);
      case 4:
        return std::make_unique<test::types<walked_array<float, plus>, walked_array<double, plus>>>(threads, count,
                                                                                                    draw);
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
        return std::make_unique<test::types<walked_sparse_array<float, maximum>, walked_sparse_array<double, plus>>>(
            threads, count, draw, options);
      case 13:
        return std::make_unique<
            test::types<walked_sparse_array<std::int64_t, plus>, walked_sparse_array<double, plus>>>(threads, 200'000,
                                                                                                     draw, options);
      default:
        return std::make_unique<walked_joint>(threads, count, draw);
    }
  }

  std::uint64_t const seed_;
  ranks_by_process const all_;
  std::vector<std::unique_ptr<walked>> reductions_;
};

}  // namespace coset::team_test
