// SPDX-License-Identifier: Apache-2.0
// What experts write who do without a library of reductions.
#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace coset::measure {

/// An array whose elements all threads add to.
template <class T>
struct atomic_array {
  struct place {
    T& at;
    void operator+=(T value) const {
#pragma omp atomic
      at += value;
    }
  };
  place operator[](std::size_t i) const { return {to[i]}; }

  T* to;
};

/// [first, last) of `copy` into `to`, and zeros instead.
template <class T>
void move_sum(T* copy, T* to, std::size_t first, std::size_t last, bool add) {
  if (add) {
#pragma omp simd
    for (std::size_t i = first; i < last; ++i) {
      to[i] += copy[i];
      copy[i] = 0;
    }
  } else {
#pragma omp simd
    for (std::size_t i = first; i < last; ++i) {
      to[i] = copy[i];
      copy[i] = 0;
    }
  }
}

/// Private copies that are kept from step to step, first written by their thread, and zero between steps.
template <class T>
class copies_by_hand {
 public:
  copies_by_hand(int threads, std::vector<T>& target) : target_(target), copies_(static_cast<std::size_t>(threads)) {}

  T* of(int thread) {
    auto& own = copies_[static_cast<std::size_t>(thread)];
    if (!own) own = std::make_unique<T[]>(target_.size());
    return own.get();
  }

  /// Once it is made.
  T* at(int thread) const { return copies_[static_cast<std::size_t>(thread)].get(); }

  /// This thread's share of target = sum of all copies. After a barrier.
  void fold(int thread) {
    std::size_t const all = copies_.size(), t = static_cast<std::size_t>(thread), n = target_.size();
    for (std::size_t c = 0; c < all; ++c)
      move_sum(copies_[c].get(), target_.data(), n * t / all, n * (t + 1) / all, c > 0);
  }

  /// For thread 0, where the target serves as its copy.
  T* cleared_target() {
    std::fill(target_.begin(), target_.end(), T{});
    return target_.data();
  }
  /// This thread's share of target += the others' copies. After a barrier.
  void fold_others(int thread) {
    std::size_t const all = copies_.size(), t = static_cast<std::size_t>(thread), n = target_.size();
    for (std::size_t c = 1; c < all; ++c)
      move_sum(copies_[c].get(), target_.data(), n * t / all, n * (t + 1) / all, true);
  }

 private:
  std::vector<T>& target_;
  std::vector<std::unique_ptr<T[]>> copies_;
};

/// The same of oneTBB's threads.
template <class T>
class copies_of_tasks {
 public:
  explicit copies_of_tasks(std::vector<T>& target)
      : target_(target), copies_([count = target.size()] { return std::vector<T>(count); }) {}

  T* local() { return copies_.local().data(); }

  void fold() {
    using range = ::tbb::blocked_range<std::size_t>;
    ::tbb::parallel_for(range(0, target_.size(), 4096), [&](range const& part) {
      bool add = false;
      for (std::vector<T>& copy : copies_) {
        move_sum(copy.data(), target_.data(), part.begin(), part.end(), add);
        add = true;
      }
    });
  }

 private:
  std::vector<T>& target_;
  ::tbb::enumerable_thread_specific<std::vector<T>> copies_;
};

}  // namespace coset::measure
