// SPDX-License-Identifier: Apache-2.0
#include "command/measure/references/streams.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "command/measure/machine/clock.hpp"
#include "command/measure/machine/pages.hpp"
#include "command/measure/machine/vector_levels.hpp"
#include "coset/detail/reduction.hpp"
#include "coset/operations.hpp"

namespace coset::measure {
namespace {

/// Eight sums side by side, since one alone would wait for its own addition.
struct reading_body {
  [[gnu::always_inline]] static void run(std::uint64_t const* a, std::size_t words, std::uint64_t* kept) {
    constexpr std::size_t lanes = 64;
    std::uint64_t found[lanes] = {};
    for (std::size_t i = 0; i + lanes <= words; i += lanes)
      for (std::size_t k = 0; k < lanes; ++k) found[k] ^= a[i + k];
    for (std::size_t k = 1; k < lanes; ++k) found[0] ^= found[k];
    *kept = found[0];
  }
};

/// `nothing` is 0, which the compiler does not know: else it would call memcpy, whose stores pass the caches.
struct copying_body {
  [[gnu::always_inline]] static void run(std::uint64_t const* a, std::uint64_t* b, std::size_t words,
                                         std::uint64_t nothing) {
#pragma omp simd
    for (std::size_t i = 0; i < words; ++i) b[i] = a[i] ^ nothing;
  }
};

struct triad_body {
  [[gnu::always_inline]] static void run(double const* a, double const* b, double* c, std::size_t items, double s) {
#pragma omp simd
    for (std::size_t i = 0; i < items; ++i) c[i] = a[i] + s * b[i];
  }
};

using reading = vector_levels<reading_body, void(std::uint64_t const*, std::size_t, std::uint64_t*)>;
using copying = vector_levels<copying_body, void(std::uint64_t const*, std::uint64_t*, std::size_t, std::uint64_t)>;
using triads = vector_levels<triad_body, void(double const*, double const*, double*, std::size_t, double)>;

template <class T>
T* items_of(numa::memory const& of) {
  return std::assume_aligned<64>(reinterpret_cast<T*>(of.data()));
}

void fold(void const* a, void const* b, void* c, std::size_t items, bool around) {
  auto const& table = detail::table_of<double, plus>();
  bool const streams = around && table.streaming_folds != nullptr;
  std::array<void const*, 2> const from{a, b};
  (streams ? table.streaming_folds : table.folds)->for_sources(2)(nullptr, &c, 1, from.data(), 2, items);
}

/// How many arrays a pass reads and writes.
double arrays_moved(stream what) { return what == stream::read ? 1 : what == stream::copy ? 2 : 3; }

}  // namespace

std::string_view name_of(stream what) noexcept {
  constexpr std::array<std::string_view, streams.size()> names{"read", "copy", "triad", "fold", "fold_around"};
  return names[static_cast<std::size_t>(what)];
}

// The pages come from where they are told to at the first write, which is each rank's own.
streaming::streaming(stream_field const& field)
    : bytes_(field.array_bytes),
      crew_(field.processors),
      together_(crew_.size(), looks_among(field.processors)),
      of_(crew_.size()) {
  for (auto& [a, b, c] : of_)
    for (auto* const each : {&a, &b, &c}) {
      *each = numa::memory(bytes_);
      if (field.from == pages::bound) (void)each->bind(0, bytes_, field.node);
      if (field.from == pages::interleaved) each->interleave();
      each->prefer_huge_pages(0, bytes_);
    }
  crew_.run([&](rank_t rank) {
    auto const& [a, b, c] = of_[rank];
    for (auto const* const each : {&a, &b, &c}) std::fill_n(items_of<double>(*each), bytes_ / sizeof(double), 1.0);
  });
}

std::map<unsigned, std::size_t> streaming::pages_by_node() {
  std::vector<std::map<unsigned, std::size_t>> of_rank(crew_.size());
  crew_.run([&](rank_t rank) {
    auto const& [a, b, c] = of_[rank];
    for (auto const* const each : {&a, &b, &c}) count_pages(each->data(), bytes_, of_rank[rank]);
  });
  std::map<unsigned, std::size_t> all;
  for (auto const& of : of_rank)
    for (auto const& [node, pages] : of) all[node] += pages;
  return all;
}

void streaming::go_through(stream what, arrays const& of) const {
  std::size_t const items = bytes_ / sizeof(double);
  std::uint64_t volatile zero = 0, kept = 0;
  switch (what) {
    case stream::read: {
      std::uint64_t found = 0;
      reading::best()(items_of<std::uint64_t>(of.a), items, &found);
      kept = found;
      break;
    }
    case stream::copy:
      copying::best()(items_of<std::uint64_t>(of.a), items_of<std::uint64_t>(of.b), items, zero);
      break;
    case stream::triad:
      triads::best()(items_of<double>(of.a), items_of<double>(of.b), items_of<double>(of.c), items, 0.5);
      break;
    case stream::fold:
    case stream::fold_around:
      fold(of.a.data(), of.b.data(), of.c.data(), items, what == stream::fold_around);
  }
  static_cast<void>(kept);
}

double streaming::play_round(stream what, std::size_t passes) {
  std::vector<std::uint64_t> spent(crew_.size());
  crew_.run([&](rank_t rank) {
    go_through(what, of_[rank]);
    together_.arrive_and_wait(rank);
    auto const begin = ticks();
    for (std::size_t k = 0; k < passes; ++k) go_through(what, of_[rank]);
    spent[rank] = ticks_since(begin);
  });
  double const bytes = arrays_moved(what) * static_cast<double>(bytes_ * passes * crew_.size());
  return bytes / (static_cast<double>(*std::ranges::max_element(spent)) * nanoseconds_per_tick());
}

std::vector<double> streaming::play(stream what, std::size_t rounds, double nanoseconds) {
  double const pass = arrays_moved(what) * static_cast<double>(bytes_ * crew_.size()) / play_round(what, 1);
  auto const passes = static_cast<std::size_t>(std::clamp(nanoseconds / pass, 1.0, 1e9));
  std::vector<double> found;
  for (std::size_t k = 0; k < rounds; ++k) found.push_back(play_round(what, passes));
  return found;
}

}  // namespace coset::measure
