// SPDX-License-Identifier: Apache-2.0
// All ways to write a loop that adds to places of arrays that are known only at run time, but for OpenMP's clause, which
// has to name its arrays.
#pragma once

#include <omp.h>

#include <cmath>
#include <tuple>
#include <type_traits>
#include <utility>

#include "bench/programs/by_hand.hpp"
#include "bench/programs/program.hpp"
#include "coset/omp.hpp"
#include "coset/tbb.hpp"

namespace coset::measure {

/// The largest difference, in units of the largest element.
template <class T>
double distance(std::vector<T> const& a, std::vector<T> const& b) {
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    largest = std::max(largest, std::abs(static_cast<double>(b[i])));
  }
  return largest == 0 ? most : most / largest;
}

/// What is the same for all programs. A Loop has
///
///     std::string name() const;
///     std::size_t items() const;
///     auto targets();                                         // std::tie() of vectors
///     double item(std::size_t i, auto const&... arrays) const;  // adds to the arrays; what it returns is added to `value`
///     double value;
///     void clause();                                          // zeros the targets, then a loop with OpenMP's clause
///     void as_in_readme();                                    // if README.md has it: the same with coset
///
/// where arrays are whatever has elements: pointers, spans, atomics.
template <class Loop>
class loop_program final : public program {
  using value_type = value_of<double>;

 public:
  explicit loop_program(Loop loop) : loop_(std::make_unique<Loop>(std::move(loop))) {
    for_targets([&](auto&... each) {
      (std::fill(each.begin(), each.end(), 0), ...);
      loop_->value = 0;
      for (std::size_t i = 0; i < loop_->items(); ++i) loop_->value += loop_->item(i, each.data()...);
      right_ = {each...};
      right_value_ = loop_->value;
    });
  }

  std::string name() const override { return loop_->name(); }

