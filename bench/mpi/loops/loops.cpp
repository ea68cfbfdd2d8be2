// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "bench/mpi/loops/loop.hpp"
#include "coset/error.hpp"

namespace coset::measure {
namespace {

/// Xorshift (Marsaglia 2003), from a beginning of each thread's own.
class generator {
 public:
  explicit generator(std::size_t thread) : state_(88172645463325252u + 0x9E3779B97F4A7C15u * (thread + 1)) {
    for (int k = 0; k < 16; ++k) (*this)();
  }
  std::uint64_t operator()() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  std::uint32_t below(std::size_t limit) {
    return static_cast<std::uint32_t>((static_cast<wide>((*this)()) * limit) >> 64);
  }
  double fraction() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

 private:
  __extension__ using wide = unsigned __int128;
  std::uint64_t state_;
};

/// `count` items of each own thread, made by `make(random, thread, item)`.
template <class Item, class Make>
std::vector<std::vector<Item>> items_of(thread_range const& own, std::size_t count, Make make) {
  std::vector<std::vector<Item>> all(own.count, std::vector<Item>(count));
  for (std::size_t t = 0; t < own.count; ++t) {
    generator random(own.first + t);
    for (std::size_t k = 0; k < count; ++k) all[t][k] = make(random, own.first + t, k);
  }
  return all;
}

/// Counts keys that come evenly.
class histogram final : public hybrid_loop {
 public:
  histogram(loop_shape const& of, thread_range const& own)
      : length_(of.length), keys_(items_of<std::uint32_t>(own, of.updates, [&](generator& random, auto, auto) {
          return random.below(of.length);
        })) {}

  std::vector<std::size_t> lengths() const override { return {length_}; }

  void add(std::size_t thread, double weight, array_places const& to) const override {
    double* const bins = to[0];
    for (std::uint32_t const key : keys_[thread]) bins[key] += weight;
  }

 private:
  std::size_t length_;
  std::vector<std::vector<std::uint32_t>> keys_;
};

/// A step of k-means: each point adds itself to the sum of the centre that is nearest, and counts there.
class clustering final : public hybrid_loop {
  static constexpr std::size_t dimensions = 8;
  using point = std::array<double, dimensions>;

 public:
  clustering(loop_shape const& of, thread_range const& own)
      : centres_(std::max<std::size_t>(of.length / (dimensions + 1), 1)),
        points_(items_of<point>(own, of.updates / (dimensions + 1) + 1,
                                [&](generator& random, auto, auto) { return any_point(random); })) {
    generator random(0);  // the same centres everywhere
    for (point& centre : centres_) centre = any_point(random);
  }

  std::vector<std::size_t> lengths() const override { return {centres_.size() * dimensions, centres_.size()}; }

  void add(std::size_t thread, double weight, array_places const& to) const override {
    for (point const& each : points_[thread]) {
      std::size_t const nearest = nearest_to(each);
      for (std::size_t d = 0; d < dimensions; ++d) to[0][nearest * dimensions + d] += weight * each[d];
      to[1][nearest] += weight;
    }
  }

 private:
  static point any_point(generator& random) {
    point made;
    for (double& x : made) x = random.below(64);
    return made;
  }
  std::size_t nearest_to(point const& of) const {
    std::size_t nearest = 0;
    double least = INFINITY;
    for (std::size_t c = 0; c < centres_.size(); ++c) {
      double distance = 0;
      for (std::size_t d = 0; d < dimensions; ++d) distance += (of[d] - centres_[c][d]) * (of[d] - centres_[c][d]);
      if (distance < least) {
        least = distance;
        nearest = c;
      }
    }
    return nearest;
  }

  std::vector<point> centres_;
  std::vector<std::vector<point>> points_;
};

/// Particles in the cells of a grid that every process has whole: each adds to the four points around it.
class deposition final : public hybrid_loop {
  struct particle {
    double x, y;  // in cells
  };
  static constexpr int steps = 8;  // places within a cell, in each direction

 public:
  deposition(loop_shape const& of, thread_range const& own)
      : width_(static_cast<std::size_t>(std::sqrt(static_cast<double>(of.length)))),
        particles_(items_of<particle>(own, of.updates / 4, [&](generator& random, auto, auto) {
          auto const place = [&] { return random.below(width_ - 1) + 1.0 / steps * random.below(steps); };
          double const x = place();
          return particle{x, place()};
        })) {}

  std::vector<std::size_t> lengths() const override { return {width_ * width_}; }

