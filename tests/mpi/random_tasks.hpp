// SPDX-License-Identifier: Apache-2.0
// Collectives drawn at random, and a rank's way through them.
#pragma once

#include <deque>
#include <random>

#include "mpi/processes.hpp"
#include "support/verbs.hpp"

namespace coset::mpi_test {

using namespace team_test;
using engine = std::mt19937_64;

inline std::size_t below(engine& choices, std::size_t end) { return static_cast<std::size_t>(choices() % end); }

inline std::vector<combination> const& combinations() {
  static std::vector<combination> const all{combine<std::int32_t>(plus{}),
                                            combine<std::int64_t>(maximum{}),
                                            combine<std::uint8_t>(bit_xor{}),
                                            combine<float>(plus{}),
                                            combine<float>(minimum{}),
                                            combine<float>(reproducible_plus{}),
                                            combine<double>(plus{}),
                                            combine<double>(reproducible_plus{}),
                                            combine<float16>(plus{}),
                                            combine<bfloat16>(plus{}),
                                            combine<located<float>>(minimum_location{}),
                                            combine<seven>(bytewise_sum{}),
                                            combine<affine>(noncommutative(composition{})),
                                            combine<affine>(exact(noncommutative(composition{})))};
  return all;
}

/// Mostly small; some about the borders of lines, segments and staging; a few large.
inline std::size_t random_length(engine& choices, std::size_t element_bytes) {
  std::size_t const kind = below(choices, 200);
  if (kind < 100) return below(choices, 40);
  if (kind < 150) return below(choices, 1200);
  if (kind < 190) {
    std::size_t const border = std::size_t{40} << below(choices, 2) << below(choices, 12);
    return (border + below(choices, 3) * element_bytes) / element_bytes;
  }
  return below(choices, kind < 198 ? 9000 : 100'000);
}

inline erased_task random_task(engine& choices, rank_t ranks) {
  constexpr verb verbs[]{verb::allreduce, verb::reduce,  verb::reduce_scatter, verb::allgather,
                         verb::broadcast, verb::scan,    verb::exclusive_scan, verb::barrier,
                         verb::gather,    verb::scatter, verb::all_to_all};
  auto const& of = combinations()[below(choices, combinations().size())];
  task t{.what = verbs[below(choices, std::size(verbs))], .even = below(choices, 2) == 0, .seed = choices()};
  std::size_t const length = random_length(choices, of.bytes);
  t.counts = even_counts(ranks, length / ranks);
  if (!t.even) {
    for (auto& count : t.counts) count = below(choices, 2 * (length / ranks) + 2);
  }
  t.root = static_cast<rank_t>(below(choices, ranks));
  t.in_place = t.what != verb::barrier && below(choices, 2) == 0;
  return {possible(std::move(t)), &of};
}

/// One rank's way through tasks that are the same on every rank, some several at once and waited for in any order.
class walk {
 public:
  walk(member& me, std::uint64_t seed) : me_(me), choices_(seed * 1000 + me.rank()) {}

  std::string run(std::vector<erased_task> const& tasks, std::vector<bool> const& in_split_phase) {
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      auto mine = std::make_unique<erased_arrays>(prepared<std::byte>(tasks[k], me_.rank()));
      auto const call = call_of(tasks[k], places_of(tasks[k], me_.rank(), *mine, shared_));
      if (in_split_phase[k]) {
        // Operations outlive all collectives of this test.
        std::shared_ptr<void const> const operation(std::shared_ptr<void const>(), tasks[k].of->operation);
        live_.push_back({detail::start(me_.state(), call, operation), &tasks[k], std::move(mine)});
      } else {
        detail::run(me_.state(), call);
        note(tasks[k], *mine);
      }
      while (!live_.empty() && below(choices_, 3) == 0) poke(below(choices_, live_.size()));
    }
    while (!live_.empty()) finish(below(choices_, live_.size()));
    return fault_;
  }

 private:
  struct under_way {
    request handle;
    erased_task const* what;
    std::unique_ptr<erased_arrays> mine;
  };

  void poke(std::size_t k) {
    if (below(choices_, 2) == 0) return finish(k);
    live_[k].handle.test();
  }

  void finish(std::size_t k) {
    under_way done = std::move(live_[k]);
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(k));
    done.handle.wait();
    note(*done.what, *done.mine);
  }

  void note(erased_task const& t, erased_arrays& mine) {
    if (fault_.empty()) fault_ = fault_of(t, me_.rank(), mine, shared_, {});
  }

  member& me_;
  engine choices_;
  std::deque<under_way> live_;
  std::vector<std::byte> shared_;
  std::string fault_;
};

}  // namespace coset::mpi_test
