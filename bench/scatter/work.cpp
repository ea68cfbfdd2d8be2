// SPDX-License-Identifier: Apache-2.0
#include "bench/scatter/work.hpp"

#include <algorithm>
#include <cmath>

namespace coset::measure {
namespace {

/// Xorshift (Marsaglia 2003): 256 Mi keys are to be made in seconds.
class generator {
 public:
  std::uint64_t operator()() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  std::size_t below(std::size_t limit) {
    return static_cast<std::size_t>((static_cast<wide>((*this)()) * limit) >> 64);
  }
  double fraction() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

 private:
  __extension__ using wide = unsigned __int128;
  std::uint64_t state_ = 88172645463325252u;
};

std::size_t key_of(cell const& shape, std::size_t update, std::size_t threads, generator& random) {
  std::size_t const n = shape.length;
  switch (shape.keys) {
    case distribution::zipf:
      return std::min(n - 1, static_cast<std::size_t>(std::pow(static_cast<double>(n), random.fraction()) - 1));
    case distribution::window: {
      std::size_t const width = std::max<std::size_t>(n / 100, 1);
      return n / 3 + random.below(std::min(width, n - n / 3));
    }
    case distribution::grouped: {
      // The thread in whose share of a static schedule this update is.
      std::size_t const owner = std::min(threads - 1, update * threads / shape.updates);
      std::size_t const begin = n * owner / threads, end = n * (owner + 1) / threads;
      return begin + random.below(std::max<std::size_t>(end - begin, 1));
    }
    case distribution::uniform:
    case distribution::sorted:
      break;
  }
  return random.below(n);
}

}  // namespace

template <class T>
scatter_work<T>::scatter_work(cell const& shape, std::size_t threads)
    : shape_(shape),
      keys_(shape.updates),
      values_(counts ? 0 : shape.updates),
      target_(shape.length),
      once_(shape.length) {
  generator random;
  for (std::size_t u = 0; u < keys_.size(); ++u)
    keys_[u] = static_cast<std::uint32_t>(key_of(shape, u, threads, random));
  if (shape.keys == distribution::sorted) std::sort(keys_.begin(), keys_.end());
  for (T& value : values_) value = static_cast<T>(1 + random.below(8));
  value_reader<T> const value(*this);
  for (std::size_t u = 0; u < keys_.size(); ++u) once_[keys_[u]] += value[u];
}

template <class T>
std::size_t scatter_work<T>::wrong_after(std::size_t steps) {
  steps_ += steps;
  std::size_t found = 0;
  if (updates() < length() / 8) {
    for (std::uint32_t const key : keys_) found += target_[key] != right(key) ? 1 : 0;
  } else {
    found = wrong_anywhere();
  }
  if (found > 0) {
    std::fill(target_.begin(), target_.end(), T{});
    steps_ = 0;
  }
  return found;
}

template <class T>
std::size_t scatter_work<T>::wrong_anywhere() const {
  std::size_t found = 0;
  for (std::size_t k = 0; k < target_.size(); ++k) found += target_[k] != right(k) ? 1 : 0;
  return found;
}

template class scatter_work<double>;
template class scatter_work<std::uint32_t>;

}  // namespace coset::measure
