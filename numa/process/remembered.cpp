// SPDX-License-Identifier: Apache-2.0
#include "numa/process/remembered.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "numa/process/fork.hpp"

namespace coset::numa {
namespace {

/// As many nodes as Linux has; all bits where the kernel does not tell.
using node_set = std::array<unsigned long, 16>;

node_set nodes_permitted() {
  node_set nodes{};
  constexpr std::size_t bits = sizeof nodes * CHAR_BIT;
  if (syscall(SYS_get_mempolicy, nullptr, nodes.data(), bits, nullptr, MPOL_F_MEMS_ALLOWED) != 0) nodes.fill(~0UL);
  return nodes;
}

struct known {
  mask usable;
  node_set nodes;
  topology machine;
};

/// Never destroyed, as teams may be made until the process ends.
struct known_machines {
  /// A program has few masks. One that has more forgets all and begins anew.
  static constexpr std::size_t most = 16;
  fork_safe_mutex reading;
  std::vector<known> all;
};

known_machines& known_here() {
  fork_waits const until_made;  // a child would wait for ever for a thread that it has not
  static known_machines& here = *new known_machines;
  return here;
}

}  // namespace

topology remembered(mask const& usable, std::function<topology()> const& read) {
  node_set const nodes = nodes_permitted();
  known_machines& here = known_here();
  std::lock_guard const lock(here.reading);
  auto const found =
      std::ranges::find_if(here.all, [&](known const& each) { return each.usable == usable && each.nodes == nodes; });
  if (found != here.all.end()) return found->machine;
  known fresh{usable, nodes, read()};
  if (here.all.size() == known_machines::most) here.all.clear();
  here.all.push_back(std::move(fresh));
  return here.all.back().machine;
}

}  // namespace coset::numa