  double error() const override {
    double const of_value = std::abs(loop_->value - right_value_) / std::max(1.0, std::abs(right_value_));
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      auto const now = loop_->targets();
      return std::max({of_value, distance(std::get<I>(now), std::get<I>(right_))...});
    }
    (std::make_index_sequence<std::tuple_size_v<vectors>>());
  }

  void spoil() override {
    loop_->value = -1;
    for_targets([](auto&... each) { (std::fill(each.begin(), each.end(), 7), ...); });
  }

  std::vector<way> written_for(int threads) override {
    return for_targets([&](auto&... each) -> std::vector<way> {
      auto const copies =
          std::make_shared<std::tuple<copies_by_hand<element_of<decltype(each)>>...>>(copies_by_hand(threads, each)...);
      auto const task_copies =
          std::make_shared<std::tuple<copies_of_tasks<element_of<decltype(each)>>...>>(copies_of_tasks(each)...);
      auto const kept =
          std::make_shared<omp::reduction<value_type, element_of<decltype(each)>...>>(loop_->value, each...);
      auto const in_place = std::make_shared<omp::reduction<value_type, element_of<decltype(each)>...>>(
          omp::in_place, loop_->value, each...);
      auto const kept_by_tasks =
          std::make_shared<tbb::reduction<value_type, element_of<decltype(each)>...>>(loop_->value, each...);
      std::vector<way> ways = {{"clause", [this] { loop_->clause(); }},
                               {"atomics", [this] { atomics(); }},
                               {"by hand", [this, copies] { by_hand(*copies); }},
                               {"by hand, in place", [this, copies] { by_hand_in_place(*copies); }},
                               {"tbb by hand", [this, task_copies] { tasks_by_hand(*task_copies); }, true},
                               {"coset::tbb", [this, kept_by_tasks] { tasks_with_coset(*kept_by_tasks); }, true},
                               {"coset, made anew",
                                [this, &each...] {
                                  omp::reduction sum(loop_->value, each...);
                                  with_coset(sum);
                                }},
                               {"coset, in place", [this, in_place] { in_place_with_coset(*in_place); }},
                               {"each time, by hand", [this, copies] { each_time_by_hand(*copies); }},
                               {"each time, coset", [this, kept] { each_time_with_coset(*kept); }}};
      if constexpr (requires { loop_->as_in_readme(); })
        ways.push_back({"coset, as in README", [this] { loop_->as_in_readme(); }});
      ways.push_back({"coset", [this, kept] { with_coset(*kept); }});
      return ways;
    });
  }

 private:
  template <class Vector>
  using element_of = typename std::remove_cvref_t<Vector>::value_type;
  template <class Tie>
  struct copied;
  template <class... Vectors>
  struct copied<std::tuple<Vectors&...>> {
    using type = std::tuple<Vectors...>;
  };
  using vectors = typename copied<decltype(std::declval<Loop&>().targets())>::type;
  using range = ::tbb::blocked_range<std::size_t>;

  template <class F>
  decltype(auto) for_targets(F&& f) {
    return std::apply(f, loop_->targets());
  }

  /// This thread's iterations; what they return together.
  template <class... Arrays>
  double share(Arrays const... arrays) const {
    Loop const& loop = *loop_;
    std::size_t const items = loop.items();
    double sum = 0;
#pragma omp for schedule(static) nowait
    for (std::size_t i = 0; i < items; ++i) sum += loop.item(i, arrays...);
    return sum;
  }
  template <class... Arrays>
  double share_of(range const& part, Arrays const... arrays) const {
    Loop const& loop = *loop_;
    double sum = 0;
    for (std::size_t i = part.begin(); i < part.end(); ++i) sum += loop.item(i, arrays...);
    return sum;
  }

  void atomics() {
    double sum = 0;
    for_targets([](auto&... each) { (std::fill(each.begin(), each.end(), 0), ...); });
#pragma omp parallel reduction(+ : sum)
    for_targets([&](auto&... each) { sum += share(atomic_array<element_of<decltype(each)>>{each.data()}...); });
    loop_->value = sum;
  }

  void by_hand(auto& all) {
    double sum = 0;
#pragma omp parallel reduction(+ : sum)
    std::apply(
        [&](auto&... copy) {
          int const self = omp_get_thread_num();
          sum += share(copy.of(self)...);
#pragma omp barrier
          (copy.fold(self), ...);
        },
        all);
    loop_->value = sum;
  }

  /// Thread 0 adds to the targets.
  void by_hand_in_place(auto& all) {
    double sum = 0;
#pragma omp parallel reduction(+ : sum)
    std::apply(
        [&](auto&... copy) {
          int const self = omp_get_thread_num();
          sum += share((self == 0 ? copy.cleared_target() : copy.of(self))...);
#pragma omp barrier
          (copy.fold_others(self), ...);
        },
        all);
    loop_->value = sum;
  }

  void tasks_by_hand(auto& all) {
    ::tbb::enumerable_thread_specific<double> sums(0.0);
    std::apply(
        [&](auto&... copy) {
          ::tbb::parallel_for(range(0, loop_->items()),
                              [&](range const& part) { sums.local() += share_of(part, copy.local()...); });
          (copy.fold(), ...);
        },
        all);
    loop_->value = sums.combine(std::plus<>());
  }

  void with_coset(auto& sum) {
#pragma omp parallel
    {
      std::apply([&](double& value, auto const... arrays) { value += share(arrays...); }, sum.local());
      sum.combine(omp::nowait, combining::assign);
    }
  }

  void in_place_with_coset(auto& sum) {
    loop_->value = 0;
    for_targets([](auto&... each) { (std::fill(each.begin(), each.end(), 0), ...); });
#pragma omp parallel
    {
      std::apply([&](double& value, auto const... arrays) { value += share(arrays...); }, sum.local());
      sum.combine(omp::nowait);
    }
  }

  /// As Kokkos' ScatterView is used, which gives each item the copy of its thread: whose that is is asked for every time.
  void each_time_by_hand(auto& all) {
    Loop const& loop = *loop_;
    std::size_t const items = loop.items();
    double sum = 0;
#pragma omp parallel reduction(+ : sum)
    std::apply(
        [&](auto&... copy) {
          int const self = omp_get_thread_num();
          (copy.of(self), ...);
#pragma omp for schedule(static)
          for (std::size_t i = 0; i < items; ++i) sum += loop.item(i, copy.at(omp_get_thread_num())...);
          (copy.fold(self), ...);
        },
        all);
    loop_->value = sum;
  }

  void each_time_with_coset(auto& sum) {
    Loop const& loop = *loop_;
    std::size_t const items = loop.items();
#pragma omp parallel
    {
      double value = 0;
#pragma omp for schedule(static) nowait
      for (std::size_t i = 0; i < items; ++i)
        value += std::apply([&](double&, auto const... arrays) { return loop.item(i, arrays...); }, sum.local());
      std::get<0>(sum.local()) += value;
      sum.combine(omp::nowait, combining::assign);
    }
  }

  void tasks_with_coset(auto& sum) {
    ::tbb::parallel_for(range(0, loop_->items()), [&](range const& part) {
      std::apply([&](double& value, auto const... arrays) { value += share_of(part, arrays...); }, sum.local());
    });
    sum.combine(combining::assign);
  }

  std::unique_ptr<Loop> loop_;  // targets have their address
  vectors right_;
  double right_value_ = 0;
};

}  // namespace coset::measure
