// SPDX-License-Identifier: Apache-2.0
// hwloc, whichever version from 2.4 to 3: what differs between them is said here, and nowhere else.
#pragma once

#include <hwloc.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#if HWLOC_API_VERSION < 0x00020400
#error "coset needs hwloc 2.4 or newer: older ones know no kinds of cores"
#endif

namespace coset::numa {

struct destroyer {
  void operator()(hwloc_topology* machine) const { hwloc_topology_destroy(machine); }
};
using handle = std::unique_ptr<hwloc_topology, destroyer>;

/// Names with values that hwloc has noted.
using notes = std::span<hwloc_info_s const>;

#if HWLOC_API_VERSION >= 0x00030000

inline constexpr unsigned long latencies = HWLOC_DISTANCES_KIND_VALUE_LATENCY;

/// Of a machine as a whole. hwloc 3 keeps them apart from the root object.
inline notes notes_of(hwloc_topology_t machine) {
  auto const* const found = hwloc_topology_get_infos(machine);
  return {found->array, found->count};
}

/// Of one kind of cores; `efficiency` becomes hwloc's rank of it.
inline notes notes_of_kind(hwloc_topology_t machine, unsigned kind, int& efficiency) {
  hwloc_infos_s* found = nullptr;
  if (hwloc_cpukinds_get_info(machine, kind, nullptr, &efficiency, &found, 0) != 0) return {};
  return {found->array, found->count};
}

#else

inline constexpr unsigned long latencies = HWLOC_DISTANCES_KIND_MEANS_LATENCY;

inline notes notes_of(hwloc_topology_t machine) {
  auto const* const root = hwloc_get_root_obj(machine);
  return {root->infos, root->infos_count};
}

inline notes notes_of_kind(hwloc_topology_t machine, unsigned kind, int& efficiency) {
  unsigned count = 0;
  hwloc_info_s* found = nullptr;
  if (hwloc_cpukinds_get_info(machine, kind, nullptr, &efficiency, &count, &found, 0) != 0) return {};
  return {found, count};
}

#endif

/// Null if there is none of this name.
inline char const* value_of(notes all, std::string_view name) {
  auto const found = std::find_if(all.begin(), all.end(), [&](hwloc_info_s const& each) { return each.name == name; });
  return found != all.end() ? found->value : nullptr;
}

/// The machine of this source, which messages call `name`; `file` is the one that hwloc reads for it, if any. Throws
/// topology_error if hwloc refuses, with both versions of hwloc where the file is another one's.
handle load(std::string const& name, std::function<int(hwloc_topology_t)> const& choose_source,
            std::string const& file = "");

}  // namespace coset::numa
