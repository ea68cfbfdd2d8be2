// SPDX-License-Identifier: Apache-2.0
// Ways to split a team over processes, which every rank can compute for all.
#pragma once

#include <algorithm>
#include <vector>

#include "mpi/random_tasks.hpp"

namespace coset::mpi_test {

inline bool any_rank_sends() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

/// Which process each rank of the whole team is of, and which of its threads.
struct origins {
  std::vector<int> process;
  std::vector<rank_t> thread;

  explicit origins(mpi::team const& all) : process(all.size()), thread(all.size()) {
    rank_t const mine[]{all.first(), all.threads()};
    std::vector<rank_t> everywhere(2 * static_cast<std::size_t>(processes()));
    MPI_Allgather(mine, 2, MPI_UINT32_T, everywhere.data(), 2, MPI_UINT32_T, MPI_COMM_WORLD);
    for (std::size_t p = 0; p < everywhere.size() / 2; ++p) {
      for (rank_t t = 0; t < everywhere[2 * p + 1]; ++t) {
        process[everywhere[2 * p] + t] = static_cast<int>(p);
        thread[everywhere[2 * p] + t] = t;
      }
    }
  }
};

struct ticket {
  int colour, key;
};

/// [rank of the whole team]: what it asks for. Drawn alike by all. Below MPI_THREAD_MULTIPLE only such parts as have a rank
/// that sends wherever one has to.
inline std::vector<ticket> random_tickets(engine& choices, origins const& of) {
  std::size_t const ranks = of.process.size();
  std::size_t const kind = below(choices, any_rank_sends() ? 8 : 5), order = below(choices, any_rank_sends() ? 4 : 2);
  std::vector<ticket> all(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    int const p = of.process[r], t = static_cast<int>(of.thread[r]);
    int const by_kind[]{0,
                        p % 2,
                        p,
                        t == 0 ? -1 : p,
                        static_cast<int>(r),
                        t,
                        static_cast<int>(below(choices, 2)),
                        static_cast<int>(below(choices, 4)) - 2};
    int const by_order[]{0, -p, -static_cast<int>(r), static_cast<int>(below(choices, ranks))};
    all[r] = {by_kind[kind], by_order[order]};
  }
  return all;
}

/// The members of a rank's part in their order, as ranks of the whole.
inline std::vector<rank_t> part_of(std::vector<ticket> const& all, std::vector<rank_t> const& among, rank_t rank) {
  std::vector<rank_t> members;
  for (rank_t const r : among) {
    if (all[r].colour == all[rank].colour) members.push_back(r);
  }
  std::ranges::stable_sort(members, {}, [&](rank_t r) { return all[r].key; });
  return members;
}

/// Some collectives, blocking and in split phase, drawn alike by all ranks of the team.
inline std::string errands(member& in, std::uint64_t seed, std::size_t count) {
  engine choices(seed);
  std::vector<erased_task> tasks;
  std::vector<bool> in_split_phase;
  for (std::size_t k = 0; k < count; ++k) {
    tasks.push_back(random_task(choices, in.size()));
    in_split_phase.push_back(below(choices, 4) == 0);
  }
  return walk(in, seed).run(tasks, in_split_phase);
}

/// Whether the part has the members that it should, in that order.
inline std::string unless_made_of(member& part, std::vector<rank_t> const& expected, rank_t whole_rank) {
  if (part.size() != expected.size()) return "a part of " + std::to_string(part.size());
  if (expected[part.rank()] != whole_rank) return "rank " + std::to_string(part.rank()) + " is at another place";
  std::vector<rank_t> members(part.size());
  allgather(part, std::array{whole_rank}, members);
  return members == expected ? "" : "members in another order";
}

}  // namespace coset::mpi_test
