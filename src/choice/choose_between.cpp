// SPDX-License-Identifier: Apache-2.0
// The choice for ranks of several hosts, which share no memory.

#include <algorithm>

#include "choice/choose.hpp"
#include "choice/storages.hpp"

namespace coset::choice {
namespace {

using schedule::value_of;

/// Up to here hosts exchange all they have in one round; with more hosts, rounds of fewer messages cost less.
constexpr rank_t most_at_once = 8;
/// One message of this size costs no more than several smaller ones: up to here one leader acts for its host.
constexpr std::size_t one_leader_bytes = 16 * 1024;
/// Vectors up to here travel as a whole; longer ones in segments, so that messages and folds overlap.
constexpr std::size_t segment_bytes = 512 * 1024;

bool scans(verb what) { return what == verb::scan || what == verb::exclusive_scan; }

}  // namespace

answer choose_between(question const& q) {
  auto const hosts = static_cast<rank_t>(q.domains.size());
  bool const small = q.bytes <= one_leader_bytes;
  // Pieces of a gathered or scattered vector cannot be cut further.
  bool const cut = q.what != verb::reduce_scatter && q.what != verb::allgather && q.bytes > segment_bytes;
  answer made{{}, small || !q.pointers ? staged : zero_copy, cut ? segment_bytes : 0};
  if (scans(q.what)) {
    made.algorithm.name = "recursive_doubling";
    made.storage = staged;
    return made;
  }
  rank_t const radix = !q.commutative ? hosts : std::min(hosts, most_at_once);
  bool const at_once = small && radix == hosts;
  made.algorithm = {"two_level",
                    {{"nodes", value_of(q.domains, '+')},
                     {"leaders", small ? "1" : "0"},
                     {"radix", value_of(std::max<rank_t>(radix, 2))},
                     {"saved_steps", at_once ? "1" : "0"}}};
  return made;
}

/// If all ranks of unequal domains lead, there are more slices than leaders.
schedule::algorithm offloaded_between(std::vector<rank_t> const& domains, std::size_t slices) {
  std::size_t const fewest = *std::ranges::min_element(domains);
  return {"two_level",
          {{"nodes", value_of(domains, '+')},
           {"leaders", value_of(std::clamp<std::size_t>(slices, 1, fewest))},
           {"between", "direct"},
           {"saved_steps", "1"}}};
}

}  // namespace coset::choice