  void add(std::size_t thread, double weight, array_places const& to) const override {
    double* const charge = to[0];
    for (particle const& p : particles_[thread]) {
      auto const column = static_cast<std::size_t>(p.x), row = static_cast<std::size_t>(p.y);
      // In steps: weights are whole numbers then.
      double const dx = (p.x - static_cast<double>(column)) * steps, dy = (p.y - static_cast<double>(row)) * steps;
      double* const corner = charge + row * width_ + column;
      corner[0] += weight * (steps - dx) * (steps - dy);
      corner[1] += weight * dx * (steps - dy);
      corner[width_] += weight * (steps - dx) * dy;
      corner[width_ + 1] += weight * dx * dy;
    }
  }

 private:
  std::size_t width_;
  std::vector<std::vector<particle>> particles_;
};

/// Pairs of a neighbour list, which threads share in equal stretches: each adds to both of its atoms.
class force_loop final : public hybrid_loop {
  struct pair {
    std::uint32_t first, second;
  };
  static constexpr std::size_t reach = 64;  // neighbours have numbers near each other, as lists sort atoms by place

 public:
  force_loop(loop_shape const& of, thread_range const& own)
      : places_(of.length / 3 * 3), pairs_(items_of<pair>(own, of.updates / 6, [&](generator& random, auto t, auto k) {
          std::size_t const atoms = of.length / 3, all = of.updates / 6;
          std::size_t const first = atoms * (t * all + k) / (own.all * all);
          return pair{static_cast<std::uint32_t>(first),
                      static_cast<std::uint32_t>((first + 1 + random.below(std::min(reach, atoms - 1))) % atoms)};
        })) {
    generator random(0);  // the same places everywhere
    for (double& x : places_) x = random.below(64);
  }

  std::vector<std::size_t> lengths() const override { return {places_.size()}; }

  void add(std::size_t thread, double weight, array_places const& to) const override {
    double* const force = to[0];
    for (pair const& each : pairs_[thread]) {
      std::size_t const i = std::size_t{3} * each.first, j = std::size_t{3} * each.second;
      for (std::size_t d = 0; d < 3; ++d) {
        double const pull = weight * (places_[j + d] - places_[i + d]);
        force[i + d] += pull;
        force[j + d] -= pull;
      }
    }
  }

 private:
  std::vector<double> places_;
  std::vector<std::vector<pair>> pairs_;
};

/// The gradient of a linear model over sparse samples: few features are in most of them.
class gradient final : public hybrid_loop {
  static constexpr std::size_t features = 16;
  struct sample {
    double error;
    std::array<std::uint32_t, features> at;
    std::array<float, features> value;
  };

 public:
  gradient(loop_shape const& of, thread_range const& own)
      : length_(of.length),
        samples_(items_of<sample>(own, of.updates / features + 1, [&](generator& random, auto, auto) {
          sample made{1.0 + random.below(7), {}, {}};
          for (std::size_t f = 0; f < features; ++f) {
            made.at[f] = zipf(random);
            made.value[f] = static_cast<float>(1 + random.below(8));
          }
          return made;
        })) {}

  std::vector<std::size_t> lengths() const override { return {length_}; }

  void add(std::size_t thread, double weight, array_places const& to) const override {
    double* const slope = to[0];
    for (sample const& each : samples_[thread]) {
      double const error = weight * each.error;
      for (std::size_t f = 0; f < features; ++f) slope[each.at[f]] += error * static_cast<double>(each.value[f]);
    }
  }

 private:
  std::uint32_t zipf(generator& random) const {
    double const key = std::pow(static_cast<double>(length_), random.fraction()) - 1;
    return static_cast<std::uint32_t>(std::min(length_ - 1, static_cast<std::size_t>(key)));
  }

  std::size_t length_;
  std::vector<std::vector<sample>> samples_;
};

template <class Loop>
std::unique_ptr<hybrid_loop> made(loop_shape const& of, thread_range const& own) {
  return std::make_unique<Loop>(of, own);
}

constexpr struct {
  char const* name;
  std::unique_ptr<hybrid_loop> (*make)(loop_shape const&, thread_range const&);
} loops[] = {{"histogram", made<histogram>},
             {"k-means", made<clustering>},
             {"deposit", made<deposition>},
             {"forces", made<force_loop>},
             {"gradient", made<gradient>}};

}  // namespace

std::vector<std::string> const& loop_names() {
  static std::vector<std::string> const names = [] {
    std::vector<std::string> all;
    for (auto const& each : loops) all.emplace_back(each.name);
    return all;
  }();
  return names;
}

std::unique_ptr<hybrid_loop> make_loop(loop_shape const& of, thread_range const& own) {
  for (auto const& each : loops)
    if (of.program == each.name) return each.make(of, own);
  throw argument_error("there is no loop \"" + of.program + "\"");
}

}  // namespace coset::measure
