// SPDX-License-Identifier: Apache-2.0
#include "calibration/look.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "calibration/clusters.hpp"
#include "calibration/two_threads.hpp"
#include "coset/detail/line_spacing.hpp"
#include "environment/variables.hpp"
#include "numa/affinity.hpp"
#include "numa/binding.hpp"

namespace coset::calibration {
namespace {

using clock = turns::clock;

/// More than a first-level cache holds or a processor prefetches: with 512 lines near and far cores differ less.
constexpr std::size_t lines = 4096, words_per_line = 8;
/// The first trial finds lines that no core has shared yet, and does not count; the median of the others does.
constexpr std::uint64_t tries = 4;
constexpr int most_failures = 3;
/// Mostly for a thread that wakes up late; a pair takes 0.7 to 1.3 ms.
constexpr std::chrono::milliseconds all_pairs{5};

/// One core copies lines that the other has written, and stores into lines that the other has read.
class exchange {
 public:
  explicit exchange(clock::time_point deadline) : turns_(deadline) {}

  /// The other side: before each trial it writes the lines to copy, and reads the lines to store into.
  void serve() {
    for (std::uint64_t t = 0; t < tries; ++t) {
      write(to_read_, t);
      seen_ = seen_ + sum(to_write_);
      turns_.pass(2 * t + 1);
      if (!turns_.come_to(2 * t + 2)) return;
    }
  }

  std::optional<double> play() {
    std::vector<double> copies, stores;
    for (std::uint64_t t = 0; t < tries; ++t) {
      if (!turns_.come_to(2 * t + 1)) return std::nullopt;
      auto const begin = clock::now();
      std::ranges::copy(to_read_, own_.begin());
      auto const between = clock::now();
      write(to_write_, t);
      std::atomic_thread_fence(std::memory_order_seq_cst);  // until the last store has left the core
      auto const end = clock::now();
      seen_copied_ = own_.back();
      if (t > 0) copies.push_back(seconds(between - begin)), stores.push_back(seconds(end - between));
      turns_.pass(2 * t + 2);
    }
    return median(std::move(stores)) / median(std::move(copies));
  }

 private:
  using region = std::vector<std::uint64_t>;

  static double seconds(clock::duration d) { return std::chrono::duration<double>(d).count(); }
  static void write(region& all, std::uint64_t value) { std::ranges::fill(all, value); }
  static std::uint64_t sum(region const& all) {
    std::uint64_t total = 0;
    for (std::uint64_t const each : all) total += each;
    return total;
  }
  region to_read_ = region(lines * words_per_line), to_write_ = to_read_, own_ = to_read_;
  turns turns_;
  // Keeps the compiler from dropping the sums and the copies.
  alignas(detail::line_spacing) std::uint64_t volatile seen_ = 0;
  alignas(detail::line_spacing) std::uint64_t volatile seen_copied_ = 0;
};

/// Partners of the first processor: the last one, the middle one, the next one; near and far ones, as machines number
/// them.
std::vector<unsigned> some_others(std::vector<processor> const& all) {
  std::vector<unsigned> some;
  for (std::size_t const at : {all.size() - 1, all.size() / 2, std::size_t{1}}) {
    unsigned const other = all[at].os_index;
    bool const another_core = all[at].core != all[0].core;
    if (another_core && std::ranges::find(some, other) == some.end()) some.push_back(other);
  }
  return some;
}

/// A pair's result is kept: machines move, but looking for every team costs more than it tells. A failed look is
/// repeated only a few times. Finds nothing while another thread looks, or if one was looking when the process forked.
std::optional<double> found_once(unsigned one, unsigned other, clock::time_point deadline) {
  struct look {
    std::optional<double> ratio;
    int failures = 0;
  };
  static std::mutex looking;
  static auto& looks = *new std::map<std::pair<unsigned, unsigned>, look>;  // teams may be made until the end
  std::unique_lock const lock(looking, std::try_to_lock);
  if (!lock) return std::nullopt;
  look& taken = looks[{one, other}];
  if (!taken.ratio && taken.failures < most_failures) {
    taken.ratio = stores_over_copies(one, other, deadline);
    if (!taken.ratio) ++taken.failures;
  }
  return taken.ratio;
}

/// Threads of this process can and may be pinned to the machine's processors.
bool is_possible(topology const& machine) {
  return environment::value("COSET_TUNING") != "off" && machine.this_system && numa::binding_wanted();
}

/// The processors that the process may use.
std::vector<processor> usable(std::vector<processor> const& places) {
  auto const mask = numa::affinity_of_process().processors;
  std::vector<processor> some;
  std::ranges::copy_if(places, std::back_inserter(some), [&](processor const& p) { return mask.contains(p.os_index); });
  return some;
}

}  // namespace

std::optional<double> stores_over_copies(unsigned one, unsigned other, clock::time_point deadline) {
  auto const between = std::make_unique<exchange>(deadline);
  return found_by_two_threads(
      one, other, [&] { return between->play(); }, [&] { between->serve(); });
}

memory_facts memory_here(topology const& machine, std::vector<processor> const& places) {
  memory_facts facts = told_of(machine);
  if (!is_possible(machine)) return facts;
  auto const processors = usable(places);
  if (processors.size() < 2) return facts;
  auto const deadline = clock::now() + all_pairs;
  unsigned const first = processors.front().os_index;
  double worst = 0;
  for (unsigned const other : some_others(processors)) {
    auto const found = found_once(first, other, deadline);
    if (!found) return facts;
    worst = std::max(worst, *found);
  }
  facts.stores_over_copies = worst;
  return facts;
}

}  // namespace coset::calibration
