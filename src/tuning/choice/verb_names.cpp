// SPDX-License-Identifier: Apache-2.0
// Verbs by name, and the collectives that serve them.

#include <algorithm>
#include <array>

#include "coset/error.hpp"
#include "coset/verb.hpp"
#include "text/format.hpp"
#include "tuning/choice/choose.hpp"

namespace coset {
namespace {

constexpr std::array verbs{verb::allreduce,     verb::reduce,        verb::reduce_scatter, verb::allgather,
                           verb::broadcast,     verb::scan,          verb::exclusive_scan, verb::barrier,
                           verb::reduce_shared, verb::allreduce_view};
constexpr std::array<std::string_view, verbs.size()> names{
    "allreduce", "reduce",         "reduce_scatter", "allgather",     "broadcast",
    "scan",      "exclusive_scan", "barrier",        "reduce_shared", "allreduce_view"};

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

namespace coset::tuning {

using schedule::collective;

collective schedule_of(verb what) {
  switch (what) {
    case verb::reduce:
      return collective::reduce;
    case verb::reduce_scatter:
      return collective::reduce_scatter;
    case verb::allgather:
      return collective::allgather;
    case verb::broadcast:
      return collective::broadcast;
    case verb::scan:
      return collective::scan;
    case verb::exclusive_scan:
      return collective::exclusive_scan;
    default:
      return collective::allreduce;  // a barrier is an allreduce of nothing
  }
}

}  // namespace coset::tuning
