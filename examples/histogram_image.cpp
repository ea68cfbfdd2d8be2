// SPDX-License-Identifier: Apache-2.0
// Brightens a film frame by frame: the histogram of a frame tells how each grey is mapped, so all threads count their
// rows, all need the total, and all map their rows before the next frame. Counts are whole numbers: every way gives the
// same film, byte for byte.
#include <omp.h>

#include <coset/coset.hpp>
#include <cstdint>
#include <random>
#include <span>

#include "race.hpp"

namespace {

using grey = std::uint16_t;
using film = std::vector<grey>;
using counts = std::vector<std::uint32_t>;

struct shape {
  std::size_t pixels, frames, levels;
};

/// Dark pictures with a bright spot that wanders, and the noise of a camera.
film record(shape const& s) {
  std::mt19937 random(11);
  film all(s.pixels * s.frames);
  for (std::size_t f = 0; f < s.frames; ++f) {
    std::size_t const spot = s.pixels * f / s.frames;
    for (std::size_t p = 0; p < s.pixels; ++p) {
      std::size_t const away = p > spot ? p - spot : spot - p;
      std::size_t const light = s.levels / 8 + (s.pixels - away) * s.levels / (s.pixels * 4);
      all[f * s.pixels + p] = static_cast<grey>((light + random() % (s.levels / 16 + 1)) % s.levels);
    }
  }
  return all;
}

/// Which grey each becomes, so that all are used alike: its place among all pixels.
film equalising(std::span<std::uint32_t const> histogram, std::size_t pixels) {
  film becomes(histogram.size());
  std::size_t darker = 0;
  for (std::size_t level = 0; level < histogram.size(); ++level) {
    becomes[level] = static_cast<grey>(darker * histogram.size() / pixels);
    darker += histogram[level];
  }
  return becomes;
}

void serial(shape const& s, film const& seen, film& shown) {
  shown.resize(seen.size());
  for (std::size_t begin = 0; begin < seen.size(); begin += s.pixels) {
    counts histogram(s.levels);
    for (std::size_t p = begin; p < begin + s.pixels; ++p) ++histogram[seen[p]];
    film const becomes = equalising(histogram, s.pixels);
    for (std::size_t p = begin; p < begin + s.pixels; ++p) shown[p] = becomes[seen[p]];
  }
}

void with_coset(coset::team& team, shape const& s, film const& seen, film& shown) {
  shown.resize(seen.size());
  team.run([&](coset::member& me) {
    coset::buffer<std::uint32_t> histogram(me, s.levels);
    std::size_t const first = s.pixels * me.rank() / me.size(), last = s.pixels * (me.rank() + 1) / me.size();
    for (std::size_t begin = 0; begin < seen.size(); begin += s.pixels) {
      std::ranges::fill(histogram, 0u);
      for (std::size_t p = begin + first; p < begin + last; ++p) ++histogram[seen[p]];
      coset::allreduce(me, histogram);
      film const becomes = equalising(histogram, s.pixels);
      for (std::size_t p = begin + first; p < begin + last; ++p) shown[p] = becomes[seen[p]];
    }
  });
}

void with_openmp(coset::rank_t threads, shape const& s, film const& seen, film& shown) {
  shown.resize(seen.size());
  for (std::size_t begin = 0; begin < seen.size(); begin += s.pixels) {
    counts histogram(s.levels);
    std::uint32_t* const h = histogram.data();
#pragma omp parallel for num_threads(threads) reduction(+ : h[:s.levels])
    for (std::size_t p = begin; p < begin + s.pixels; ++p) ++h[seen[p]];
    film const becomes = equalising(histogram, s.pixels);
#pragma omp parallel for num_threads(threads)
    for (std::size_t p = begin; p < begin + s.pixels; ++p) shown[p] = becomes[seen[p]];
  }
}

}  // namespace

int main(int argc, char** argv) {
  auto const sizes = example::sizes(argc, argv, "Equalises the greys of a film, LEVELS of them, at most 65536.",
                                    {{"WIDTH", 320}, {"HEIGHT", 240}, {"FRAMES", 100}, {"LEVELS", 4096}});
  shape const s{sizes[0] * sizes[1], sizes[2], std::min<std::size_t>(sizes[3], 65536)};
  film const seen = record(s);
  coset::team team;
  std::printf("%zu frames of %zux%zu pixels, histograms of %zu greys, %u threads\n", s.frames, sizes[0], sizes[1],
              s.levels, team.size());
  bool const right = example::race<film>(
      {{"serial", [&](film& shown) { serial(s, seen, shown); }},
       {"coset::allreduce", [&](film& shown) { with_coset(team, s, seen, shown); }},
       {"OpenMP reduction(+:h[:n])", [&](film& shown) { with_openmp(team.size(), s, seen, shown); }}},
      std::equal_to<>());
  return right ? 0 : 1;
}
