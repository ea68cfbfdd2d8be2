// SPDX-License-Identifier: Apache-2.0
// Verbs by name.
#include "coset/verbs/verb.hpp"

#include <algorithm>
#include <array>

#include "coset/error.hpp"
#include "text/format.hpp"

namespace coset::inline COSET_ABI {
namespace {

constexpr std::array verbs{verb::allreduce,     verb::reduce,         verb::reduce_scatter, verb::allgather,
                           verb::broadcast,     verb::scan,           verb::exclusive_scan, verb::barrier,
                           verb::reduce_shared, verb::allreduce_view, verb::gather,         verb::scatter,
                           verb::all_to_all};
constexpr std::array<std::string_view, verbs.size()> names{
    "allreduce", "reduce",        "reduce_scatter", "allgather", "broadcast", "scan",      "exclusive_scan",
    "barrier",   "reduce_shared", "allreduce_view", "gather",    "scatter",   "all_to_all"};

}  // namespace

std::span<verb const> all_verbs() noexcept { return verbs; }

std::string_view name_of(verb what) noexcept {
  auto const at = static_cast<std::size_t>(what);
  return at < names.size() ? names[at] : "?";
}

verb verb_named(std::string_view name) {
  auto const at = std::ranges::find(names, name);
  if (at == names.end()) throw argument_error(text::format("'{}' is none of {}", name, text::joined(names, ", ")));
  return static_cast<verb>(at - names.begin());
}

}  // namespace coset
